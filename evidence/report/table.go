package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// member is one entry of an object whose order counts: people read a state in
// the order in which its author wrote it.
type member struct {
	name  string
	value any
}

type orderedObject []member

// decodeOrdered decodes JSON with the order of members kept. What is no JSON is
// nil.
func decodeOrdered(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := orderedValue(d)
	if err != nil {
		return nil
	}
	return v
}

func orderedValue(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := orderedValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	case json.Delim('{'):
		o := orderedObject{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := orderedValue(d)
			if err != nil {
				return nil, err
			}
			o = append(o, member{name.(string), v})
		}
		_, err := d.Token()
		return o, err
	}
	return t, nil
}

func (o orderedObject) get(name string) (any, bool) {
	for _, m := range o {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

// label is what a row calls itself.
func (o orderedObject) label() string {
	for _, name := range []string{"title", "name", "id"} {
		if s, ok := o.get(name); ok {
			if s, ok := s.(string); ok && s != "" {
				return s
			}
		}
	}
	return ""
}

// Tables shows a JSON value for people: single values as name and value,
// each list of objects as a table of its own.
func Tables(w io.Writer, raw json.RawMessage) error {
	v := decodeOrdered(raw)
	switch v := v.(type) {
	case orderedObject, []any:
		printValue(w, "", "", v)
	default:
		fmt.Fprintf(w, "\n%s\n", cell(v))
	}
	return nil
}

func printValue(w io.Writer, path, label string, v any) {
	switch v := v.(type) {
	case orderedObject:
		var single [][]string
		for _, m := range v {
			if !nested(m.value) {
				single = append(single, []string{Printable(m.name), cell(m.value)})
			}
		}
		if len(single) > 0 {
			heading(w, path, label, -1)
			Aligned(w, "  ", single)
		}
		for _, m := range v {
			if nested(m.value) {
				printValue(w, join(path, m.name), "", m.value)
			}
		}
	case []any:
		heading(w, path, label, len(v))
		rows := [][]string{}
		var columns []string
		for _, item := range v {
			if o, ok := item.(orderedObject); ok {
				for _, m := range o {
					if !slices.Contains(columns, m.name) {
						columns = append(columns, m.name)
					}
				}
			}
		}
		if len(columns) > 0 {
			names := make([]string, len(columns))
			for i, c := range columns {
				names[i] = Printable(c)
			}
			rows = append(rows, names)
		}
		for _, item := range v {
			o, ok := item.(orderedObject)
			if !ok {
				rows = append(rows, []string{cell(item)})
				continue
			}
			row := make([]string, len(columns))
			for i, c := range columns {
				if value, ok := o.get(c); ok {
					row[i] = cell(value)
				}
			}
			rows = append(rows, row)
		}
		Aligned(w, "  ", rows)
		for i, item := range v {
			if o, ok := item.(orderedObject); ok {
				for _, m := range o {
					if list, ok := m.value.([]any); ok && nested(list) {
						printValue(w, fmt.Sprintf("%s[%d].%s", path, i, m.name), o.label(), list)
					}
				}
			}
		}
	}
}

// nested reports whether a value needs a table of its own.
func nested(v any) bool {
	switch v := v.(type) {
	case orderedObject:
		return len(v) > 0
	case []any:
		for _, item := range v {
			if _, ok := item.(orderedObject); ok {
				return true
			}
		}
	}
	return false
}

func heading(w io.Writer, path, label string, count int) {
	text := Printable(path)
	if count >= 0 {
		text = strings.TrimSpace(fmt.Sprintf("%s (%d)", text, count))
	}
	if label != "" {
		text += "  " + Printable(label)
	}
	if text == "" { // the members of the whole
		fmt.Fprintln(w)
		return
	}
	fmt.Fprintf(w, "\n%s\n", text)
}

// MaxCell bounds one cell, in characters.
const MaxCell = 60

func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return Shorten(Printable(v), MaxCell)
	case bool:
		return fmt.Sprint(v)
	case json.Number:
		return v.String()
	case []any:
		if nested(v) || len(v) == 0 {
			return fmt.Sprintf("(%d)", len(v))
		}
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = cell(item)
		}
		return Shorten(strings.Join(parts, ", "), MaxCell)
	case orderedObject:
		parts := make([]string, len(v))
		for i, m := range v {
			parts[i] = Printable(m.name) + ": " + cell(m.value)
		}
		return Shorten("{"+strings.Join(parts, ", ")+"}", MaxCell)
	}
	return "?"
}

// Aligned writes rows with their columns under each other.
func Aligned(w io.Writer, indent string, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columnsOf(c))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		b.WriteString(indent)
		for i, c := range row {
			b.WriteString(c)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-columnsOf(c)+2))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// columnsOf is the width of text on a terminal: signs of East Asia and pictures
// take two columns, signs that join what stands before them none.
func columnsOf(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf && r != 0x303f, r >= 0xac00 && r <= 0xd7a3,
			r >= 0xf900 && r <= 0xfaff,
			r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
			r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
			n += 2
		default:
			n++
		}
	}
	return n
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
