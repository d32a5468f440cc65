// Package edit changes a map as text: one value at a JSON pointer, and nothing else, so that a review shows the change
// alone. It does not know what the values mean. Repair calls it.
package edit

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Replace puts value in place of what stands at a JSON pointer (RFC 6901). An object
// keeps the order of the members that it had, and is written on one line or on
// several as it was.
func Replace(text []byte, pointer string, value json.RawMessage) ([]byte, error) {
	start, end, err := locate(text, pointer)
	if err != nil {
		return nil, err
	}
	next, err := written(text, start, end, value)
	if err != nil {
		return nil, err
	}
	return slices.Concat(text[:start], next, text[end:]), nil
}

// Value is what stands at a JSON pointer.
func Value(text []byte, pointer string) (json.RawMessage, error) {
	start, end, err := locate(text, pointer)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(text[start:end]), nil
}

// locate finds the first and the last offset of the value at a pointer.
func locate(text []byte, pointer string) (start, end int, err error) {
	lost := func() (int, int, error) {
		return 0, 0, fault.New(fault.InvalidInput, "the map has no value at %s", strconv.Quote(pointer))
	}
	body := bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	mark := len(text) - len(body)
	d := json.NewDecoder(bytes.NewReader(body))
	steps := []string{}
	if pointer != "" {
		if pointer[0] != '/' {
			return lost()
		}
		for s := range strings.SplitSeq(pointer[1:], "/") {
			steps = append(steps, strings.NewReplacer("~1", "/", "~0", "~").Replace(s))
		}
	}
	for _, step := range steps {
		open, err := d.Token()
		if err != nil {
			return lost()
		}
		found := false
		for i := 0; d.More(); i++ {
			name := strconv.Itoa(i)
			if open == json.Delim('{') {
				t, err := d.Token()
				if err != nil {
					return lost()
				}
				name, _ = t.(string)
			} else if open != json.Delim('[') {
				return lost()
			}
			found = name == step
			if found {
				break
			}
			var skipped json.RawMessage
			if err := d.Decode(&skipped); err != nil {
				return lost()
			}
		}
		if !found {
			return lost()
		}
	}
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		return lost()
	}
	end = mark + int(d.InputOffset())
	return end - len(value), end, nil
}

// written is a value in the hand of the text that it replaces.
func written(text []byte, start, end int, value json.RawMessage) ([]byte, error) {
	names, members, err := object(value)
	if err != nil || names == nil {
		return value, err
	}
	old, _, err := object(text[start:end])
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(old, a) - place(old, b) })
	separator := ", "
	opening := ""
	closing := ""
	if bytes.IndexByte(text[start:end], '\n') >= 0 {
		line := text[bytes.LastIndexByte(text[:start], '\n')+1 : start]
		base := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
		first := text[start+1+bytes.IndexByte(text[start+1:end], '\n')+1 : end]
		inner := first[:len(first)-len(bytes.TrimLeft(first, " \t"))]
		newline := "\n"
		if bytes.Contains(text[start:end], []byte("\r\n")) {
			newline = "\r\n"
		}
		opening = newline + string(inner)
		separator = "," + newline + string(inner)
		closing = newline + string(base)
	}
	var b bytes.Buffer
	b.WriteString("{" + opening)
	for i, name := range names {
		if i > 0 {
			b.WriteString(separator)
		}
		b.Write(plain(name))
		b.WriteString(": ")
		b.Write(spaced(members[name]))
	}
	b.WriteString(closing + "}")
	return b.Bytes(), nil
}

func place(list []string, name string) int {
	if i := slices.Index(list, name); i >= 0 {
		return i
	}
	return len(list)
}

// plain is a string without the escapes that HTML needs.
func plain(v any) []byte {
	text, err := jsonout.Line(v)
	if err != nil {
		return nil
	}
	return text
}

// spaced writes a list of plain values with a space after each comma.
func spaced(raw json.RawMessage) []byte {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return plain(text)
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return raw
	}
	parts := make([][]byte, len(list))
	for i, s := range list {
		parts[i] = plain(s)
	}
	return slices.Concat([]byte("["), bytes.Join(parts, []byte(", ")), []byte("]"))
}

// object reads the members of an object in order; names is nil for another value.
func object(raw []byte) (names []string, members map[string]json.RawMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	open, err := d.Token()
	if err != nil || open != json.Delim('{') {
		return nil, nil, err
	}
	names, members = []string{}, map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		name, _ := t.(string)
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, nil, err
		}
		if _, twice := members[name]; !twice {
			names = append(names, name)
		}
		members[name] = v
	}
	if _, err := d.Token(); err != nil && err != io.EOF {
		return nil, nil, err
	}
	return names, members, nil
}

// Line is the line of the value at a JSON pointer, from 1; 0 when there is none.
func Line(text []byte, pointer string) int {
	start, _, err := locate(text, pointer)
	if err != nil {
		return 0
	}
	return 1 + bytes.Count(text[:start], []byte("\n"))
}
