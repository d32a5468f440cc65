package page

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// maxException bounds what an error quotes of a script's exception, in bytes.
const maxException = 1000

// maxThrown bounds what the message of an error has of it.
const maxThrown = 200

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

	written bool // the value is what asText made
}

// Evaluate implements primitives.Page.
func (p *Page) Evaluate(ctx context.Context, expression string) (json.RawMessage, error) {
	if err := p.Admit(ctx, ""); err != nil {
		return nil, err
	}
	at, err := p.resolveFrame(ctx, "")
	if err != nil {
		return nil, cdp.Explain(err, "evaluating a script")
	}
	out, err := p.evaluate(ctx, at, "Runtime.evaluate", scriptParams(ctx, fit+"("+expression+")", true))
	if stoppedAtDeadline(ctx, err) {
		err = context.DeadlineExceeded
	}
	if err != nil {
		return nil, cdp.Explain(err, "evaluating a script")
	}
	if out.Exception == nil && out.Result.ObjectID != "" {
		// A second call, so that a value that cannot be copied does not
		// cost the script's answer.
		object := out.Result
		copied, err := p.copy(ctx, at, object)
		p.client.Post(cdp.Command{
			Session: at.session.ID,
			Method:  "Runtime.releaseObject",
			Params:  objectParam(object.ObjectID),
		})
		switch {
		case err != nil && (ctx.Err() != nil || fault.CodeOf(err) == fault.PayloadTooLarge):
			return nil, cdp.Explain(err, "reading the result of a script")
		case err != nil || object.Type == "function" || copied.Exception != nil:
			out.Result = remoteObject{Description: object.Description}
		default:
			out.Result = copied.Result
		}
	}
	if out.Exception != nil {
		if ctx.Err() != nil {
			return nil, cdp.Explain(ctx.Err(), "evaluating a script")
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

// stoppedAtDeadline reports whether err is the browser's error for a script that it ended at
// the deadline of ctx, which may be some milliseconds before we see it pass.
func stoppedAtDeadline(ctx context.Context, err error) bool {
	var pe *cdp.Error
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < 100*time.Millisecond && errors.As(err, &pe) &&
		(pe.Message == "Execution was terminated" || pe.Message == "Internal error")
}

func objectParam(id string) json.RawMessage {
	return append(cdp.AppendQuoted([]byte(`{"objectId":`), id), '}')
}

func (p *Page) evaluate(ctx context.Context, at resolvedFrame, method string, params any) (evaluation, error) {
	var out evaluation
	cmd, err := cdp.NewCommand(at.session.ID, method, params)
	if err != nil {
		return out, err
	}
	calls, err := p.client.Start(ctx, cmd)
	if err != nil {
		return out, err
	}
	result, err := p.awaitPage(ctx, at, calls[0])
	if err != nil {
		err = p.classify(ctx, at, err)
		if errors.Is(err, errStale) {
			err = fault.New(fault.PageNavigated, "the document was replaced during the call")
		}
		return out, err
	}
	out, err = readEvaluation(result)
	if err != nil {
		return out, fault.Wrap(fault.Internal, err, "reading the answer to %s", method)
	}
	return out, nil
}

// scriptParams are those of Runtime.evaluate for a script of the caller. With gesture it counts
// as an act of the user, which costs as much as a third of a short script. The limit of time
// ends one that never returns, which would block the page's thread. A promise that never
// settles is not stopped by it, only by our own time.
func scriptParams(ctx context.Context, expression string, gesture bool) []byte {
	b := make([]byte, 0, 160+len(expression)+len(expression)/8)
	b = append(b, `{"awaitPromise":true,"objectGroup":"outrider.script"`...)
	if gesture {
		b = append(b, `,"userGesture":true`...)
	}
	b = append(b, `,"expression":`...)
	b = cdp.AppendQuoted(b, expression)
	if deadline, ok := ctx.Deadline(); ok {
		b = strconv.AppendInt(append(b, `,"timeout":`...), max(1, time.Until(deadline).Milliseconds()), 10)
	}
	return append(b, '}')
}

// readEvaluation reads the answer to Runtime.evaluate and Runtime.callFunctionOn, most
// of which are a few short members.
func readEvaluation(answer []byte) (out evaluation, err error) {
	ok := cdp.EachMember(answer, func(k, v []byte) bool {
		switch string(k) {
		case "exceptionDetails":
			err = json.Unmarshal(v, &out.Exception)
		case "result":
			r := &out.Result
			return cdp.EachMember(v, func(k, v []byte) bool {
				var text *string
				switch string(k) {
				case "value":
					r.Value = v
				case "type":
					text = &r.Type
				case "subtype":
					text = &r.Subtype
				case "className":
					text = &r.Class
				case "unserializableValue":
					text = &r.Unserializable
				case "description":
					text = &r.Description
				case "objectId":
					text = &r.ObjectID
				}
				if text == nil {
					return true
				}
				s, ok := cdp.Unquote(v)
				*text = string(s)
				return ok
			})
		}
		return err == nil
	})
	if !ok && err == nil {
		err = errors.New("it is not of the form that is documented")
	}
	return out, err
}
