// Package page holds the primitives page.*: snapshots, extraction, waiting, history, hovering, selecting,
// fetching, printing and evaluating. It does not act on elements by points, which is package pointer. The
// catalog lists it.
package page

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		pageInfo,
		pageFetch,
		pageEvaluate,
		pageSnapshot,
		pageExtract,
		pageWait,
		pageSelect,
		pageHover,
		pageHistory,
		pagePDF,
	}
}
