package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Progress shows on one line of a terminal what runs and how much is left. It is
// for one goroutine.
type Progress struct {
	w     io.Writer
	width func() int
	drawn bool
}

// NewProgress writes to a terminal, whose columns width returns. With no writer it
// writes nothing.
func NewProgress(w io.Writer, width func() int) *Progress { return &Progress{w: w, width: width} }

// defaultWidth is that of a terminal which does not report its own.
const defaultWidth = 80

// Begin shows that the test with this number of so many runs.
func (p *Progress) Begin(name string, number, of int) {
	if p.w == nil {
		return
	}
	width := p.width()
	if width <= 0 {
		width = defaultWidth
	}
	text := fmt.Sprintf("[%d/%d] %s", number, of, Printable(name))
	if left := of - number; left > 0 {
		text += fmt.Sprintf("  (%d left)", left)
	}
	for columnsOf(text) >= width && text != "" { // a line that wraps could not be cleared
		r := []rune(text)
		text = string(r[:len(r)-1])
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	p.drawn = true
}

// Clear takes the line away, before something else is written.
func (p *Progress) Clear() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// colours are those of the words that begin a line.
var colours = map[string]string{
	"ok": "32", "passed": "32", "current": "32", "failed": "31", "not_run": "35", "broken": "35",
	"drifted": "33", "flaky": "33", "quarantined": "33", "skipped": "2", "unknown": "2", "not": "2",
}

// Coloured colours the word that begins each line, where it is an outcome. Lines
// are written when they are complete.
func Coloured(w io.Writer) io.Writer { return &coloured{w: w} }

type coloured struct {
	w    io.Writer
	part []byte
}

func (c *coloured) Write(p []byte) (int, error) {
	c.part = append(c.part, p...)
	for {
		end := bytes.IndexByte(c.part, '\n')
		if end < 0 {
			return len(p), nil
		}
		text := string(c.part[:end])
		c.part = c.part[end+1:]
		body := strings.TrimLeft(text, " ")
		word, _, _ := strings.Cut(body, " ")
		if code, ok := colours[word]; ok {
			text = text[:len(text)-len(body)] + "\x1b[" + code + "m" + word + "\x1b[0m" + body[len(word):]
		}
		if _, err := io.WriteString(c.w, text+"\n"); err != nil {
			return len(p), err
		}
	}
}
