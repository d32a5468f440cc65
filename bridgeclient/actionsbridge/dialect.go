package actionsbridge

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// ManifestMode says what of the manifest goes with runtime_ready.
type ManifestMode int

const (
	// ManifestFirst sends the manifest with the first announcement of a tab on
	// a connection and only its head with later ones: an announcement follows
	// every change of address.
	ManifestFirst ManifestMode = iota
	// ManifestHead sends protocol and version only.
	ManifestHead
	// ManifestNone leaves it out.
	ManifestNone
)

// Options of the dialect.
type Options struct {
	Manifest ManifestMode
}

// Dialect implements bridgeclient.Dialect.
type Dialect struct {
	opts Options
}

var _ bridgeclient.Dialect = (*Dialect)(nil)

// New returns the dialect. Nil options are the defaults.
func New(opts *Options) *Dialect {
	d := &Dialect{}
	if opts != nil {
		d.opts = *opts
	}
	return d
}

// Name implements bridgeclient.Dialect.
func (d *Dialect) Name() string { return "actions-bridge" }

// Ready implements bridgeclient.Dialect.
func (d *Dialect) Ready(host bridgeclient.Host, tab runtime.TabStatus, first bool) []byte {
	info := host.Info()
	item := readyItem{
		Type:             typeReady,
		RuntimeID:        tab.RuntimeID,
		RuntimeKey:       tab.RuntimeKey,
		AuthorizationID:  tab.AuthorizationID,
		ExtensionVersion: version(info),
		Device:           info.Device,
		URL:              tab.URL,
		Host:             hostName(tab.URL),
		Title:            tab.Title,
		Tab:              tabItem{TabID: tab.TabID, WindowID: tab.WindowID, Title: tab.Title, Active: tab.Active},
		Runtime: runtimeItem{
			Name:         product,
			Version:      info.Version,
			Host:         info.Host,
			Browser:      info.Browser,
			RepeatsCalls: true,
			CancelsCalls: true,
		},
		Capabilities: info.Capabilities,
	}
	switch {
	case d.opts.Manifest == ManifestNone:
	case d.opts.Manifest == ManifestFirst && first:
		item.Manifest = host.Manifest()
	default:
		item.Manifest = manifestHead
	}
	if b := marshal(item); b != nil {
		return b
	}
	item.Manifest = manifestHead // the host's manifest is not JSON
	return marshal(item)
}

const product = "outrider"

var manifestHead = json.RawMessage(`{"protocol":"actions.json","version":1}`)

func version(info runtime.Info) string {
	if info.Version == "" {
		return product
	}
	return product + "-" + info.Version
}

// hostName is the normalized host of an address: lower case, without port and
// credentials.
func hostName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// Status implements bridgeclient.Dialect.
func (d *Dialect) Status(host bridgeclient.Host, tab runtime.TabStatus, at time.Time) []byte {
	states := tab.States
	if states == nil {
		states = []string{}
	}
	return marshal(statusItem{
		Type:             typeStatus,
		RuntimeID:        tab.RuntimeID,
		RuntimeKey:       tab.RuntimeKey,
		AuthorizationID:  tab.AuthorizationID,
		ExtensionVersion: version(host.Info()),
		URL:              tab.URL,
		Connected:        true,
		States:           states,
		Actions:          tab.Actions,
		Attachments:      tab.Attachments,
		ObservedAt:       jsonout.Time(at),
	})
}

// Removed implements bridgeclient.Dialect.
func (d *Dialect) Removed(runtimeID string) []byte {
	return marshal(removedItem{Type: typeRemoved, RuntimeID: runtimeID})
}

// Event implements bridgeclient.Dialect.
func (d *Dialect) Event(ev runtime.Event) []byte {
	if ev.Name == runtime.AnnouncementEvent {
		return marshal(announcementItem{
			Type:       typeAnnouncement,
			RuntimeID:  ev.Tab.RuntimeID,
			RuntimeKey: ev.Tab.RuntimeKey,
			Record:     ev.Payload,
			At:         jsonout.Time(ev.ObservedAt),
		})
	}
	payload := ev.Payload
	if len(payload) == 0 {
		payload = json.RawMessage("{}")
	}
	item := eventItem{
		Type:           typeEvent,
		EventID:        ev.ID,
		RuntimeID:      ev.Tab.RuntimeID,
		Name:           ev.Name,
		Event:          ev.PageEvent,
		URL:            cmp.Or(ev.URL, ev.Tab.URL),
		Payload:        payload,
		PreviousCallID: ev.PreviousCallID,
	}
	if !ev.ObservedAt.IsZero() {
		item.ObservedAt = jsonout.Time(ev.ObservedAt)
	}
	return marshal(item)
}

// Progress implements bridgeclient.Dialect.
func (d *Dialect) Progress(call *bridgeclient.Call, p runtime.Progress, at time.Time) []byte {
	entered := p.Phase
	if p.Step != "" {
		entered = strings.TrimSuffix(p.Step+":"+p.Phase, ":")
	}
	return marshal(progressItem{
		Type:       typeProgress,
		CallID:     call.ID,
		RuntimeID:  call.RuntimeID,
		Action:     call.Run.Name,
		Entered:    cmp.Or(entered, p.Primitive),
		Step:       p.Step,
		Primitive:  p.Primitive,
		ObservedAt: jsonout.Time(at),
	})
}

// Reply implements bridgeclient.Dialect. call_id and runtime_id are those of
// the item: the upstream bridge matches both, and a newer id of the same tab
// would leave the call waiting.
func (d *Dialect) Reply(call *bridgeclient.Call, reply runtime.Reply) []byte {
	id := cmp.Or(call.RuntimeID, reply.RuntimeID)
	output := reply.Output
	if reply.Err != nil && len(reply.Answer) > 0 {
		output = reply.Answer
	}
	if len(output) > 0 {
		if b := marshal(outputItem{Type: typeOutput, CallID: call.ID, RuntimeID: id, Output: output}); b != nil {
			return b
		}
		reply.Err = fault.New(fault.InvalidResult, "the output is not JSON")
	}
	err := reply.Err
	if err == nil {
		err = fault.New(fault.Internal, "the call ended without an answer")
	}
	return marshal(errorItem{Type: typeError, CallID: call.ID, RuntimeID: id, Error: wireError(err)})
}

// Alive implements bridgeclient.Dialect.
func (d *Dialect) Alive(probe bridgeclient.Probe, alive bool) []byte {
	return marshal(probeResultItem{Type: typeProbeResult, ProbeID: probe.ID, Alive: alive})
}

func (d *Dialect) refuseCredential(provider string) bridgeclient.Message {
	if len(provider) > 64 {
		provider = ""
	}
	spec, _ := fault.Lookup(fault.CredentialHydrationFailed)
	return bridgeclient.Notice{Log: typeCredential, Reply: marshal(credentialResultItem{
		Type: typeCredentialResult, Provider: provider,
		Error: wireError(fault.New(fault.CredentialHydrationFailed, "%s", spec.Meaning)),
	})}
}

// stamp is the form of a time in items.
