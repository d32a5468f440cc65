// Package siteaction runs what a map declares to be done on a live page: workflows,
// abstract steps, functions of the page, transitions and their convergence. It does
// not decide which tab runs a call, nor when. The runtime has Actions for each tab
// and gives it the calls of site actions; actions.site learns from it what can run.
package siteaction

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/runtime/state"
	"github.com/outrider-run/outrider/sites"
)

// Deps are shared by the actions of every tab of a host.
type Deps struct {
	Maps     *mapset.Maps
	Registry *primitives.Registry
	Quirks   quirks.Set
	Log      *slog.Logger
	// Forbids says why an action of a map may not use a primitive, nil when it may.
	Forbids func(m *sites.Map, primitive string) *fault.Error
	// Within returns a context in which pages are read and acted on within the origins of a
	// map; via is the map by which it is offered, page the address on which it begins.
	Within func(ctx context.Context, m, via *sites.Map, page string) context.Context
	// Subscribe calls fn for every event of the host until unsubscribe is called.
	Subscribe func(fn func(call.Event)) (unsubscribe func())
}

// Tab is the tab on whose page actions run.
type Tab interface {
	observe.Pages
	Status() call.TabStatus
	// Page is the page of this moment, nil while there is none.
	Page() primitives.Page
}

// Caller is the call that an action runs for.
type Caller interface {
	// InvokeFor runs one primitive on the tab, on behalf of a map.
	InvokeFor(ctx context.Context, m *sites.Map, name string, args json.RawMessage) primitives.Result
	// Progress records where the call is.
	Progress(call.Progress)
	// Message is the call as it came, Accepted when.
	Message() call.Call
	Accepted() time.Time
}

// Features are the features of the tab that actions use.
type Features struct {
	Postconditions interface {
		Verify(
			ctx context.Context, supplied *call.SuppliedMap, pc *mapset.Postcondition, input json.RawMessage,
		) (state.PostconditionResult, *fault.Error)
	}
	Signals interface {
		Await(ctx context.Context, m *sites.Map, own string) (end func())
	}
	Attachments interface {
		State(m *sites.Map, id string) (state string, known bool)
	}
	// Moved is called when an action may have led to another state.
	Moved func()
}

// Actions runs the site actions of one tab.
type Actions struct {
	Deps
	Tab
	Features
	limiter limiter // of transitions and abstract steps
}

// New is for one tab.
func New(d Deps, tab Tab, f Features) *Actions { return &Actions{Deps: d, Tab: tab, Features: f} }

// invoker runs the primitives of one action.
type invoker struct {
	Caller
	from *sites.Map // whose action it is
}

// Invoke implements workflow.Invoker.
func (v invoker) Invoke(ctx context.Context, name string, args json.RawMessage) primitives.Result {
	return v.InvokeFor(ctx, v.from, name, args)
}
