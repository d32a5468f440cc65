// Package jsonout writes values as outputs and files have them: JSON with its text as it is, and times. It knows no
// type of ours.
package jsonout

import (
	"bytes"
	"encoding/json"
	"time"
)

// Line is v on one line. Text stays as it is: no character is escaped that JSON allows, such as < and &.
func Line(v any) (json.RawMessage, error) {
	text, err := File(v, "")
	return bytes.TrimSuffix(text, []byte("\n")), err
}

// File is v with each level indented, and a newline at the end.
func File(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Time is the form of times in outputs: RFC 3339 in UTC, with milliseconds.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
