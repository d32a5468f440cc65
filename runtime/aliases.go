package runtime

import (
	"io/fs"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime/announce"
	"github.com/outrider-run/outrider/runtime/attach"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/signal"
	"github.com/outrider-run/outrider/runtime/siteaction"
	"github.com/outrider-run/outrider/runtime/sitetool"
	"github.com/outrider-run/outrider/sites"
)

// The messages of the runtime, by the names that faces use.
type (
	Call             = call.Call
	Target           = call.Target
	SuppliedMap      = call.SuppliedMap
	Appearance       = call.Appearance
	Progress         = call.Progress
	Reply            = call.Reply
	Site             = call.Site
	Event            = call.Event
	EventKind        = call.EventKind
	TabStatus        = call.TabStatus
	AttachmentStatus = call.AttachmentStatus
	Info             = call.Info
	StateSeen        = call.StateSeen
)

// Kinds of events.
const (
	TabReady   = call.TabReady
	TabChanged = call.TabChanged
	TabRemoved = call.TabRemoved
	DOMEvent   = call.DOMEvent
)

// The maps on offer, by the names that programs use.
type (
	Maps          = mapset.Maps
	MapOptions    = mapset.Options
	ArgumentCheck = mapset.ArgumentCheck
)

// MapsIn are the options for the maps of a host with these quirks.
func MapsIn(profile quirks.Set) MapOptions {
	return MapOptions{Salvage: profile.Has(quirks.MapsAsTheyCome), Upstream: profile.Has(quirks.UpstreamVocabulary)}
}

// What becomes of arguments that a primitive does not take.
const (
	ArgumentsUnchecked = mapset.ArgumentsUnchecked
	ArgumentsRefused   = mapset.ArgumentsRefused
	ArgumentsCoerced   = mapset.ArgumentsCoerced
)

// SiteTool is the one stable tool of every runtime: it lists and calls what the
// current site offers.
const SiteTool = call.SiteTool

// SiteMode selects an operation of the tool.
type SiteMode = call.Mode

// LaterEffects is the call of a Watcher for what came of its actions since their replies.
const LaterEffects = call.LaterEffects

// The modes of the tool that this program asks for itself.
const (
	SiteList         = call.List
	SiteCall         = call.CallAction
	SiteCheck        = call.Check
	SiteStateRead    = call.StateRead
	SiteStateSummary = call.StateSummary
	SiteStateDiff    = call.StateDiff
	SiteStateWatch   = call.StateWatch
)

// ReadsPage reports whether a primitive reads the page once, and does nothing else.
func ReadsPage(primitive string) bool { return siteaction.ReadsPage(primitive) }

// What agents read of it: its input schema, and its description.
const (
	SiteToolSchema      = sitetool.Schema
	SiteToolDescription = sitetool.Description
)

// Names of the events of the runtime's own.
const (
	// AnnouncementEvent: a text of a live region.
	AnnouncementEvent = announce.Event
	// OverlayEvent begins the names of the events of the overlay.
	OverlayEvent = announce.OverlayEvent
	// SignalsDroppedEvent: page events that were declared and not forwarded.
	SignalsDroppedEvent = signal.DroppedEvent
	// AttachmentCalledEvent: somebody used an attachment.
	AttachmentCalledEvent = attach.CalledEvent
)

// MapsChangedEvent is the name of the event that says that maps have changed.
const MapsChangedEvent = mapset.ChangedEvent

// LoadMaps loads map files and storage folders; see mapset.Read. Where arguments are
// checked, so is what else is certain to be refused; see siteaction.Inspect.
func LoadMaps(
	paths []string, registry *primitives.Registry, engine expr.Engine, how MapOptions,
) (*Maps, []sites.FileReport) {
	m, read := ReadMaps(paths, registry, engine, how)
	return m, read()
}

// ReadMaps is LoadMaps that reads beside what the caller does meanwhile. The maps offer nothing until read
// has returned.
func ReadMaps(
	paths []string, registry *primitives.Registry, engine expr.Engine, how MapOptions,
) (m *Maps, read func() []sites.FileReport) {
	if how.Arguments != ArgumentsUnchecked {
		how.Inspect = siteaction.Inspect
	}
	return mapset.Read(paths, registry, engine, how)
}

// MapFromBytes offers one map; see mapset.FromBytes.
func MapFromBytes(name string, data []byte, registry *primitives.Registry, engine expr.Engine) (*Maps, error) {
	return mapset.FromBytes(name, data, registry, engine)
}

// MapFromFiles offers one map that lies among files; see mapset.FromFiles.
func MapFromFiles(files fs.FS, name string, registry *primitives.Registry, engine expr.Engine) (*Maps, error) {
	return mapset.FromFiles(files, name, registry, engine)
}
