package browser

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// maxException bounds what an error says of a script's exception, in bytes.
const maxException = 1000

// remoteObject is what an evaluation gave.
type remoteObject struct {
	Type           string          `json:"type"`
	Subtype        string          `json:"subtype"`
	Class          string          `json:"className"`
	Value          json.RawMessage `json:"value"`
	Unserializable string          `json:"unserializableValue"`
	Description    string          `json:"description"`
	ObjectID       string          `json:"objectId"`
}

type evaluation struct {
	Result    remoteObject `json:"result"`
	Exception *struct {
		Text      string       `json:"text"`
		Exception remoteObject `json:"exception"`
	} `json:"exceptionDetails"`
}

// Evaluate implements primitives.Page.
func (t *Tab) Evaluate(ctx context.Context, expression string) (json.RawMessage, error) {
	p, err := t.locate(ctx, "")
	if err != nil {
		return nil, t.b.explain(err, "evaluating a script")
	}
	params := map[string]any{"expression": expression, "awaitPromise": true, "userGesture": true, "objectGroup": "outrider.script"}
	if deadline, ok := ctx.Deadline(); ok {
		// Ends a script that never returns, which would hold the page's thread.
		params["timeout"] = max(1, time.Until(deadline).Milliseconds())
	}
	out, err := t.evaluate(ctx, p, "Runtime.evaluate", params)
	if stopped(ctx, err) {
		err = context.DeadlineExceeded
	}
	if err != nil {
		return nil, t.b.explain(err, "evaluating a script")
	}
	if out.Exception == nil && out.Result.ObjectID != "" {
		// A second question, so that a value that cannot be copied does not
		// cost the script's answer.
		object := out.Result
		copied, err := t.evaluate(ctx, p, "Runtime.callFunctionOn",
			map[string]any{"objectId": object.ObjectID, "functionDeclaration": "function(){return this}", "returnByValue": true})
		t.b.c.post(command{session: p.s.id, method: "Runtime.releaseObject", params: objectParam(object.ObjectID)})
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, t.b.explain(err, "reading the result of a script")
		case err != nil || object.Type == "function" || copied.Exception != nil:
			out.Result = remoteObject{Description: object.Description}
		default:
			out.Result = copied.Result
		}
	}
	if out.Exception != nil {
		if ctx.Err() != nil {
			return nil, t.b.explain(ctx.Err(), "evaluating a script")
		}
		return nil, out.failure()
	}
	switch r := out.Result; {
	case len(r.Value) > 0:
		return r.Value, nil
	case r.Unserializable != "":
		return json.Marshal(r.Unserializable)
	case r.Description != "":
		return json.Marshal(r.Description)
	}
	return json.RawMessage("null"), nil
}

// stopped reports whether err is what the browser says of a script that it ended at
// the deadline of ctx, which may be some milliseconds before we see it pass.
func stopped(ctx context.Context, err error) bool {
	var pe *protocolError
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < 100*time.Millisecond && errors.As(err, &pe) &&
		(pe.Message == "Execution was terminated" || pe.Message == "Internal error")
}

func objectParam(id string) json.RawMessage {
	return append(appendQuoted([]byte(`{"objectId":`), id), '}')
}

func (t *Tab) evaluate(ctx context.Context, p place, method string, params any) (evaluation, error) {
	var out evaluation
	cmd, err := newCommand(p.s.id, method, params)
	if err != nil {
		return out, err
	}
	calls, err := t.b.c.start(ctx, cmd)
	if err != nil {
		return out, err
	}
	result, err := t.awaitPage(ctx, p, calls[0])
	if err != nil {
		if err = t.classify(ctx, p, err); errors.Is(err, errStale) {
			err = fault.New(fault.PageNavigated, "the document was replaced during the call")
		}
		return out, err
	}
	if err := json.Unmarshal(result, &out); err != nil {
		return out, fault.Wrap(fault.Internal, err, "reading the answer to %s", method)
	}
	return out, nil
}
