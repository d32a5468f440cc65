package page

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type pageEvaluateIn struct {
	Body        string `json:"body"`
	Dialogs     string `json:"dialogs"`
	TimeoutMS   int    `json:"timeout_ms"`
	UserGesture bool   `json:"user_gesture"`
}

type pageEvaluateOut struct {
	Type        string   `json:"type"`
	Description string   `json:"description,omitempty"`
	Dialogs     []string `json:"dialogs,omitempty"`
}

// pageEvaluate runs the body of a function in the page's own world.
var pageEvaluate = primitives.Define("page.evaluate", func(
	ctx context.Context, p primitives.Page, in pageEvaluateIn,
) (json.RawMessage, error) {
	limit := time.Duration(in.TimeoutMS) * time.Millisecond
	if in.TimeoutMS == 0 {
		limit = 10 * time.Second
	}
	own, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	v, err := p.EvaluateValue(own, "(() => {\n"+in.Body+"\n})()", primitives.EvaluateOptions{
		AnswerDialogs: in.Dialogs == "answer",
		Structured:    strings.ContainsAny(in.Body, "{["),
		UserGesture:   in.UserGesture,
	})
	if err != nil {
		if own.Err() != nil && ctx.Err() == nil {
			err = fault.Wrap(fault.Timeout, err, "the script did not end within %s", limit)
		}
		return nil, err
	}
	out, err := json.Marshal(pageEvaluateOut{v.Type, v.Description, v.Dialogs})
	if err != nil {
		return nil, fault.Translate(fault.Internal, err, "encoding the answer")
	}
	if v.Value != nil { // as it came: to encode it once more costs as much as to read it
		out = append(append(append(slices.Grow(out, len(v.Value)+16)[:len(out)-1], `,"value":`...), v.Value...), '}')
	}
	return out, nil
})
