package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// parseJSON reads a JSON file by the rules of JSON. YAML refuses some of what JSON allows,
// such as \/ in a text.
func parseJSON(path string, text []byte) (any, *places, error) {
	p := &places{file: path, lines: map[string]int{}}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	r := jsonReader{places: p, text: text, line: 1, dec: json.NewDecoder(bytes.NewReader(text))}
	r.dec.UseNumber()
	if at := notUTF8(text); at > 0 {
		return nil, p, Problems{{Place{File: path, Line: at}, "the text is not UTF-8"}}
	}
	v, err := r.value("")
	if err == nil {
		err = r.alone()
	}
	if err != nil {
		return nil, p, Problems{{Place{File: path, Line: r.failedAt(err), Pointer: r.at}, r.explain(err)}}
	}
	return v, p, nil
}

// notUTF8 is the first line of a text that is not UTF-8, 0 for none.
func notUTF8(text []byte) int {
	if utf8.Valid(text) {
		return 0
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if !utf8.Valid(line) {
			return i + 1
		}
	}
	return 1
}

// jsonReader reads JSON by its tokens and keeps the line of each value.
type jsonReader struct {
	places *places
	text   []byte
	dec    *json.Decoder
	line   int // of counted
	// counted is how much of text line was counted for.
	counted int64
	nodes   int
	depth   int
	at      string // the value that is being read
}

// errTwice, errMore and others say what JSON itself allows and a plan does not.
type planFault string

func (f planFault) Error() string { return string(f) }

// here is the line of the next token.
func (r *jsonReader) here() int {
	end := r.dec.InputOffset()
	for end < int64(len(r.text)) && bytes.IndexByte([]byte(" \t\r\n,:"), r.text[end]) >= 0 {
		end++
	}
	return r.lineOf(end)
}

func (r *jsonReader) lineOf(end int64) int {
	end = min(end, int64(len(r.text)))
	if end < r.counted {
		return 1 + bytes.Count(r.text[:end], []byte("\n"))
	}
	r.line += bytes.Count(r.text[r.counted:end], []byte("\n"))
	r.counted = end
	return r.line
}

// failedAt is the line of an error.
func (r *jsonReader) failedAt(err error) int {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return r.lineOf(max(syntax.Offset-1, 0))
	}
	return r.here()
}

func (r *jsonReader) explain(err error) string {
	if errors.Is(err, io.EOF) && r.nodes <= 1 {
		return "the plan is empty"
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the file ends before its value does"
	}
	return err.Error()
}

func (r *jsonReader) value(pointer string) (any, error) {
	r.at = pointer
	if _, ok := r.places.lines[pointer]; !ok {
		r.places.lines[pointer] = r.here()
	}
	if r.nodes++; r.nodes > maxNodes {
		return nil, planFault(fmt.Sprintf("the plan has more than %d values", maxNodes))
	}
	token, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if r.depth++; r.depth > maxDepth {
		return nil, planFault(fmt.Sprintf("the plan is more than %d levels deep", maxDepth))
	}
	defer func() { r.depth-- }()
	if open == '[' {
		return r.list(pointer)
	}
	return r.object(pointer)
}

func (r *jsonReader) list(pointer string) (any, error) {
	out := []any{}
	for r.dec.More() {
		v, err := r.value(pointer + "/" + strconv.Itoa(len(out)))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := r.dec.Token()
	return out, err
}

func (r *jsonReader) object(pointer string) (any, error) {
	out := map[string]any{}
	for r.dec.More() {
		line := r.here()
		token, err := r.dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		at := pointer + "/" + escapePointer(name)
		if _, twice := out[name]; twice {
			r.at = at
			return nil, planFault(name + " is there twice")
		}
		r.places.lines[at] = line
		out[name], err = r.value(at)
		if err != nil {
			return nil, err
		}
	}
	_, err := r.dec.Token()
	return out, err
}

// alone refuses what follows the value: nothing would be done with it.
func (r *jsonReader) alone() error {
	r.at = ""
	if _, err := r.dec.Token(); errors.Is(err, io.EOF) {
		return nil
	}
	return planFault("a second value begins here: expected one value in a file")
}
