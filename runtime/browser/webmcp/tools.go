// Package webmcp knows the tools that the documents of a tab declare for agents, and runs them: the domain WebMCP of
// the browser's protocol, which Chromium has behind a feature. It checks no input and believes no hint. A tab calls it.
package webmcp

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/pagetool"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

const (
	// maxTools bounds the tools of a tab; those that come later are counted.
	maxTools = 500
	// maxDescription and maxSchema bound the texts of one, in bytes. A tool with a longer schema has none.
	maxDescription = 4 << 10
	maxSchema      = 64 << 10
	// formAnswer is how long a form that is not sent by itself may take to refuse its input.
	formAnswer = 100 * time.Millisecond
	// maxReports bounds how often a page reports that its tools have changed.
	maxReports = 20
)

// Tab is the tab whose documents declare tools.
type Tab interface {
	Lifetime() *cdp.Lifetime
}

// Tools are the tools of one tab. It is safe for concurrent use.
type Tools struct {
	client  *cdp.Client
	tab     Tab
	changed func()

	mu      sync.Mutex
	reports int // of the main document
	last    int64
	tools   []tool
	more    int                    // that there was no room for
	pending map[string]*invocation // by its id
}

type tool struct {
	pagetool.Tool
	session *cdp.Session
}

// invocation is a call that has not been answered.
type invocation struct {
	frame    string
	answered chan pagetool.Result // capacity 1
	gone     chan struct{}        // closed with its frame
}

// New makes the tools of a tab. changed is called by the reader when they have changed, at most 20 times for a document
// of the tab: it must not wait for anything.
func New(client *cdp.Client, tab Tab, changed func()) *Tools {
	return &Tools{
		client:  client,
		tab:     tab,
		changed: changed,
		pending: map[string]*invocation{},
	}
}

// SessionCommands are those with which a new session of the tab takes part.
func (t *Tools) SessionCommands(s *cdp.Session) []cdp.Command {
	if t == nil {
		return nil
	}
	return []cdp.Command{{Session: s.ID, Method: "WebMCP.enable", OnReply: t.client.LogFailure("WebMCP.enable")}}
}

// List are the tools of the documents that are there. more counts those that there was no room for.
func (t *Tools) List() (tools []pagetool.Tool, more int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.tools {
		if !detached(one.session) {
			tools = append(tools, one.Tool)
		}
	}
	return tools, t.more
}

func detached(s *cdp.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// HandleEvent takes an event of the domain. The reader calls it.
func (t *Tools) HandleEvent(s *cdp.Session, method, params []byte) {
	switch string(method) {
	case "WebMCP.toolsAdded":
		t.added(s, params)
		t.report()
	case "WebMCP.toolsRemoved":
		t.removed(params)
		t.report()
	case "WebMCP.toolResponded":
		t.responded(params)
	}
}

func (t *Tools) report() {
	t.mu.Lock()
	t.reports++
	told := t.reports <= maxReports
	t.mu.Unlock()
	if told {
		t.changed()
	}
}

type toolEvent struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	FrameID     string          `json:"frameId"`
	Node        int             `json:"backendNodeId"`
	Annotations struct {
		ReadOnly      bool `json:"readOnly"`
		Untrusted     bool `json:"untrustedContent"`
		Consequential bool `json:"consequential"`
		Autosubmit    bool `json:"autosubmit"`
	} `json:"annotations"`
}

