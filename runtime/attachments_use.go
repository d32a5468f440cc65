package runtime

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// attachmentCalled is the payload of AttachmentCalledEvent.
type attachmentCalled struct {
	Attachment string          `json:"attachment_id"`
	Tool       string          `json:"tool"`
	CallID     string          `json:"call_id"`
	How        string          `json:"how"` // click, keys
	OK         bool            `json:"ok"`
	Output     json.RawMessage `json:"output,omitempty"`
	Truncated  bool            `json:"truncated,omitempty"` // the output was too large to tell
	Error      json.RawMessage `json:"error,omitempty"`
}

// activate calls the tool that an attachment opens, in the tab's queue like any
// other call, and says how it ended. While it runs a second press does nothing.
func (t *Tab) activate(r attachedRow, how string) {
	t.reportAttachment(r, r, "activated", how)
	f := r.attachment.Affordance
	if f == nil || f.Opens == nil {
		return
	}
	a := &t.attachments
	a.mu.Lock()
	if a.pending == nil {
		a.pending = map[string]bool{}
	}
	if a.pending[r.id] {
		a.mu.Unlock()
		return
	}
	a.pending[r.id] = true
	a.mu.Unlock()
	msg, from := t.opened(r, f.Opens)
	status := t.Status()
	msg.ID = "attachment-" + t.host.opts.NewID()
	msg.Target = Target{RuntimeID: status.RuntimeID, Workspace: status.Workspace}
	t.host.acceptFrom(from, msg, func(reply Reply) {
		a.mu.Lock()
		delete(a.pending, r.id)
		a.mu.Unlock()
		t.tellCalled(r, f.Opens.Tool, how, reply)
	})
}

// opened is the call that opening a tool means: a tool of the map that declares
// the attachment, or else one of the runtime's own such as overlay.open.
func (t *Tab) opened(r attachedRow, opens *manifest.Opens) (msg Call, from *sites.Map) {
	arguments := opens.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	if r.in.Manifest.Tool(opens.Tool) == nil && t.host.opts.Maps.Known(opens.Tool) {
		return Call{Name: opens.Tool, Arguments: arguments}, r.in
	}
	name := opens.Tool
	if o := t.host.opts.Maps.At(t.Status().URL); o.Library != nil {
		if c := o.Library.Composition(r.via); c != nil {
			for i := range c.Tools {
				if e := &c.Tools[i]; e.Source.Map == r.in && e.Entry.Name == opens.Tool {
					name = e.Name
				}
			}
		}
	}
	return Call{Name: SiteTool, Arguments: call.JSON(map[string]any{"mode": "call", "action": name, "arguments": arguments})}, nil
}

// tellCalled says how the tool of an attachment ended: on the affordance, and as
// an event.
func (t *Tab) tellCalled(r attachedRow, tool, how string, reply Reply) {
	out := attachmentCalled{Attachment: r.id, Tool: tool, CallID: reply.ID, How: how, OK: reply.Err == nil, Output: reply.Output}
	text := ""
	if reply.Err != nil {
		text = string(reply.Err.Code)
		out.Error = call.JSON(reply.Err)
	} else if v := call.ValueOf(reply.Output); json.Unmarshal(v, &text) != nil {
		text = ""
	}
	if len(out.Output)+len(out.Error) > maxEventBytes {
		out.Output, out.Error, out.Truncated = nil, nil, true
	}
	t.host.mu.Lock()
	if !t.host.closed {
		t.host.life.Go(func() {
			if page, err := t.LivePage(t.host.ctx); err == nil {
				bounded, cancel := context.WithTimeout(t.host.ctx, attachSilence)
				defer cancel()
				_ = page.Call(bounded, r.frame, "attachment_result", map[string]any{"id": r.id, "ok": out.OK, "text": fault.Clip(text, maxAffordanceText)}, nil)
			}
		})
	}
	t.host.mu.Unlock()
	t.host.emit(Event{
		Kind: DOMEvent, Tab: t.Status(), Name: AttachmentCalledEvent, PageEvent: AttachmentCalledEvent,
		Payload: call.JSON(out), PreviousCallID: reply.ID,
	})
}

// reportAttachment emits the signals that an attachment declares for what
// happened: those under its name, installed and removed when it came and went,
// and those of a plain list when it was used.
func (t *Tab) reportAttachment(r, was attachedRow, what, how string) {
	for _, key := range slices.Sorted(maps.Keys(r.attachment.Signals)) {
		plain := strings.Trim(key, "0123456789") == ""
		used := what == "activated" && (key == "opened" || key == "clicked" || key == "activation")
		came := key == "installed" && what != "activated" && r.instances > 0 && was.instances == 0
		went := key == "removed" && what != "activated" && r.instances == 0 && was.instances > 0
		if key != what && !used && !came && !went && !(plain && what == "activated") {
			continue
		}
		o := t.host.opts.Maps.At(t.Status().URL)
		if o.Library == nil {
			return
		}
		c := o.Library.Composition(r.via)
		for i := range c.Signals {
			e := &c.Signals[i]
			if e.Source.Map != r.in || e.Entry.Name != r.attachment.Signals[key] {
				continue
			}
			s := offeredSignal{e.Name, e.Entry, r.in, r.via}
			if !t.listensTo(s) {
				continue
			}
			full := map[string]any{"attachment_id": r.id, "launcher_id": r.attachment.ID, "kind": r.attachment.Kind, "state": r.state, "reported": what}
			if how != "" {
				full["how"] = how
			}
			if f := r.attachment.Affordance; f != nil && f.Opens != nil {
				full["tool"] = f.Opens.Tool
			}
			t.mu.Lock()
			rep := report{call: t.lastCall, runtime: t.statusNow()}
			t.mu.Unlock()
			t.forward(s, rep, e.Entry.Event, "", call.JSON(allowed(full, e.Entry.Payload)))
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
