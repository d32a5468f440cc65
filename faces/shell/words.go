package shell

import (
	"fmt"
	"strings"
)

// Commands splits a text into commands and their words, as a POSIX shell does with quotes and backslashes and without
// anything else: no variables, no globs. Commands end at a line or at a semicolon. A line that begins with # is left
// out. The error names the line.
func Commands(text string) ([][]string, error) {
	s := splitter{line: 1}
	for _, r := range text {
		s.take(r)
	}
	if s.quote != 0 {
		return nil, fmt.Errorf("line %d: the quote %c has no end", s.began, s.quote)
	}
	if s.escaped {
		return nil, fmt.Errorf("line %d: nothing stands after the last backslash", s.line)
	}
	s.endCommand()
	return s.commands, nil
}

// splitter reads a text one character at a time.
type splitter struct {
	commands [][]string
	words    []string
	word     strings.Builder
	inWord   bool
	quote    rune
	escaped  bool
	comment  bool
	line     int
	began    int // the line of the quote
}

func (s *splitter) take(r rune) {
	if r == '\n' {
		s.line++
	}
	switch {
	case s.comment:
		s.comment = r != '\n'
		return
	case s.escaped:
		s.escaped = false
		if r == '\n' {
			return // the command goes on in the next line
		}
		s.inWord = true
		if s.quote == '"' && !strings.ContainsRune("\"\\$`", r) {
			s.word.WriteRune('\\')
		}
		s.word.WriteRune(r)
		return
	case s.quote != 0:
		s.quoted(r)
		return
	}
	switch r {
	case '\'', '"':
		s.quote = r
		s.began = s.line
		s.inWord = true
	case '\\':
		s.escaped = true
	case ' ', '\t', '\r':
		s.endWord()
	case '\n', ';':
		s.endCommand()
	case '#':
		if !s.inWord && len(s.words) == 0 {
			s.comment = true
			return
		}
		s.add(r)
	default:
		s.add(r)
	}
}

func (s *splitter) quoted(r rune) {
	switch {
	case r == s.quote:
		s.quote = 0
	case r == '\\' && s.quote == '"':
		s.escaped = true
	default:
		s.word.WriteRune(r)
	}
}

func (s *splitter) add(r rune) {
	s.inWord = true
	s.word.WriteRune(r)
}

func (s *splitter) endWord() {
	if s.inWord {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.inWord = false
}

func (s *splitter) endCommand() {
	s.endWord()
	if len(s.words) > 0 {
		s.commands = append(s.commands, s.words)
	}
	s.words = nil
}
