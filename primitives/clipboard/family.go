// Package clipboard holds the primitives clipboard.* and transfer.*: taking content from a page and putting it
// into another. It does not keep the content, which is the session's, and it inserts through package text. The
// catalog lists it.
package clipboard

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		clipboardCopy,
		clipboardRead,
		clipboardWrite,
		clipboardPaste,
		transferWrite,
		transferRead,
		transferInsert,
		transferClear,
	}
}
