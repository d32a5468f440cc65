package projection

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Rows is a list within a state, with the place of each of its items, so that it can be handed out in pages.
type Rows struct {
	list json.RawMessage
	ends []int // behind each item
}

// maxListsEvidence is how many lists an error names.
const maxListsEvidence = 20

// Rows finds the list at a JSON pointer in the state.
func (s *Snapshot) Rows(pointer string) (*Rows, *fault.Error) {
	at, ok := locate(s.State, pointer)
	if !ok || at[0] != '[' {
		found := "nothing"
		if ok {
			found = textKind(at)
		}
		return nil, fault.New(fault.InvalidInput, "the state has no list at rows").
			With("rows", fault.Clip(pointer, 200)).With("found", found).With("lists", lists(s.State)).
			Next("give rows the JSON pointer of a list in the state, such as one of lists")
	}
	r := &Rows{list: at}
	members(at, func(_ string, _ json.RawMessage, end int) bool {
		r.ends = append(r.ends, end)
		return true
	})
	return r, nil
}

// Len is how many items the list has.
func (r *Rows) Len() int { return len(r.ends) }

// Page is the list of the items from offset on: at most limit, when that is not 0, and as many as fit into maxBytes.
// The error is state_payload_too_large when not even one fits.
func (r *Rows) Page(offset, limit, maxBytes int) (page json.RawMessage, count int, err *fault.Error) {
	if offset >= len(r.ends) {
		return json.RawMessage("[]"), 0, nil
	}
	start := len("[")
	if offset > 0 {
		start = r.ends[offset-1] + len(",")
	}
	last := len(r.ends)
	if limit > 0 {
		last = min(last, offset+limit)
	}
	for count < last-offset && r.ends[offset+count]-start+len("[]") <= maxBytes {
		count++
	}
	if count == 0 {
		bytes := r.ends[offset] - start + len("[]")
		return nil, 0, fault.New(
			fault.StatePayloadTooLarge, "one item of the list has %d bytes, the limit is %d", bytes, maxBytes,
		).With("bytes", bytes).With("limit_bytes", maxBytes).With("offset", offset).Next("give a greater max_bytes")
	}
	page = make(json.RawMessage, 0, r.ends[offset+count-1]-start+len("[]"))
	page = append(append(append(page, '['), r.list[start:r.ends[offset+count-1]]...), ']')
	return page, count, nil
}

// locate finds the value at a JSON pointer in the text of a state.
func locate(text json.RawMessage, pointer string) (json.RawMessage, bool) {
	if pointer == "" {
		return text, len(text) > 0
	}
	if pointer[0] != '/' {
		return nil, false
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		var found json.RawMessage
		n := 0
		list := text[0] == '['
		members(text, func(name string, value json.RawMessage, _ int) bool {
			if list {
				name = strconv.Itoa(n)
				n++
			}
			if name == token {
				found = value
			}
			return found == nil
		})
		if found == nil {
			return nil, false
		}
		text = found
	}
	return text, true
}

// members walks the members of an object, or the items of a list, in the text of a state, which has no white space.
// end is where a member ends in that text. It stops when each is false.
func members(text json.RawMessage, each func(name string, value json.RawMessage, end int) bool) {
	if len(text) < 3 || text[0] != '{' && text[0] != '[' {
		return
	}
	r := valueReader{in: text[1 : len(text)-1]}
	for r.at < len(r.in) {
		member, err := r.next()
		if err != nil {
			return
		}
		name := ""
		if text[0] == '{' {
			colon := endOfString(member)
			if colon == 0 || json.Unmarshal(member[:colon], &name) != nil {
				return
			}
			member = member[colon+1:]
		}
		if !each(name, json.RawMessage(member), r.at+1) {
			return
		}
	}
}

// endOfString is the length of the string that a text starts with, 0 when something else stands there or nothing
// follows.
func endOfString(text []byte) int {
	if len(text) == 0 || text[0] != '"' {
		return 0
	}
	for i := 1; i < len(text)-1; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// lists names lists of a state by their pointers, with their lengths: those in its upper objects.
func lists(state json.RawMessage) []string {
	out := []string{}
	var walk func(at string, value json.RawMessage, depth int)
	walk = func(at string, value json.RawMessage, depth int) {
		if len(value) == 0 || len(out) == maxListsEvidence {
			return
		}
		switch value[0] {
		case '[':
			n := 0
			members(value, func(string, json.RawMessage, int) bool { n++; return true })
			out = append(out, fmt.Sprintf("%s (%d)", fault.Clip(at, 200), n))
		case '{':
			if depth > 0 {
				members(value, func(name string, member json.RawMessage, _ int) bool {
					walk(at+"/"+escapeToken(name), member, depth-1)
					return len(out) < maxListsEvidence
				})
			}
		}
	}
	walk("", state, 3)
	return out
}

// textKind says what a value is.
func textKind(text json.RawMessage) string {
	switch text[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	}
	return "a number"
}
