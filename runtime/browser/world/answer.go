package world

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Exception is what page code threw, for the log's part of an error.
func Exception(details []byte) error {
	var d struct {
		Text      string `json:"text"`
		Exception struct {
			Description string `json:"description"`
		} `json:"exception"`
	}
	_ = json.Unmarshal(details, &d)
	return errors.New("exception: " + d.Text + " " + d.Exception.Description)
}

// acceptance is how an answer begins that has a value, and stringRemote how a
// remote object that is a string: a large one is then taken apart without being
// read through once for each layer.
var (
	acceptance   = []byte(`{"ok":true,"value":`)
	stringRemote = []byte(`{"type":"string","value":`)
	stringResult = []byte(`{"result":{"type":"string","value":`)
)

// Result takes the answer to Runtime.evaluate and Runtime.callFunctionOn apart:
// the remote object, and what was thrown. A string that nothing follows is not read
// through for that: what would follow it cannot stand in a string, where quotes are
// escaped.
func Result(answer []byte) (remote, thrown []byte) {
	if bytes.HasPrefix(answer, stringResult) && bytes.HasSuffix(answer, []byte(`"}}`)) &&
		!bytes.Contains(answer, []byte(`"},"exceptionDetails":`)) {
		return answer[len(`{"result":`) : len(answer)-1], nil
	}
	cdp.EachMember(answer, func(k, v []byte) bool {
		switch string(k) {
		case "result":
			remote = v
		case "exceptionDetails":
			thrown = v
		}
		return true
	})
	return remote, thrown
}

// unquoteRemote decodes a remote object that is a string.
func unquoteRemote(remote []byte) ([]byte, bool) {
	if v, usual := bytes.CutPrefix(remote, stringRemote); usual && len(v) > 0 {
		if text, ok := cdp.Unquote(v[:len(v)-1]); ok {
			return text, true
		}
	}
	return cdp.Unquote(cdp.Member(remote, "value"))
}

// Decode reads the result of a library call: a remote object that holds
// the library's answer as a string of JSON, with text behind it for those who
// take it: the JSON itself is one line.
func Decode(fn string, remote []byte, out any) (err error) {
	text, ok := unquoteRemote(remote)
	if !ok {
		return fault.New(fault.HandlerFailed, "page function %s gave no text", fn)
	}
	text, rest, lines := bytes.Cut(text, []byte("\n"))
	taker, takes := out.(primitives.TextTaker)
	if lines && !takes {
		text, ok = expand(text, rest)
		if !ok {
			return fault.New(fault.HandlerFailed, "page function %s gave an unreadable answer", fn)
		}
	}
	if takes {
		defer func() {
			if err == nil {
				taker.TakeText(rest)
			}
		}()
	}
	value, success := bytes.CutPrefix(text, acceptance)
	if !success {
		value = nil
	}
	if success && len(value) > 0 && value[len(value)-1] == '}' {
		value = value[:len(value)-1] // as inject/base/base.js writes it: nothing follows
	} else if !cdp.EachMember(text, func(k, v []byte) bool {
		switch string(k) {
		case "ok":
			success = string(v) == "true"
		case "value":
			value = v
		}
		return true
	}) {
		return fault.New(fault.HandlerFailed, "page function %s gave an unreadable answer", fn)
	}
	switch {
	case !success:
		return pageFault(fn, text)
	case out == nil || value == nil:
		return nil
	}
	if raw, ok := out.(*json.RawMessage); ok {
		*raw = value
		return nil
	}
	if err := json.Unmarshal(value, out); err != nil {
		return &fault.Error{
			Code:    fault.HandlerFailed,
			Message: "page function " + fn + " gave an answer of another shape",
			Err:     err,
		}
	}
	return nil
}

// maxExpanded bounds what an answer becomes by its lines.
const maxExpanded = 64 << 20

// expand puts the lines of an answer where text refers to them: the control
// character 1 stands for the first, which may itself refer to those after it
// (class Raw in inject/base/base.js). Strings of JSON have no control characters, so what
// the page itself writes cannot refer to anything. There are 8 lines at most: the next
// characters are white space.
func expand(text, lines []byte) ([]byte, bool) {
	var table lineTable
	for n := 1; n < len(table) && len(lines) > 0; n++ {
		table[n], lines, _ = bytes.Cut(lines, []byte("\n"))
	}
	return appendExpanded(make([]byte, 0, 4*len(text)), text, &table, 0)
}

// lineTable is the lines of an answer by their number, from 1 on.
type lineTable [9][]byte

func appendExpanded(out, text []byte, table *lineTable, after int) ([]byte, bool) {
	from := 0
	for i, c := range text {
		if c >= ' ' {
			continue
		}
		n := int(c)
		if n <= after || n >= len(table) || table[n] == nil || len(out) > maxExpanded {
			return nil, false
		}
		var ok bool
		out, ok = appendExpanded(append(out, text[from:i]...), table[n], table, n)
		if !ok {
			return nil, false
		}
		from = i + 1
	}
	return append(out, text[from:]...), true
}

// pageFault reads a failure of the page library.
func pageFault(fn string, text []byte) error {
	var f struct {
		Code     fault.Code     `json:"code"`
		Message  string         `json:"message"`
		Evidence map[string]any `json:"evidence"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return &fault.Error{
			Code:    fault.HandlerFailed,
			Message: "page function " + fn + " gave an unreadable answer",
			Err:     err,
		}
	}
	if _, declared := fault.Lookup(f.Code); !declared {
		return (&fault.Error{
			Code:     fault.HandlerFailed,
			Message:  "page function " + fn + " failed",
			Evidence: f.Evidence,
			Err:      errors.New(string(f.Code) + ": " + f.Message),
		})
	}
	return &fault.Error{Code: f.Code, Message: f.Message, Evidence: f.Evidence}
}
