package mask

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
)

// MaskJSON is a JSON text of a page with its strings and names of members masked; a number
// that is a secret becomes a string. Everything else stays as it is written.
func (s *Set) MaskJSON(raw json.RawMessage) json.RawMessage {
	st := s.load()
	if st == nil || !st.occurs(string(raw)) {
		return raw
	}
	return s.mapStrings(raw, s.Mask)
}

// MaskStrings is a JSON text of ours with its strings masked. Names of members, numbers and
// words of ours stay, so that who reads it finds what it looks for when a secret is an
// ordinary word or number. What of it a page said went through MaskJSON before.
func (s *Set) MaskStrings(raw json.RawMessage) json.RawMessage {
	st := s.load()
	if st == nil || !st.occurs(string(raw)) {
		return raw
	}
	out := eachToken(raw, func(out, token []byte, kind tokenKind) []byte {
		switch kind {
		case aName:
			return appendChanged(out, token, st.long.mask)
		case aNumber:
			return st.long.appendNumber(out, token)
		}
		return appendChanged(out, token, func(text string) string {
			if ourWord(text) {
				return text
			}
			return st.mask(text)
		})
	})
	if text := string(out); st.spread.occurs(text) { // a secret is JSON itself
		return json.RawMessage(st.spread.mask(text))
	}
	return out
}

// FromPage is MaskJSON for what a page says: what looks like a placeholder there is no
// placeholder, so a page cannot have a secret put into one of its fields.
func (s *Set) FromPage(raw json.RawMessage) json.RawMessage {
	st := s.load()
	if st == nil {
		return raw
	}
	plain := !bytes.Contains(raw, []byte(opening)) && !bytes.Contains(raw, []byte(totpOpening))
	if plain && !bytes.Contains(raw, []byte(`\u007`)) {
		return s.MaskJSON(raw)
	}
	harmless := strings.NewReplacer(opening, "{{ secret:", totpOpening, "{{ totp:")
	return s.mapStrings(raw, func(text string) string { return s.Mask(harmless.Replace(text)) })
}

// occurs reports whether there is a secret in a text.
func (st *state) occurs(text string) bool {
	for i := range len(text) {
		if name, end, _ := st.at(text, i); end != 0 && text[i:end] != Placeholder(name) {
			return true
		}
	}
	return false
}

// mapStrings applies change to each string, name and number of a JSON text. A name that is
// one of ours says nothing, and stays. So does a number that is more than a secret.
func (s *Set) mapStrings(raw json.RawMessage, change func(string) string) json.RawMessage {
	return eachToken(raw, func(out, token []byte, kind tokenKind) []byte {
		switch {
		case kind == aName && ourName(string(token[1:max(len(token)-1, 1)])):
			return append(out, token...)
		case kind != aNumber:
			return appendChanged(out, token, change)
		}
		return s.load().appendNumber(out, token)
	})
}

// appendNumber adds a number: when it is a secret, as a string with its placeholder.
func (st *state) appendNumber(out, token []byte) []byte {
	if st != nil {
		masked := st.mask(strings.TrimPrefix(string(token), "-"))
		if _, n := st.placeholder(masked); n > 0 && n == len(masked) {
			return append(out, quote(masked)...)
		}
	}
	return append(out, token...)
}

type tokenKind int

const (
	aString tokenKind = iota
	aName             // of a member
	aNumber
)

// eachToken makes a JSON text of another: add appends what a string, a name or a number
// becomes. What stands between them stays.
func eachToken(raw json.RawMessage, add func(out, token []byte, kind tokenKind) []byte) json.RawMessage {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		end := i + 1
		switch c := raw[i]; {
		case c == '"':
			end = stringEnd(raw, i)
			kind := aString
			rest := bytes.TrimLeft(raw[end:min(len(raw), end+longestGap)], " \t\r\n")
			if len(rest) > 0 && rest[0] == ':' {
				kind = aName
			}
			out = add(out, raw[i:end], kind)
		case c == '-' || c >= '0' && c <= '9':
			for end < len(raw) && strings.IndexByte("+-.eE0123456789", raw[end]) >= 0 {
				end++
			}
			out = add(out, raw[i:end], aNumber)
		default:
			out = append(out, c)
		}
		i = end
	}
	return out
}

// longestGap is how far after a name its colon is looked for.
const longestGap = 64

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
	quoted, err := jsonout.Line(text)
	if err != nil {
		return []byte(`""`)
	}
	return quoted
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
