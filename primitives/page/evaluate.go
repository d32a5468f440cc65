package page

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type pageEvaluateIn struct {
	Body      string `json:"body"`
	Dialogs   string `json:"dialogs"`
	TimeoutMS int    `json:"timeout_ms"`
}

type pageEvaluateOut struct {
	Type        string          `json:"type"`
	Value       json.RawMessage `json:"value,omitempty"`
	Description string          `json:"description,omitempty"`
	Dialogs     []string        `json:"dialogs,omitempty"`
}

// pageEvaluate runs the body of a function in the page's own world.
var pageEvaluate = primitives.Define("page.evaluate", func(ctx context.Context, p primitives.Page, in pageEvaluateIn) (pageEvaluateOut, error) {
	limit := time.Duration(in.TimeoutMS) * time.Millisecond
	if in.TimeoutMS == 0 {
		limit = 10 * time.Second
	}
	own, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	v, err := p.EvaluateValue(own, "(() => {\n"+in.Body+"\n})()", primitives.EvaluateOptions{
		AnswerDialogs: in.Dialogs == "answer", Structured: strings.ContainsAny(in.Body, "{["),
	})
	if err != nil {
		if own.Err() != nil && ctx.Err() == nil {
			err = fault.Wrap(fault.Timeout, err, "the script did not end within %s", limit)
		}
		return pageEvaluateOut{}, err
	}
	return pageEvaluateOut(v), nil
})
