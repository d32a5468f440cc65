// Package mask hides secrets in everything that leaves the process: results, logs,
// reports, errors and pictures show a placeholder where a secret stands. What a runtime
// answers goes through its file secrets.go. It does not decide where a secret may be
// used; the runtime does, and puts its value in place of the placeholder when a field is
// filled. The verbs resolve references and wrap their output, plans declare secrets.
package mask

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Set is the secrets of a run. Nil and the zero Set hold none and change nothing. It
// is safe for concurrent use.
type Set struct {
	state  atomic.Pointer[state]
	parent *Set // that With made it of
}

// state is one version of a set; it never changes.
type state struct {
	secrets  map[string]secret
	hidden   map[string][]secret // further values that are masked under a name, see Hide
	patterns []pattern
	begins   [256]bool // bytes that a pattern can begin with, in any form
	// long has the patterns alone that no ordinary word or number is, and spread has those
	// of them that can reach over several values of a JSON text.
	long, spread *state
}

type secret struct {
	value   string
	origins []string // where it may be used; nil is everywhere
	typed   bool
}

// leastLength is how many characters a secret has at least. A shorter one would be
// found everywhere.
const leastLength = 4

// maxLength bounds a secret, in bytes.
const maxLength = 64 << 10

const longestName = 64

var namePattern = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)

// CheckName says what is wrong with the name of a secret.
func CheckName(name string) error {
	if !namePattern().MatchString(name) {
		return fault.New(
			fault.InvalidInput, "%q is no name of a secret: expected a letter or _, then letters, digits, _, - and .",
			fault.Clip(name, 80),
		)
	}
	return nil
}

// Add adds a secret. origins limit where it may be used; none is everywhere. The same
// secret may be added again, another one of its name may not.
func (s *Set) Add(name, value string, origins ...string) error {
	if err := check(name, value); err != nil {
		return err
	}
	for {
		old := s.state.Load()
		next := old.clone()
		if old != nil {
			if known, ok := old.secrets[name]; ok {
				if known.value == value && slices.Equal(known.origins, origins) {
					return nil
				}
				return fault.New(
					fault.InvalidInput, "there are two secrets named %s, with different values or origins", name,
				)
			}
		}
		next.secrets[name] = secret{value: value, origins: slices.Clone(origins)}
		next.compile()
		if s.state.CompareAndSwap(old, next) {
			return nil
		}
	}
}

func check(name, value string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	switch n := utf8.RuneCountInString(value); {
	case n < leastLength:
		return fault.New(
			fault.InvalidInput,
			"the secret %s has %d characters: expected at least %d, because fewer could not be told from other text",
			name, n, leastLength,
		)
	case len(value) > maxLength:
		return fault.New(
			fault.PayloadTooLarge, "the secret %s has %d bytes: expected at most %d", name, len(value), maxLength,
		)
	}
	return nil
}

// Hide masks a value under a name that another one may have: the placeholder stands for
// that one, and nothing is given this value. See With.
func (s *Set) Hide(name, value string) error {
	if err := check(name, value); err != nil {
		return err
	}
	for {
		old := s.state.Load()
		next := old.clone()
		if slices.ContainsFunc(next.hidden[name], func(h secret) bool { return h.value == value }) {
			return nil
		}
		next.hidden[name] = append(slices.Clone(next.hidden[name]), secret{value: value})
		next.compile()
		if s.state.CompareAndSwap(old, next) {
			return nil
		}
	}
}

// With is a set in which a name stands for another value than in s. The output is still
// masked by s, which has the value hidden.
func (s *Set) With(name, value string, origins ...string) (*Set, error) {
	if err := s.Hide(name, value); err != nil {
		return nil, err
	}
	out := &Set{parent: s}
	st := s.load().clone()
	st.secrets[name] = secret{value: value, origins: slices.Clone(origins)}
	st.compile()
	out.state.Store(st)
	return out, nil
}

