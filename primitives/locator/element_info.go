package locator

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type locatorElementInfoIn struct {
	Locator    Locator `json:"locator"`
	AutoScroll *bool   `json:"auto_scroll"`
	TimeoutMS  int     `json:"timeout_ms"`
}

// elementInRound is one probe of the target by the page library, inside one
// frame.
type elementInRound struct {
	Info      json.RawMessage `json:"info"`
	Usable    bool            `json:"usable"`
	Clickable bool            `json:"clickable"`
	Reason    string          `json:"reason"`
	Part      ClipRect        `json:"part"`
}

// elementInfoParts are the members of the answer that composing frames needs.
type elementInfoParts struct {
	Center *struct {
		X float64 `json:"x"`
		Y float64 `json:"y"`
	} `json:"clickable_center"`
	Initial    json.RawMessage   `json:"initial_visibility"`
	Visibility json.RawMessage   `json:"visibility"`
	Performed  []json.RawMessage `json:"scroll_operations_performed"`
}

// locatorElementInfo is the keystone of clicks: one call resolves, scrolls into
// view, waits until the element is still and hit-tests. In a frame each
// ancestor is queried in turn, because only it knows what lies over the frame.
var locatorElementInfo = primitives.Define("locator.element_info", func(
	ctx context.Context, p primitives.Page, in locatorElementInfoIn,
) (json.RawMessage, error) {
	args := map[string]any{"locator": in.Locator}
	if in.AutoScroll != nil {
		args["auto_scroll"] = *in.AutoScroll
	}
	in.TimeoutMS = min(in.TimeoutMS, int(waitLongest.Milliseconds()))
	if in.TimeoutMS > 0 {
		args["timeout_ms"] = in.TimeoutMS
	}
	if len(in.Locator.Frame) == 0 && in.Locator.Ref == "" {
		var out json.RawMessage
		err := in.Locator.EvaluateIn(ctx, p, "", "element_info", args, &out)
		return out, err
	}
	return elementInfoInFrame(ctx, p, in, args)
})

func elementInfoInFrame(
	ctx context.Context, p primitives.Page, in locatorElementInfoIn, args map[string]any,
) (json.RawMessage, error) {
	at, err := in.Locator.Enter(ctx, p)
	if err != nil {
		return nil, err
	}
	scroll := in.AutoScroll == nil || *in.AutoScroll
	args["partial"] = true
	delete(args, "timeout_ms")
	var (
		round    elementInRound
		parts    elementInfoParts
		occluder json.RawMessage
	)
	for attempt := 0; ; attempt++ {
		args["view"] = at.View
		round = elementInRound{}
		if err := in.Locator.EvaluateIn(ctx, p, at.Frame, "element_info", args, &round); err != nil {
			return nil, err
		}
		parts = elementInfoParts{}
		if err := json.Unmarshal(round.Info, &parts); err != nil {
			return nil, err
		}
		reached := false
		occluder = nil
		if round.Clickable && parts.Center != nil {
			reached, occluder, err = at.HitTest(ctx, p, parts.Center.X, parts.Center.Y)
			if err != nil {
				return nil, err
			}
		}
		if reached && (round.Usable || !scroll || attempt > 0) {
			return round.Info, nil
		}
		if attempt > 0 || !scroll {
			break
		}
		moved, err := at.Reveal(ctx, p, round.Part)
		if err != nil {
			return nil, err
		}
		args["initial"] = parts.Initial
		args["performed"] = append(parts.Performed, moved...)
		if in.TimeoutMS > 0 && occluder == nil {
			args["timeout_ms"] = in.TimeoutMS // what is in the way lies in the frame and may pass
		}
	}
	reason := round.Reason
	if occluder != nil {
		reason = "the frame is covered where the element is"
	}
	e := fault.New(fault.TargetNotActionable, "%s", reason).
		With("locator", in.Locator).With("initial_visibility", parts.Initial).
		With("visibility", parts.Visibility).With("scroll_operations_performed", parts.Performed)
	if occluder != nil {
		e.With("occluded_by", occluder)
	}
	return nil, e
}
