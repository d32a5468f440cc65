package replay

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// What the extension's store of a hosted agent's events makes of arguments without a mark: lists and objects end after
// so many members, and a text of white space is null.
const (
	keptItems   = 20
	keptMembers = 40
	keptText    = 500 // UTF-16 units, the last of them an ellipsis
)

// texts are the members of arguments in which a blank text means something.
var texts = names("text key value label html selector")

// lost lists the values that the store may have changed without a mark.
func lost(c Call) (out []Missing) {
	v, ok := decode(c.Arguments)
	if !ok {
		return nil
	}
	add := func(pointer, why string) {
		out = append(out, Missing{Event: c.Event, Call: c.Name, Pointer: pointer, Why: why})
	}
	var walk func(v any, pointer, member string)
	walk = func(v any, pointer, member string) {
		switch v := v.(type) {
		case nil:
			if texts[member] {
				add(pointer, "blank")
			}
		case map[string]any:
			if len(v) >= keptMembers {
				add(pointer, "cut")
				return
			}
			for _, k := range sortedNames(v) {
				walk(v[k], pointer+"/"+escape(k), k)
			}
		case []any:
			if len(v) >= keptItems {
				add(pointer, "cut")
				return
			}
			for i, e := range v {
				walk(e, pointer+"/"+strconv.Itoa(i), member)
			}
		}
	}
	walk(v, "", "")
	return out
}

// cut reports whether a text ends where the store ends a longer one.
func cut(text string) bool {
	return strings.HasSuffix(text, "…") && len(utf16.Encode([]rune(text))) == keptText
}

const spaces = "white space in texts of the hosted agent is one space each in the log: what had lines is typed in one"

// noteSpaces says so of a call that types a text with spaces.
func (l *Log) noteSpaces(c Call) {
	var in struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(c.Arguments, &in) == nil && strings.Contains(in.Text, " ") && !slices.Contains(l.Notes, spaces) {
		l.Notes = append(l.Notes, spaces)
	}
}
