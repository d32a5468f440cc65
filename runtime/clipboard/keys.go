package clipboard

import "github.com/outrider-run/outrider/primitives"

// use is what keys do with a clipboard.
type use int

const (
	nothing use = iota
	copies      // or cut
	pastes
)

// Virtual key codes of the keys that copy, cut and paste, together with a modifier.
const (
	keyC              = 67
	keyV              = 86
	keyX              = 88
	keyInsert, keyDel = 45, 46
)

// meaning is what key events do with a clipboard, on any system: Control or Command with C, X and V, and the older
// keys. What is none of these somewhere costs a little time there.
func meaning(events []primitives.KeyEvent) use {
	for _, e := range events {
		if e.Type == primitives.KeyUp || e.Modifiers&primitives.ModAlt != 0 {
			continue
		}
		control := e.Modifiers&(primitives.ModControl|primitives.ModMeta) != 0
		shift := e.Modifiers&primitives.ModShift != 0
		switch {
		case control && e.KeyCode == keyV, shift && e.KeyCode == keyInsert:
			return pastes
		case control && (e.KeyCode == keyC || e.KeyCode == keyX || e.KeyCode == keyInsert),
			shift && e.KeyCode == keyDel:
			return copies
		}
	}
	return nothing
}