// Grant is a set with the secrets of these names, each for use where both this set and
// the given origins allow it; no origins are everywhere.
func (s *Set) Grant(wanted map[string][]string) (*Set, error) {
	out := &Set{}
	st := s.load()
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		var sec secret
		known := false
		if st != nil {
			sec, known = st.secrets[name]
		}
		if !known {
			return nil, fault.New(fault.PermissionDenied, "there is no secret named %s here", name).
				With("secrets", s.Names())
		}
		origins := sec.origins
		if asked := wanted[name]; len(origins) == 0 {
			origins = asked
		} else if len(asked) > 0 {
			origins = nil
			for _, o := range sec.origins {
				if allowed(asked, o) {
					origins = append(origins, o)
				}
			}
			for _, o := range asked {
				if allowed(sec.origins, o) && !slices.Contains(origins, o) {
					origins = append(origins, o)
				}
			}
			if len(origins) == 0 {
				return nil, fault.New(
					fault.PermissionDenied, "the secret %s is for none of the origins that it is wanted for", name,
				).With("origins", sec.origins)
			}
		}
		if err := out.Add(name, sec.value, origins...); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (st *state) clone() *state {
	if st == nil {
		return &state{secrets: map[string]secret{}, hidden: map[string][]secret{}}
	}
	return &state{secrets: maps.Clone(st.secrets), hidden: maps.Clone(st.hidden)}
}

// TypedByKeys says that secrets are typed key by key. A page may then have shown their
// beginnings, so those are masked too.
func (s *Set) TypedByKeys(names ...string) {
	if s != nil && s.parent != nil {
		s.parent.TypedByKeys(names...) // it masks
	}
	for {
		old := s.load()
		next := old.clone()
		for _, name := range names {
			if sec, ok := next.secrets[name]; ok {
				sec.typed = true
				next.secrets[name] = sec
			}
			next.hidden[name] = slices.Clone(next.hidden[name])
			for i := range next.hidden[name] {
				next.hidden[name][i].typed = true
			}
		}
		next.compile()
		if old == nil || s.state.CompareAndSwap(old, next) {
			return
		}
	}
}

// Empty reports whether there is no secret.
func (s *Set) Empty() bool { return s.load() == nil }

// Names are the names of the secrets, sorted.
func (s *Set) Names() []string {
	if st := s.load(); st != nil {
		return slices.Sorted(maps.Keys(st.secrets))
	}
	return nil
}

// Values are the secrets themselves, for code that looks for them on a page.
func (s *Set) Values() []string {
	st := s.load()
	if st == nil {
		return nil
	}
	out := make([]string, 0, len(st.secrets))
	for _, name := range slices.Sorted(maps.Keys(st.secrets)) {
		out = append(out, st.secrets[name].value)
	}
	for _, name := range slices.Sorted(maps.Keys(st.hidden)) {
		for _, h := range st.hidden[name] {
			out = append(out, h.value)
		}
	}
	return out
}

// Shown are the texts that a page can show of secrets: their values, also with one blank for
// each run of white space, and each line of one that has several.
func (s *Set) Shown() []string {
	var out []string
	for _, value := range s.Values() {
		out = append(append(out, value), linesOf(value)...)
		collapsed := strings.TrimSpace(string(blanks(value)))
		if collapsed != value && utf8.RuneCountInString(collapsed) >= leastLength {
			out = append(out, collapsed)
		}
	}
	return out
}

// linesOf are the lines of a text of several that can be told from other text: a log, or a
// page, indents those of a key.
func linesOf(value string) (out []string) {
	lines := strings.Split(value, "\n")
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if len(lines) > 1 && len(l) >= leastLineLength {
			out = append(out, l)
		}
	}
	return out
}

func (s *Set) load() *state {
	if s == nil {
		return nil
	}
	return s.state.Load()
}

// compile makes the patterns: each secret in its forms, and as base64 at each of the
// three places that it can have in a longer text.
func (st *state) compile() {
	for name, sec := range st.secrets {
		st.addForms(name, sec)
	}
	for name, list := range st.hidden {
		for _, sec := range list {
			st.addForms(name, sec)
		}
	}
	// The longest comes first: of a secret that begins with another, all is hidden.
	slices.SortFunc(st.patterns, func(a, b pattern) int {
		return cmp.Or(
			cmp.Compare(len(b.runes), len(a.runes)), cmp.Compare(a.name, b.name),
			cmp.Compare(string(a.runes), string(b.runes)),
		)
	})
	st.index()
	st.long = st.with(func(p pattern) bool { return len(p.runes) >= shortPattern })
	st.spread = st.long.with(func(p pattern) bool { return strings.ContainsAny(string(p.runes), `"{}[]:,`) })
}

// with is the state with some of the patterns.
func (st *state) with(some func(pattern) bool) *state {
	out := &state{secrets: st.secrets}
	for _, p := range st.patterns {
		if some(p) {
			out.patterns = append(out.patterns, p)
		}
	}
	out.index()
	return out
}

