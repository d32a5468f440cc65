package keys

import (
	"maps"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

var sortedAliases = slices.Sorted(maps.Keys(keyAliases))

// maxKeyName bounds a key name or chord in bytes. The longest name of the table
// has 18; a chord adds its modifiers.
const maxKeyName = 128

// Chord is a key with the modifiers held around it.
type Chord struct {
	Name      string   // the key as the caller wrote it
	Modifiers []string // as written, in lower case, without repeats
	Hit       Hit
	Mask      primitives.Modifiers
	// Flags are the modifiers that are not pressed themselves, only set in the
	// events of the key; see quirks.PartialKeyTable.
	Flags primitives.Modifiers
}

// splitChord takes "Control+Shift+A" apart. A plus sign separates only when
// something stands on both sides: "+" is the plus key, and so is the last part
// of "Control++". Spaces around names are ignored, but a lone space is a key.
func splitChord(s string) (key string, modifiers []string) {
	rest := s
	for {
		i := strings.IndexByte(rest, '+')
		if i <= 0 || i == len(rest)-1 {
			break // no separator, "+" or "+a", or "a+" which names no key of its own
		}
		modifiers = append(modifiers, strings.TrimSpace(rest[:i]))
		rest = rest[i+1:]
	}
	if t := strings.TrimSpace(rest); t != "" {
		rest = t
	}
	return rest, modifiers
}

// ParseChord resolves a key argument and further modifiers. Upper and lower
// case of modifiers do not matter, and neither does naming one twice.
func ParseChord(s string, more []string) (Chord, error) {
	if s == "" {
		return Chord{}, fault.New(fault.InvalidKey, "the key is empty").
			With("key", s).With("modifiers", append([]string{}, more...))
	}
	if len(s) > maxKeyName {
		return Chord{}, fault.New(fault.InvalidKey, "the key has %d bytes, more than any key name", len(s))
	}
	key, mods := splitChord(s)
	c := Chord{Name: key}
	var err error
	// Upstream puts the modifiers of the argument before those of the chord.
	c.Modifiers, c.Mask, err = ParseModifiers(append(slices.Clone(more), mods...))
	if err != nil {
		f := fault.From(err)
		return Chord{}, fault.New(fault.InvalidKey, "%s", f.Message).
			With("key", s).With("modifier", f.Evidence["modifier"]).With("known_modifiers", modifierNames)
	}
	hit, ok := Find(key)
	if !ok {
		f := fault.New(fault.InvalidKey, "no key has this name").With("key", key)
		if near := nearestKey(key); near != "" {
			f = f.With("nearest", near).Next("use a DOM key value such as " + near + "; text.type sends text")
		} else {
			f = f.Next("use a DOM key value such as Enter, ArrowDown, PageUp or F5; text.type sends text")
		}
		return Chord{}, f
	}
	c.Hit = hit
	return c, nil
}
