// Package browser holds the primitives browser.*: navigation, tabs, screenshots, dialogs, rows of elements, and
// scripts for debugging (debug.run_javascript). It does not drive Chromium, which is runtime/browser behind the
// interface primitives.Page. The catalog lists it.
package browser

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		browserExtractElements,
		browserNavigate,
		browserOpenTab,
		browserCloseTab,
		browserClaimedTabsList,
		browserClaimedTabsActivate,
		browserScreenshot,
		browserDismissDialog,
		browserRunJavaScript,
		debugRunJavaScript,
	}
}