// index notes what the patterns can begin with.
func (st *state) index() {
	st.begins[opening[0]] = true
	for _, p := range st.patterns {
		first := p.runes[0]
		st.begins[string(first)[0]] = true
		if !p.literal {
			for _, c := range []byte{'%', '\\', '&'} {
				st.begins[c] = true
			}
			if first == blank {
				st.beginsBlank()
			}
			if strings.ContainsRune(notInFilename, first) {
				st.begins[inFilename] = true
			}
		}
	}
}

// beginsBlank notes what white space can begin with.
func (st *state) beginsBlank() {
	st.begins['+'] = true
	for c := range st.begins {
		if unicode.IsSpace(rune(c)) || c >= utf8.RuneSelf {
			st.begins[c] = true
		}
	}
}

const leastLineLength = 8

// addForms adds the forms of one value.
func (st *state) addForms(name string, sec secret) {
	st.patterns = append(st.patterns, pattern{name: name, runes: blanks(sec.value), typed: sec.typed})
	trimmed := strings.TrimSpace(sec.value) // as a title is shown
	if trimmed != sec.value && utf8.RuneCountInString(trimmed) >= leastLength {
		st.patterns = append(st.patterns, pattern{name: name, runes: blanks(trimmed), typed: sec.typed})
	}
	for _, l := range linesOf(sec.value) {
		st.add(name, l, false)
	}
	for _, text := range inBase64(sec.value) {
		st.add(name, text, true)
	}
}

func (st *state) add(name, text string, literal bool) {
	runes := []rune(text)
	if !literal {
		runes = blanks(text)
	}
	st.patterns = append(st.patterns, pattern{name: name, runes: runes, literal: literal})
}

// leastBase64 is how many characters of base64 are looked for at least: fewer occur
// by chance in every picture.
const leastBase64 = 8

// inBase64 is what base64 shows of a text, alone and inside a longer one, in both
// alphabets.
func inBase64(value string) []string {
	var out []string
	whole := base64.StdEncoding.EncodeToString([]byte(value))
	if len(whole) >= leastBase64 {
		out = append(out, whole)
	}
	for before := range 3 {
		all := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), value...))
		from := (before*8 + 5) / 6          // the first character that has no bit of what is before
		to := (before + len(value)) * 8 / 6 // the last ones may have bits of what follows
		if to-from >= leastBase64 && to <= len(all) {
			out = append(out, all[from:to])
		}
	}
	for _, text := range slices.Clone(out) {
		if web := strings.NewReplacer("+", "-", "/", "_").Replace(text); web != text {
			out = append(out, web)
		}
	}
	return out
}

// Placeholder stands for a secret, in inputs and in what is masked.
func Placeholder(name string) string { return opening + name + closing }

const (
	opening = "{{secret:"
	closing = "}}"
)

// Mask is a text with a placeholder for each secret: as it is, escaped as in JSON, Go,
// HTML or an address, or as base64.
func (s *Set) Mask(text string) string {
	if st := s.load(); st != nil {
		return st.mask(text)
	}
	return text
}

func (st *state) mask(text string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		name, end, _ := st.at(text, i)
		if end == 0 {
			i++
			continue
		}
		b.WriteString(text[done:i])
		b.WriteString(Placeholder(name))
		i, done = end, end
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// MaskLong is Mask without the secrets that an ordinary word or number could be, for a text
// such as a path, which is useless when a word of it is gone.
func (s *Set) MaskLong(text string) string {
	if st := s.load(); st != nil {
		return st.long.mask(text)
	}
	return text
}

// MaskBytes is Mask for the content of a file, and MaskStrings for one that is JSON.
func (s *Set) MaskBytes(text []byte) []byte {
	switch {
	case s.Empty() || !utf8.Valid(text): // no text is a picture, which is painted
		return text
	case json.Valid(text):
		return s.MaskStrings(text)
	}
	before := string(text)
	if after := s.Mask(before); after != before {
		return []byte(after)
	}
	return text
}

// Error is err with its text masked; errors.Is and errors.As see through it.
func (s *Set) Error(err error) error {
	if err == nil || s.Empty() {
		return err
	}
	if text := err.Error(); s.Mask(text) != text {
		return &maskedError{err: err, text: s.Mask(text)}
	}
	return err
}

type maskedError struct {
	err  error
	text string
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.err }

// String keeps a set from being printed with what it holds.
func (s *Set) String() string { return fmt.Sprintf("%d secrets", len(s.Names())) }

// GoString is String for %#v.
func (s *Set) GoString() string { return s.String() }
