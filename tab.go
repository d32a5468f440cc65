package outrider

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Tab is one tab of a session. It stays the same tab when its renderer crashes
// or its browser is restarted. It is safe for concurrent use: calls run in
// order.
type Tab struct {
	session *Session
	id      string
	number  int
}

// ID is the runtime id of the tab: unique, and stable until the tab is closed.
func (t *Tab) ID() string { return t.id }

// Session is the session that the tab belongs to.
func (t *Tab) Session() *Session { return t.session }

// URL is the address of the tab's page, "" after the tab was closed.
func (t *Tab) URL() string { return t.status().URL }

// Title is the title of the tab's page, "" after the tab was closed.
func (t *Tab) Title() string { return t.status().Title }

func (t *Tab) status() runtime.TabStatus {
	all := t.session.statuses()
	if i := slices.IndexFunc(all, func(s runtime.TabStatus) bool { return s.RuntimeID == t.id }); i >= 0 {
		return all[i]
	}
	return runtime.TabStatus{}
}

// Activate makes the tab the active one of its session.
func (t *Tab) Activate(ctx context.Context) error {
	if t.session.group != nil {
		timeout := timeOf(ctx)
		_, err := t.session.group.Activate(ctx, t.number)
		return endedBy(ctx, timeout, err)
	}
	return t.CallInto(ctx, "browser.claimed_tabs.activate", map[string]any{"tab_id": t.number}, nil)
}

// Close closes the tab. The last tab of a session that is not isolated cannot
// be closed (permission_denied): close the session.
func (t *Tab) Close(ctx context.Context) error {
	if t.session.group != nil {
		timeout := timeOf(ctx)
		return endedBy(ctx, timeout, t.session.group.CloseTab(ctx, t.number))
	}
	return t.CallInto(ctx, "browser.close_tab", map[string]any{"tab_id": t.number}, nil)
}

// ActionResult is the outcome of a site action.
type ActionResult struct {
	// Value is the action's output, as the map declares it.
	Value json.RawMessage `json:"value"`
	// Output is the whole answer: value, transition, verification and so on, as
	// docs/reference describes it.
	Output json.RawMessage `json:"-"`
	// Steps summarizes the steps that ran, as a JSON list.
	Steps json.RawMessage `json:"-"`
	// URL is the page's address after the action.
	URL string `json:"-"`
	// Duration is the time from the call to its answer.
	Duration time.Duration `json:"-"`
}

// Action runs the site action name of the maps that apply to the page and
// returns its value. arguments is anything that encodes as a JSON object, nil
// for none.
//
// Frequent errors: unknown_action, invalid_input, state_mismatch,
// target_not_found, postcondition_failed, handler_timeout. An error that
// happened in a step has the steps in [Error.Steps].
func (t *Tab) Action(ctx context.Context, name string, arguments any) (json.RawMessage, error) {
	r, err := t.RunAction(ctx, name, arguments)
	if err != nil {
		return nil, err
	}
	return r.Value, nil
}

// RunAction is Action with everything that the answer says.
func (t *Tab) RunAction(ctx context.Context, name string, arguments any) (*ActionResult, error) {
	reply, err := t.site(ctx, runtime.Site{Mode: runtime.SiteCall, Action: name, Arguments: object(arguments)})
	if err != nil {
		return nil, err
	}
	r := &ActionResult{Output: reply.Output, Steps: reply.Steps, URL: reply.URL, Duration: reply.Duration}
	return r, decode(reply.Output, r)
}

// Call runs one primitive by its name and returns its value. arguments is
// anything that encodes as a JSON object, nil for none. The errors of each
// primitive are listed in docs/reference/primitives.
func (t *Tab) Call(ctx context.Context, primitive string, arguments any) (json.RawMessage, error) {
	return t.invoke(ctx, primitive, arguments, false)
}

// invoke is Call. ownWords is set where this package, not the program, names the
// primitive: the profile Extension knows only those of the extension.
func (t *Tab) invoke(ctx context.Context, primitive string, arguments any, ownWords bool) (json.RawMessage, error) {
	reply, err := t.do(ctx, primitive, object(arguments), ownWords)
	if err != nil {
		return nil, err
	}
	return reply.Value(), nil
}

// State is a state projection at one moment.
type State struct {
	// Name is the projection's name.
	Name string `json:"projection"`
	// Hash is equal for equal values.
	Hash       string    `json:"state_hash"`
	ObservedAt time.Time `json:"observed_at"`
	// Value is the state, as the projection declares it.
	Value json.RawMessage `json:"state"`
}

