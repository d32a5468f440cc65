package siteaction

import (
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
)

// defaultScroll is how far a scroll without amount moves, in CSS pixels.
const defaultScroll = 600

// scroll brings the target into view, or, with a direction or a distance, moves
// the region that the target names, or the page.
func (r *executionRun) scroll(s *plannedStep) (json.RawMessage, *fault.Error) {
	far := s.Direction != "" || s.DeltaX != nil || s.DeltaY != nil || s.Amount != nil
	if !far && s.target != nil && s.Until == nil {
		info, _, err := r.elementInfo(s)
		if err != nil {
			return nil, err
		}
		return call.JSON(map[string]any{"scrolled_to": info.Box}), nil
	}
	args := map[string]any{}
	amount := float64(defaultScroll)
	if s.Amount != nil {
		amount = *s.Amount
	}
	switch s.Direction {
	case "up":
		args["delta_y"] = -amount
	case "left":
		args["delta_x"] = -amount
	case "right":
		args["delta_x"] = amount
	default:
		args["delta_y"] = amount
	}
	if s.DeltaX != nil || s.DeltaY != nil {
		args = map[string]any{}
		if s.DeltaX != nil {
			args["delta_x"] = *s.DeltaX
		}
		if s.DeltaY != nil {
			args["delta_y"] = *s.DeltaY
		}
	}
	if s.target != nil {
		f, err := r.find(s, false)
		if err != nil {
			return nil, err
		}
		scope := map[string]any{}
		for _, name := range []string{"selector", "frame", "text_equals", "text_contains"} {
			if v, ok := f.all[name]; ok {
				scope[name] = v
			}
		}
		args["scope"] = scope
	}
	out, err := r.invoke("viewport.scroll", args)
	if err != nil && err.Code == fault.TargetNotScrollable && s.Until != nil {
		return nil, nil // the end is reached: until decides
	}
	return out, err
}
