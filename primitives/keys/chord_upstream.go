package keys

import (
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// ParseChordOn resolves a key argument as the profile of p does.
func ParseChordOn(p primitives.Page, s string, more []string) (Chord, error) {
	parse := ParseChord
	if primitives.QuirksOf(p).Has(quirks.AnyKeyName) {
		parse = upstreamChord
	}
	c, err := parse(s, more)
	if primitives.QuirksOf(p).Has(quirks.PartialKeyTable) {
		c.Flags = primitives.ModShift
	}
	return c, err
}

// upstreamChord is ParseChord with quirks.AnyKeyName. Only an empty or overlong
// key is refused.
func upstreamChord(s string, more []string) (Chord, error) {
	if s == "" || len(s) > maxKeyName {
		return ParseChord(s, more)
	}
	c := Chord{Name: s, Modifiers: []string{}}
	names := slices.Clone(more)
	parts := slices.DeleteFunc(strings.Split(s, "+"), func(part string) bool { return part == "" })
	if n := len(parts); n > 1 {
		c.Name = parts[n-1]
		names = append(names, parts[:n-1]...)
	}
	for _, n := range names {
		low := strings.ToLower(n)
		c.Modifiers = append(c.Modifiers, low)
		c.Mask |= modifierBits[low] // 0 for a name that is none
	}
	hit, known := Find(c.Name)
	switch {
	case !known && !strings.ContainsFunc(c.Name, func(r rune) bool { return r >= ' ' }):
		return Chord{}, fault.New(fault.InvalidKey, "no key has this name").With("key", c.Name)
	case !known, modifierBits[strings.ToLower(c.Name)] != 0,
		hit.def.Key != c.Name && hit.def.Shifted != c.Name && c.Name != "Space":
		hit = Hit{def: &Definition{Key: c.Name, Code: c.Name}} // aliases are our own
	}
	c.Hit = hit
	return c, nil
}
