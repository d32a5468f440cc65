package runtime

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/screenshot"
)

// hideResult masks what a primitive answers, before a workflow or a caller has it.
func (h *Host) hideResult(r primitives.Result) primitives.Result {
	if s := h.opts.Secrets; !s.Empty() {
		r.Payload = s.FromPage(r.Payload)
		r.Effects = s.FromPage(r.Effects)
		r.Err = s.Fault(r.Err)
	}
	return r
}

// hideReply masks an answer on its way out: projections and checks read the page
// without a primitive. What a judgement of maps has for members is ours, so their names and
// numbers tell nothing of the page.
func (h *Host) hideReply(r Reply, of Call) Reply {
	s := h.opts.Secrets
	if s.Empty() {
		return r
	}
	output := s.MaskJSON
	if judges(of) {
		output = s.MaskStrings
	}
	r = r.WithOutput(output(r.Output))
	r.Answer = s.MaskJSON(r.Answer)
	r.Steps = s.MaskStrings(r.Steps)
	r.URL = s.Mask(r.URL)
	r.Err = s.Fault(r.Err)
	r.Remembered, r.Repairs = s.MaskStrings(r.Remembered), s.MaskStrings(r.Repairs)
	return r
}

// judges reports whether a call is about maps and not about what a page holds.
func judges(c Call) bool {
	var in struct {
		Mode string `json:"mode"`
	}
	return c.Name == SiteTool && json.Unmarshal(c.Arguments, &in) == nil && (in.Mode == "check" || in.Mode == "list")
}

func (h *Host) hideEvent(e Event) Event {
	if s := h.opts.Secrets; !s.Empty() {
		e.Payload = s.FromPage(e.Payload)
		e.URL = s.Mask(e.URL)
		e.Tab = h.hideStatus(e.Tab)
	}
	return e
}

func (h *Host) hideStatus(t TabStatus) TabStatus {
	if s := h.opts.Secrets; !s.Empty() {
		t.URL, t.Title = s.Mask(t.URL), s.Mask(t.Title)
	}
	return t
}

// Capture implements primitives.Page: pictures show no secret.
func (p sessionPage) Capture(ctx context.Context, opts primitives.CaptureOptions) (primitives.Image, error) {
	return screenshot.Capture(ctx, p.Page, p.session.host.opts.Secrets, opts)
}
