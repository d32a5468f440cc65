// Package text holds the primitives text.*: typing by keys, inserting by script, and selecting in controls and rich
// editors. What an editor needs is decided by the page script text_insert.js. The catalog lists it, and
// clipboard inserts through it.
package text

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		textInsert,
		textType,
		textSelect,
	}
}
