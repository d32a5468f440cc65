// Package pointer holds the primitives pointer.*, marker.query and cursor.move_to: trusted mouse events at a
// point, a locator or a ref. Whether an element can be acted on is decided by package actionability and the page
// script actionable.js. The catalog lists it.
package pointer

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		pointerMove,
		pointerWheel,
		pointerClick,
		pointerDoubleClick,
		pointerTap,
		pointerDrag,
		markerQuery,
		cursorMoveTo,
		pointerMoveTo,
	}
}