func (t *Tools) added(s *cdp.Session, params []byte) {
	var e struct {
		Tools []toolEvent `json:"tools"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, in := range e.Tools {
		frame := in.FrameID
		t.drop(func(old tool) bool { return old.Frame == frame && old.Name == in.Name })
		if len(t.tools) >= maxTools {
			t.more++
			continue
		}
		t.last++
		one := tool{session: s, Tool: pagetool.Tool{
			ID:            t.last,
			Frame:         frame,
			Name:          in.Name,
			Description:   primitives.CutText(in.Description, maxDescription),
			InputSchema:   slices.Clone(in.InputSchema),
			Form:          in.Node != 0,
			Autosubmit:    in.Annotations.Autosubmit,
			ReadOnly:      in.Annotations.ReadOnly,
			Untrusted:     in.Annotations.Untrusted,
			Consequential: in.Annotations.Consequential,
		}}
		if len(in.InputSchema) > maxSchema {
			one.InputSchema = json.RawMessage("false") // nothing matches what was not read
		}
		t.tools = append(t.tools, one)
	}
}

// drop removes tools; t.mu is held.
func (t *Tools) drop(which func(tool) bool) { t.tools = slices.DeleteFunc(t.tools, which) }

func (t *Tools) removed(params []byte) {
	var e struct {
		Tools []struct {
			Name    string `json:"name"`
			FrameID string `json:"frameId"`
		} `json:"tools"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, gone := range e.Tools {
		t.drop(func(old tool) bool { return old.Name == gone.Name && old.Frame == gone.FrameID })
	}
}

// Navigated forgets the tools of a frame that shows another document: the browser reports only those that come. The
// reader calls it.
func (t *Tools) Navigated(params []byte) {
	if t == nil {
		return
	}
	frame := string(cdp.PlainString(cdp.Member(cdp.Member(params, "frame"), "id")))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(func(old tool) bool { return old.Frame == frame })
	if len(cdp.Member(cdp.Member(params, "frame"), "parentId")) == 0 {
		t.more, t.reports = 0, 0
	}
}

// Detached forgets a frame that was removed, and ends the calls of its tools: the browser answers none of them. The
// reader calls it.
func (t *Tools) Detached(params []byte) {
	if t == nil || string(cdp.PlainString(cdp.Member(params, "reason"))) == "swap" {
		return
	}
	frame := string(cdp.PlainString(cdp.Member(params, "frameId")))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(func(old tool) bool { return old.Frame == frame })
	for id, call := range t.pending {
		if call.frame == frame {
			delete(t.pending, id)
			close(call.gone)
		}
	}
}

func (t *Tools) responded(params []byte) {
	var e struct {
		InvocationID string          `json:"invocationId"`
		Status       string          `json:"status"`
		Output       json.RawMessage `json:"output"`
		ErrorText    string          `json:"errorText"`
		Exception    *struct {
			Description string          `json:"description"`
			Value       json.RawMessage `json:"value"`
		} `json:"exception"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	t.mu.Lock()
	call := t.pending[e.InvocationID]
	delete(t.pending, e.InvocationID) // a tool that answers and navigates is answered twice
	t.mu.Unlock()
	if call == nil {
		return
	}
	out := pagetool.Result{Status: pagetool.Failed, Error: e.ErrorText}
	switch {
	case e.Status == "Completed":
		out.Status, out.Output = pagetool.Completed, slices.Clone(e.Output)
	case e.Status == "Canceled":
		out.Status = pagetool.Canceled
	case out.Error == "" && e.Exception != nil:
		out.Error = e.Exception.Description
		if out.Error == "" {
			out.Error = string(e.Exception.Value)
		}
	}
	out.Error = primitives.CutText(out.Error, maxDescription)
	call.answered <- out
}

// Invoke runs a tool and waits for what it gives. A call that ctx ends is cancelled, unless a dialog has ended it.
func (t *Tools) Invoke(
	ctx context.Context, which pagetool.Tool, input json.RawMessage,
) (pagetool.Result, error) {
	t.mu.Lock()
	i := slices.IndexFunc(t.tools, func(one tool) bool { return one.ID == which.ID })
	var session *cdp.Session
	if i >= 0 {
		session = t.tools[i].session
	}
	t.mu.Unlock()
	if session == nil {
		return pagetool.Result{}, missing(which.Name)
	}
	call := &invocation{
		frame:    which.Frame,
		answered: make(chan pagetool.Result, 1),
		gone:     make(chan struct{}),
	}
	id := ""
	begun := make(chan struct{})
	cmd, err := cdp.NewCommand(session.ID, "WebMCP.invokeTool", map[string]any{
		"frameId": which.Frame, "toolName": which.Name, "input": input,
	})
	if err != nil {
		return pagetool.Result{}, fault.Wrap(fault.InvalidInput, err, "encoding the input")
	}
	cmd.Observe = func(r cdp.Reply) { // the reader's: before the answer comes
		t.mu.Lock()
		defer t.mu.Unlock()
		id = string(cdp.PlainString(cdp.Member(r.Result, "invocationId")))
		if id != "" {
			t.pending[id] = call
		}
		close(begun)
	}
	calls, err := t.client.Start(ctx, cmd)
	if err != nil {
		return pagetool.Result{}, cdp.Explain(err, "calling a tool of the page")
	}
	if _, err := t.client.Await(ctx, t.tab.Lifetime(), calls[0]); err != nil {
		if message, ok := cdp.Message(err); ok && message == "Tool not found" {
			return pagetool.Result{}, missing(which.Name)
		}
		return pagetool.Result{}, fault.From(cdp.Explain(err, "calling a tool of the page")).
			With("input_sent", true)
	}
	<-begun
	return t.wait(ctx, session, call, id, which)
}

// wait waits for the answer to a call that has begun.
func (t *Tools) wait(
	ctx context.Context, session *cdp.Session, call *invocation, id string, which pagetool.Tool,
) (pagetool.Result, error) {
	var person <-chan time.Time
	if which.Form && !which.Autosubmit {
		timer := time.NewTimer(formAnswer)
		defer timer.Stop()
		person = timer.C
	}
	lifetime := t.tab.Lifetime()
	var failed *fault.Error
	select {
	case r := <-call.answered:
		return r, nil
	case <-person:
		return pagetool.Result{Status: pagetool.AwaitsSubmission}, nil
	case <-call.gone:
		failed = fault.New(fault.FrameNotFound, "the frame of the tool was removed before the tool answered")
	case <-session.Done():
		failed = fault.New(fault.FrameNotFound, "the frame of the tool is gone before the tool answered")
	case <-lifetime.Done():
		failed = fault.From(lifetime.Err())
	case <-ctx.Done():
		failed = fault.From(context.Cause(ctx))
		if failed.Code != fault.DialogOpen { // after a dialog the tool goes on
			params := cdp.Object("invocationId", id)
			t.client.Post(cdp.Command{Session: session.ID, Method: "WebMCP.cancelInvocation", Params: params})
		}
	}
	t.mu.Lock()
	delete(t.pending, id)
	t.mu.Unlock()
	return pagetool.Result{}, failed.With("input_sent", true).Next("read the page before you repeat it")
}

func missing(name string) *fault.Error {
	return fault.New(fault.TargetNotFound, "the page no longer declares this tool").With("tool", fault.Clip(name, 128)).
		Next("list the tools of the page again")
}
