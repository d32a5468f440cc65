// Package catalog lists the primitives of every family, and writes their documentation. It holds no handler and
// no record. Commands and tests call it to make the registry that a host runs.
package catalog

import (
	"slices"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/a11y"
	"github.com/outrider-run/outrider/primitives/browser"
	"github.com/outrider-run/outrider/primitives/clipboard"
	"github.com/outrider-run/outrider/primitives/dom"
	"github.com/outrider-run/outrider/primitives/emulate"
	"github.com/outrider-run/outrider/primitives/files"
	"github.com/outrider-run/outrider/primitives/keyboard"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/primitives/network"
	"github.com/outrider-run/outrider/primitives/overlay"
	"github.com/outrider-run/outrider/primitives/page"
	"github.com/outrider-run/outrider/primitives/pointer"
	"github.com/outrider-run/outrider/primitives/session"
	"github.com/outrider-run/outrider/primitives/storage"
	"github.com/outrider-run/outrider/primitives/text"
)

// All lists the primitives of every family.
func All() []*primitives.Primitive {
	return slices.Concat(
		a11y.Primitives(),
		browser.Primitives(),
		clipboard.Primitives(),
		dom.Primitives(),
		emulate.Primitives(),
		files.Primitives(),
		keyboard.Primitives(),
		locator.Primitives(),
		network.Primitives(),
		overlay.Primitives(),
		page.Primitives(),
		pointer.Primitives(),
		session.Primitives(),
		storage.Primitives(),
		text.Primitives(),
	)
}

// Standard returns a registry of every primitive of this host. The families are
// written down here, and each writes down its primitives: what is in no list does
// not exist. A test compares them with the records.
func Standard() *primitives.Registry { return primitives.NewRegistry(All()...) }
