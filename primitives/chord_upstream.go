package primitives

import (
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// chordOn resolves a key argument as the profile of p does.
func chordOn(p Page, s string, more []string) (chord, error) {
	if QuirksOf(p).Has(quirks.AnyKeyName) {
		return upstreamChord(s, more)
	}
	return parseChord(s, more)
}

// upstreamChord is parseChord with quirks.AnyKeyName. Only an empty or overlong
// key is refused.
func upstreamChord(s string, more []string) (chord, error) {
	if s == "" || len(s) > maxKeyName {
		return parseChord(s, more)
	}
	c := chord{Name: s, Modifiers: []string{}}
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
	hit, known := findKey(c.Name)
	switch {
	case !known && !strings.ContainsFunc(c.Name, func(r rune) bool { return r >= ' ' }):
		return chord{}, fault.New(fault.InvalidKey, "no key has this name").With("key", c.Name)
	case !known, hit.def.Key != c.Name && hit.def.Shifted != c.Name && c.Name != "Space":
		hit = keyHit{def: &keyDef{Key: c.Name, Code: c.Name}} // aliases are our own
	}
	c.Hit = hit
	return c, nil
}
