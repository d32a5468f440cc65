package browser

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

func exception(details []byte) error {
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
)

// unquoteRemote decodes a remote object that is a string.
func unquoteRemote(remote []byte) ([]byte, bool) {
	if v, usual := bytes.CutPrefix(remote, stringRemote); usual && len(v) > 0 {
		if text, ok := unquote(v[:len(v)-1]); ok {
			return text, true
		}
	}
	return unquote(member(remote, "value"))
}

// decodeAnswer reads the result of a library call: a remote object that holds
// the library's answer as a string of JSON, with text behind it for those who
// take it: the JSON itself is one line.
func decodeAnswer(fn string, remote []byte, out any) (err error) {
	text, ok := unquoteRemote(remote)
	if !ok {
		return fault.New(fault.HandlerFailed, "page function %s gave no text", fn)
	}
	if taker, ok := out.(primitives.TextTaker); ok {
		head, rest, _ := bytes.Cut(text, []byte("\n"))
		text = head
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
		value = value[:len(value)-1] // as inject/base.js writes it: nothing follows
	} else if !eachMember(text, func(k, v []byte) bool {
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
		return &fault.Error{Code: fault.HandlerFailed, Message: "page function " + fn + " gave an answer of another shape", Err: err}
	}
	return nil
}

// pageFault reads a failure of the page library.
func pageFault(fn string, text []byte) error {
	var f struct {
		Code     fault.Code     `json:"code"`
		Message  string         `json:"message"`
		Evidence map[string]any `json:"evidence"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return &fault.Error{Code: fault.HandlerFailed, Message: "page function " + fn + " gave an unreadable answer", Err: err}
	}
	if _, declared := fault.Lookup(f.Code); !declared {
		return (&fault.Error{Code: fault.HandlerFailed, Message: "page function " + fn + " failed", Evidence: f.Evidence,
			Err: errors.New(string(f.Code) + ": " + f.Message)})
	}
	return &fault.Error{Code: f.Code, Message: f.Message, Evidence: f.Evidence}
}