// State reads the state projection name of the maps that apply to the page, as
// the page is now. Frequent errors: unknown_action, state_projection_failed,
// state_schema_validation_failed.
func (t *Tab) State(ctx context.Context, name string) (*State, error) {
	reply, err := t.site(ctx, runtime.Site{Mode: runtime.SiteStateRead, Projection: name})
	if err != nil {
		return nil, err
	}
	s := &State{}
	return s, decode(reply.Output, s)
}

// StateSummary reads one summary that the projection declares.
func (t *Tab) StateSummary(ctx context.Context, name, summary string) (json.RawMessage, error) {
	reply, err := t.site(ctx, runtime.Site{Mode: runtime.SiteStateSummary, Projection: name, Summary: summary})
	if err != nil {
		return nil, err
	}
	var s struct {
		Summary json.RawMessage `json:"summary"`
	}
	return s.Summary, decode(reply.Output, &s)
}

// rowsBytes is how much StateRows asks for at a time.
const rowsBytes = 1 << 20

// StateRows reads the items of a list in the state projection name, however many there are. pointer is the JSON pointer
// of the list in the state, such as "/lists". All items are of one moment: a loop of more than a minute for a megabyte
// ends with state_mismatch when the page has changed. An error ends the loop. Frequent errors are those of State, and
// invalid_input when there is no such list.
func (t *Tab) StateRows(ctx context.Context, name, pointer string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		arguments := runtime.Site{Mode: runtime.SiteStateRead, Projection: name, Rows: &pointer, MaxBytes: rowsBytes}
		for {
			var answer struct {
				Hash string `json:"state_hash"`
				Page struct {
					Next *int `json:"next_offset"`
				} `json:"page"`
				Rows []json.RawMessage `json:"rows"`
			}
			reply, err := t.site(ctx, arguments)
			if err == nil {
				err = decode(reply.Output, &answer)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, row := range answer.Rows {
				if !yield(row, nil) {
					return
				}
			}
			if answer.Page.Next == nil {
				return
			}
			arguments.Offset = *answer.Page.Next
			arguments.Hash = answer.Hash
		}
	}
}

// CallInto is Call for a value that is decoded into result, unless that is nil. The functions of package client
// call it.
func (t *Tab) CallInto(ctx context.Context, primitive string, arguments, result any) error {
	value, err := t.invoke(ctx, primitive, arguments, true)
	if err != nil || result == nil {
		return err
	}
	return decode(value, result)
}

// site calls the one tool of the maps, actions.site.
func (t *Tab) site(ctx context.Context, arguments runtime.Site) (runtime.Reply, error) {
	return t.do(ctx, runtime.SiteTool, arguments, false)
}

func (t *Tab) do(ctx context.Context, name string, arguments any, ownWords bool) (runtime.Reply, error) {
	if t == nil { // Session.Tab of a session that has none
		return runtime.Reply{}, fromFault(fault.New(fault.TabClosed, "the session has no tab, or is closed"))
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		return runtime.Reply{}, fromFault(
			fault.New(fault.InvalidInput, "the arguments of %s do not encode as JSON: %v", name, err),
		)
	}
	call := runtime.Call{
		ID:        uuid.NewString(),
		Name:      name,
		Arguments: raw,
		OwnWords:  ownWords,
		Target:    runtime.Target{Workspace: t.session.groupID(), RuntimeID: t.id},
		Punctual:  true,
	}
	own := ctx
	if _, ok := ctx.Deadline(); ok {
		call.Timeout = timeOf(ctx)
		if call.Timeout <= 0 {
			return runtime.Reply{}, fromFault(context.DeadlineExceeded)
		}
		// The runtime keeps the deadline and knows what the call was doing then. Only
		// a context that is cancelled ends the call from here.
		running, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		stop := context.AfterFunc(own, func() {
			if errors.Is(own.Err(), context.Canceled) {
				cancel()
			}
		})
		defer stop()
		ctx = running
	}
	reply := t.session.host.Do(ctx, call)
	if reply.Err != nil {
		err := endedBy(own, call.Timeout, reply.Err).(*Error)
		err.Steps = reply.Steps
		if err.ended != nil && (err.Code == Code(fault.HandlerTimeout) || err.Code == Code(fault.Cancelled)) {
			err.Message = name + ": " + err.Message
		}
		return reply, err
	}
	return reply, nil
}

// object is arguments, or an empty object for nil.
func object(arguments any) any {
	if arguments == nil {
		return struct{}{}
	}
	return arguments
}

func decode(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fromFault(fault.Wrap(fault.InvalidResult, err, "decoding the answer"))
	}
	return nil
}
