// Package catalog lists the primitives of every family, and writes their documentation. It holds no handler and
// no record. Commands and tests call it to make the registry that a host runs.
package catalog

import (
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
	"github.com/outrider-run/outrider/primitives/webmcp"
)

// Family is one folder below primitives.
type Family struct {
	Name       string // of the folder, and of the page of the reference
	About      string // what its primitives do, for the index
	Primitives []*primitives.Primitive
}

// Families lists every family, by name.
func Families() []Family {
	return []Family{
		{"a11y", "the accessibility tree and announcements", a11y.Primitives()},
		{
			"browser", "navigation, tabs, dialogs, screenshots, rows of elements, scripts for debugging",
			browser.Primitives(),
		},
		{"clipboard", "clipboard and transfers between pages", clipboard.Primitives()},
		{"dom", "what a document shows, focus, lists, scrolling", dom.Primitives()},
		{"emulate", "devices, places, networks", emulate.Primitives()},
		{"files", "downloads and uploads", files.Primitives()},
		{"keyboard", "chords", keyboard.Primitives()},
		{"locator", "reading and awaiting one element", locator.Primitives()},
		{"network", "recorded requests and console messages", network.Primitives()},
		{"overlay", "the panel and the launchers over a page", overlay.Primitives()},
		{"page", "snapshots, extraction, waiting, history, selecting, printing", page.Primitives()},
		{"pointer", "clicks, movements, drags, wheel, markers", pointer.Primitives()},
		{"session", "pacing, the log, tasks", session.Primitives()},
		{"storage", "cookies, storage state, files of maps", storage.Primitives()},
		{"text", "typing, inserting and selecting text", text.Primitives()},
		{"webmcp", "tools that pages declare for agents", webmcp.Primitives()},
	}
}

// All lists the primitives of every family.
func All() []*primitives.Primitive {
	var all []*primitives.Primitive
	for _, f := range Families() {
		all = append(all, f.Primitives...)
	}
	return all
}

// Standard returns a registry of every primitive of this host. The families are
// written down here, and each writes down its primitives: what is in no list does
// not exist. A test compares them with the records.
func Standard() *primitives.Registry { return primitives.NewRegistry(All()...) }
