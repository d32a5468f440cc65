package runtime

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/evidence/mask"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/picture"
)

// takesSecrets are the arguments in which a placeholder is replaced by its secret. They
// go into a field, a prompt or a cookie, and no script sees them before.
var takesSecrets = map[string][]string{
	"text.insert": {"text"}, "text.type": {"text"}, "browser.dismiss_dialog": {"prompt_text"}, "cookie.set": {"cookies"},
}

// reveal puts the secrets into the arguments of a primitive. Only those are revealed
// that the call itself names: neither a map nor a page can ask for one.
func (h *Host) reveal(named json.RawMessage, address, name string, args json.RawMessage) (json.RawMessage, *fault.Error) {
	secrets := h.opts.Secrets
	if secrets.Empty() || !secrets.Uses(string(args)) {
		return args, nil
	}
	for _, used := range mask.Used(string(args)) {
		if !secrets.Uses(mask.Placeholder(used)) || strings.Contains(string(named), mask.Placeholder(used)) {
			continue
		}
		return nil, fault.New(fault.PermissionDenied, "the call does not name the secret %s, so it is not typed", used).
			Next("give the placeholder in the arguments of the call")
	}
	var members map[string]any
	if err := json.Unmarshal(args, &members); err != nil {
		return args, nil // Invoke says what is wrong
	}
	if trusted, _ := members["trusted"].(bool); name == "text.type" && trusted {
		secrets.TypedByKeys(mask.Used(string(args))...)
	}
	for member, value := range members {
		taken := slices.Contains(takesSecrets[name], member)
		out, err := mapStrings(value, func(text string) (string, error) {
			if !taken {
				if secrets.Uses(text) {
					return "", fault.New(fault.InvalidInput, "%s takes no secret in %s", name, member).
						With("takes_secrets", slices.Sorted(maps.Keys(takesSecrets)))
				}
				return text, nil
			}
			return secrets.Reveal(text, address)
		})
		if err != nil {
			return nil, fault.From(err)
		}
		members[member] = out
	}
	out, err := json.Marshal(members)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encoding the arguments")
	}
	return out, nil
}

func mapStrings(v any, change func(string) (string, error)) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			if v[i], err = mapStrings(v[i], change); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = mapStrings(v[k], change); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// hideResult masks what a primitive answers, before a workflow or a caller has it.
func (h *Host) hideResult(r primitives.Result) primitives.Result {
	if s := h.opts.Secrets; !s.Empty() {
		r.Payload, r.Effects, r.Err = s.FromPage(r.Payload), s.FromPage(r.Effects), s.Fault(r.Err)
	}
	return r
}

// hideReply masks an answer on its way out: projections and checks read the page
// without a primitive.
func (h *Host) hideReply(r Reply) Reply {
	if s := h.opts.Secrets; !s.Empty() {
		r.Output, r.Answer, r.Steps, r.URL, r.Err = s.MaskJSON(r.Output), s.MaskJSON(r.Answer), s.MaskJSON(r.Steps), s.Mask(r.URL), s.Fault(r.Err)
	}
	return r
}

func (h *Host) hideEvent(e Event) Event {
	if s := h.opts.Secrets; !s.Empty() {
		e.Payload, e.URL, e.Tab = s.FromPage(e.Payload), s.Mask(e.URL), h.hideStatus(e.Tab)
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
func (p sessionPage) Capture(ctx context.Context, opts primitives.CaptureOptions) (primitives.Picture, error) {
	return picture.Capture(ctx, p.Page, p.session.host.opts.Secrets, opts)
}
