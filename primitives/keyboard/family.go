// Package keyboard holds the primitives keyboard.*: chords sent as trusted key events, also until the page
// announces something. The names of keys and the events of a chord are in package keys. The catalog lists it,
// and text and a11y press keys through it.
package keyboard

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		keyboardPress,
		keyboardPressGated,
	}
}
