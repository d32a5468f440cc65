package attach

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/signal"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// called is the payload of CalledEvent.
type called struct {
	Attachment string          `json:"attachment_id"`
	Tool       string          `json:"tool"`
	CallID     string          `json:"call_id"`
	How        string          `json:"how"` // click, keys
	OK         bool            `json:"ok"`
	Output     json.RawMessage `json:"output,omitempty"`
	Truncated  bool            `json:"truncated,omitempty"` // the output was too large for the event
	Error      json.RawMessage `json:"error,omitempty"`
}

// activate calls the tool that an attachment opens, in the tab's queue like any
// other call, and says how it ended. While it runs a second use does nothing.
func (t *Attachments) activate(r attachedRow, how string) {
	t.report(r, r, "activated", how)
	f := r.attachment.Affordance
	if f == nil || f.Opens == nil {
		return
	}
	t.mu.Lock()
	if t.pending == nil {
		t.pending = map[string]bool{}
	}
	if t.pending[r.ID] {
		t.mu.Unlock()
		return
	}
	t.pending[r.ID] = true
	t.mu.Unlock()
	msg, from := t.opened(r, f.Opens)
	status := t.tab.Status()
	msg.ID = "attachment-" + t.NewID()
	msg.Target = call.Target{RuntimeID: status.RuntimeID, Workspace: status.Workspace}
	t.Accept(from, msg, func(reply call.Reply) {
		t.mu.Lock()
		delete(t.pending, r.ID)
		t.mu.Unlock()
		t.reportCalled(r, f.Opens.Tool, how, reply)
	})
}

// opened is the call that opening a tool means: a tool of the map that declares
// the attachment, or else one of the runtime's own such as overlay.open.
func (t *Attachments) opened(r attachedRow, opens *manifest.Opens) (msg call.Call, from *sites.Map) {
	arguments := opens.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	if r.in.Manifest.Tool(opens.Tool) == nil && t.Maps.Known(opens.Tool) {
		return call.Call{Name: opens.Tool, Arguments: arguments}, r.in
	}
	name := opens.Tool
	if o := t.Maps.At(t.tab.Status().URL); o.Library != nil {
		if c := o.Library.Composition(r.via); c != nil {
			for i := range c.Tools {
				if e := &c.Tools[i]; e.Source.Map == r.in && e.Entry.Name == opens.Tool {
					name = e.Name
				}
			}
		}
	}
	return call.Call{
		Name:      call.SiteTool,
		Arguments: call.JSON(call.Site{Mode: call.CallAction, Action: name, Arguments: arguments}),
	}, nil
}

// reportCalled says how the tool of an attachment ended: on the affordance, and as
// an event.
func (t *Attachments) reportCalled(r attachedRow, tool, how string, reply call.Reply) {
	out := called{
		Attachment: r.ID,
		Tool:       tool,
		CallID:     reply.ID,
		How:        how,
		OK:         reply.Err == nil,
		Output:     reply.Output,
	}
	text := ""
	if reply.Err != nil {
		text = string(reply.Err.Code)
		out.Error = call.JSON(reply.Err)
	} else if v := call.ValueOf(reply.Output); json.Unmarshal(v, &text) != nil {
		text = ""
	}
	if len(out.Output)+len(out.Error) > maxEventBytes {
		out.Output = nil
		out.Error = nil
		out.Truncated = true
	}
	t.tab.Go(func() {
		if page, err := t.tab.LivePage(t.tab.Context()); err == nil {
			bounded, cancel := context.WithTimeout(t.tab.Context(), attachIdleTime)
			defer cancel()
			_ = page.Call(
				bounded, r.frame, "attachment_result",
				map[string]any{"id": r.ID, "ok": out.OK, "text": fault.Clip(text, maxAffordanceText)}, nil,
			)
		}
	})
	t.tab.Emit(call.Event{
		Kind:           call.DOMEvent,
		Tab:            t.tab.Status(),
		Name:           CalledEvent,
		PageEvent:      CalledEvent,
		Payload:        call.JSON(out),
		PreviousCallID: reply.ID,
	})
}

// report emits the signals that an attachment declares for what
// happened: those under its name, installed and removed when it came and went,
// and those of a plain list when it was used.
func (t *Attachments) report(r, was attachedRow, what, how string) {
	for _, key := range slices.Sorted(maps.Keys(r.attachment.Signals)) {
		plain := strings.Trim(key, "0123456789") == ""
		used := what == "activated" && (key == "opened" || key == "clicked" || key == "activation")
		came := key == "installed" && what != "activated" && r.instances > 0 && was.instances == 0
		went := key == "removed" && what != "activated" && r.instances == 0 && was.instances > 0
		activated := plain && what == "activated"
		if key != what && !used && !came && !went && !activated {
			continue
		}
		o := t.Maps.At(t.tab.Status().URL)
		if o.Library == nil {
			return
		}
		c := o.Library.Composition(r.via)
		for i := range c.Signals {
			e := &c.Signals[i]
			if e.Source.Map != r.in || e.Entry.Name != r.attachment.Signals[key] {
				continue
			}
			s := signal.Offered{Name: e.Name, Signal: e.Entry, In: r.in, Via: r.via}
			if !t.signals.ListensTo(s) {
				continue
			}
			full := map[string]any{
				"attachment_id": r.ID,
				"launcher_id":   r.attachment.ID,
				"kind":          r.attachment.Kind,
				"state":         r.state,
				"reported":      what,
			}
			if how != "" {
				full["how"] = how
			}
			if f := r.attachment.Affordance; f != nil && f.Opens != nil {
				full["tool"] = f.Opens.Tool
			}
			t.signals.Forward(s, call.JSON(allowed(full, e.Entry.Payload)))
		}
	}
}

// allowed leaves out what a closed schema does not name.
func allowed(full map[string]any, payload json.RawMessage) map[string]any {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		More       *bool                      `json:"additionalProperties"`
	}
	if json.Unmarshal(payload, &schema) != nil || schema.More == nil || *schema.More {
		return full
	}
	out := map[string]any{}
	for k, v := range full {
		if schema.Properties[k] != nil {
			out[k] = v
		}
	}
	return out
}
