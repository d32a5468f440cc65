// Package overlay holds the primitives overlay.*: a panel and launchers that are drawn over a page. The drawing
// is the page library's overlay.js; this side opens, moves and closes it. The catalog lists it.
package overlay

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		overlayMenuHide,
		overlayMenuShow,
		overlayMenuCollapse,
		overlayMenuExpand,
		overlayMenuMove,
		overlayClose,
		overlayOpen,
		overlayRegisterLauncher,
	}
}
