package locator

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type locatorReadIn struct {
	Locator     Locator              `json:"locator"`
	Limit       int                  `json:"limit"`
	Attributes  []string             `json:"attributes"`
	CSS         []string             `json:"css"`
	Fields      map[string]readField `json:"fields"`
	ChangedFrom *string              `json:"changed_from"`
	TimeoutMS   int                  `json:"timeout_ms"`
}

// readField is a part of an element that is read with it.
type readField struct {
	Selector  string               `json:"selector,omitempty"`
	Attribute string               `json:"attribute,omitempty"`
	HTML      bool                 `json:"html,omitempty"`
	All       bool                 `json:"all,omitempty"`
	Fields    map[string]readField `json:"fields,omitempty"`
}

type locatorReadOut struct {
	Count    int               `json:"count"`
	State    string            `json:"state"`
	Elements []json.RawMessage `json:"elements"`
	Looked   map[string]any    `json:"looked,omitempty"`
}

const (
	// readNone is the state of no match.
	readNone = "none"
	// readSlice bounds how long one page call waits: then closed shadow roots are searched again.
	readSlice = time.Second
)

// locatorRead waits in the page, across navigations, as locator.wait_for does.
var locatorRead = primitives.Define("locator.read", func(
	ctx context.Context, p primitives.Page, in locatorReadIn,
) (locatorReadOut, error) {
	deadline := time.Now().Add(time.Duration(in.TimeoutMS) * time.Millisecond)
	for {
		left := time.Duration(0)
		if in.ChangedFrom != nil {
			left = max(0, time.Until(deadline))
		}
		out, err := in.once(ctx, p, left)
		if err == nil && (left == 0 || out.State != *in.ChangedFrom) {
			return out, nil
		}
		code := fault.CodeOf(err)
		switch {
		case err == nil: // a slice ended
			if out.Count == 0 && !primitives.Pause(ctx, FrameRetry) {
				return out, nil
			}
		case ctx.Err() != nil || left == 0:
			return out, err
		case code == fault.PageNavigated:
		case IsFrameFault(code) && len(in.Locator.Frame) > 0:
			if !primitives.Pause(ctx, FrameRetry) {
				return out, err
			}
		default:
			return out, err
		}
	}
})

// once reads in the document that is there, and waits there for a change.
func (in locatorReadIn) once(ctx context.Context, p primitives.Page, left time.Duration) (locatorReadOut, error) {
	var out locatorReadOut
	at, err := in.Locator.Enter(ctx, p)
	if err != nil {
		return out, err
	}
	left = min(left, readSlice)
	if at.View != nil {
		left = min(left, ViewSlice)
	}
	args := map[string]any{
		"locator": in.Locator, "limit": in.Limit, "attributes": in.Attributes, "css": in.CSS, "fields": in.Fields,
	}
	if at.View != nil {
		args["view"] = at.View
	}
	if in.ChangedFrom != nil && left > 0 {
		args["changed_from"], args["timeout_ms"] = *in.ChangedFrom, left.Milliseconds()
	}
	err = in.Locator.EvaluateIn(ctx, p, at.Frame, "locator_read", args, &out)
	var missed *fault.Error
	if IsMiss(err) && errors.As(err, &missed) {
		return locatorReadOut{State: readNone, Elements: []json.RawMessage{}, Looked: missed.Evidence}, nil
	}
	return out, err
}
