package mask

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// MaskJSON is a JSON text with its strings and names of members masked; a number that
// is a secret becomes a string. Everything else stays as it is written.
func (s *Set) MaskJSON(raw json.RawMessage) json.RawMessage {
	st := s.load()
	if st == nil || !st.occurs(string(raw)) {
		return raw
	}
	return s.mapStrings(raw, s.Mask)
}

// FromPage is MaskJSON for what a page says: what looks like a placeholder there is no
// placeholder, so a page cannot have a secret put into one of its fields.
func (s *Set) FromPage(raw json.RawMessage) json.RawMessage {
	st := s.load()
	if st == nil {
		return raw
	}
	if !bytes.Contains(raw, []byte(opening)) && !bytes.Contains(raw, []byte(`\u007`)) {
		return s.MaskJSON(raw)
	}
	return s.mapStrings(raw, func(text string) string { return s.Mask(strings.ReplaceAll(text, opening, "{{ secret:")) })
}

// occurs says whether there is a secret in a text.
func (st *state) occurs(text string) bool {
	for i := range len(text) {
		if _, end, _ := st.at(text, i); end != 0 {
			return true
		}
	}
	return false
}

// mapStrings applies change to each string and number of a JSON text.
func (s *Set) mapStrings(raw json.RawMessage, change func(string) string) json.RawMessage {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			end := stringEnd(raw, i)
			out = appendChanged(out, raw[i:end], change)
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end := i
			for end < len(raw) && strings.IndexByte("+-.eE0123456789", raw[end]) >= 0 {
				end++
			}
			if masked := change(string(raw[i:end])); masked != string(raw[i:end]) {
				out = append(out, quote(masked)...)
			} else {
				out = append(out, raw[i:end]...)
			}
			i = end
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

// appendChanged adds a string of a JSON text, as it is written when it does not change.
func appendChanged(out, token []byte, change func(string) string) []byte {
	var text string
	if json.Unmarshal(token, &text) != nil {
		return append(out, quote(change(string(bytes.Trim(token, `"`))))...)
	}
	if masked := change(text); masked != text {
		return append(out, quote(masked)...)
	}
	return append(out, token...)
}

// stringEnd is the end of the string that begins at i.
func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

func quote(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return []byte(`""`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Fault is an error with its message, its evidence and its fields masked.
func (s *Set) Fault(e *fault.Error) *fault.Error {
	if e == nil || s.Empty() {
		return e
	}
	out := *e
	out.Message, out.NextStep = s.Mask(e.Message), s.Mask(e.NextStep)
	out.Evidence, out.Fields = s.members(e.Evidence), s.members(e.Fields)
	out.Err = s.Error(e.Err)
	return &out
}

// members masks the values of a map. What does not change keeps its type.
func (s *Set) members(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
		raw, err := json.Marshal(v)
		if err != nil {
			continue
		}
		if masked := s.MaskJSON(raw); !bytes.Equal(masked, raw) {
			out[k] = masked
		}
	}
	return out
}
