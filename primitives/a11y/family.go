// Package a11y holds the primitives a11y.*: the browser's accessibility tree, finding in it by role and
// name, and the announcements of live regions. It does not resolve locators, and it does not keep
// announcements: the session does. The catalog lists it.
package a11y

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		a11yTree,
		a11yQuery,
		a11yWatch,
		a11yEventsRead,
		a11yAnnouncementsSubscribe,
		a11yAnnouncementsConfigure,
	}
}
