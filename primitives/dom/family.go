// Package dom holds the primitives dom.* and viewport.scroll: what a document shows, its focus, its lists and how
// far it is scrolled. It decides nothing about elements itself: the page library does. The catalog lists it.
package dom

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		domObserveVisible,
		domObserveAttributes,
		domSnapshotText,
		domListSections,
		domFocus,
		domSelectOption,
		viewportScroll,
	}
}
