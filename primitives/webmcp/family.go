// Package webmcp holds the primitives webmcp.*: the tools that the documents of a page declare for agents. What they
// say of themselves is the page's own word. The catalog lists it.
package webmcp

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{list, call}
}
