package page

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/excerpt"
)

// EvaluateValue implements primitives.Page.
func (p *Page) EvaluateValue(ctx context.Context, expression string, opts primitives.EvaluateOptions) (primitives.EvaluatedValue, error) {
	const doing = "evaluating a script"
	var none primitives.EvaluatedValue
	at, err := p.resolveFrame(ctx, "")
	if err != nil {
		return none, cdp.Explain(err, doing)
	}
	calls, err := p.client.Start(ctx, cdp.Command{Session: at.session.ID, Method: "Runtime.evaluate", Params: scriptParams(ctx, expression)})
	if err != nil {
		return none, cdp.Explain(err, doing)
	}
	result, answered, err := p.awaitAnsweringDialogs(ctx, at, calls[0], opts.AnswerDialogs)
	if err != nil {
		if err = p.classify(ctx, at, err); errors.Is(err, errStale) {
			err = fault.New(fault.PageNavigated, "the document was replaced during the call")
		}
		if stoppedAtDeadline(ctx, err) {
			err = context.DeadlineExceeded
		}
		return none, cdp.Explain(err, doing)
	}
	out, err := readEvaluation(result)
	if err != nil {
		return none, fault.Wrap(fault.Internal, err, "reading the answer to Runtime.evaluate")
	}
	if out.Exception != nil {
		if ctx.Err() != nil { // stopped for lack of time, which the page reports in its own way
			return none, cdp.Explain(ctx.Err(), doing)
		}
		return none, out.failure()
	}
	v := primitives.EvaluatedValue{Type: out.Result.Type, Dialogs: answered}
	switch r := out.Result; {
	case r.ObjectID != "":
		v.Value = p.copied(ctx, at, r)
		p.client.Post(cdp.Command{Session: at.session.ID, Method: "Runtime.releaseObject", Params: objectParam(r.ObjectID)})
		if v.Value == nil {
			v.Description = r.Description
		}
	case r.Unserializable != "":
		v.Description = r.Unserializable
	case len(r.Value) > 0:
		v.Value = r.Value
	default: // a symbol; nothing at all for undefined
		v.Description = r.Description
	}
	return v, nil
}

// copied is the JSON of a plain object or list, nil for anything else: a node,
// a function or a Map copies to an empty object without information.
func (p *Page) copied(ctx context.Context, at resolvedFrame, object remoteObject) json.RawMessage {
	if object.Type != "object" || object.Subtype != "" && (object.Subtype != "array" || object.Class != "Array") {
		return nil
	}
	p.mu.Lock()
	at.dialogs = p.dialogs // those that were answered are past
	p.mu.Unlock()
	out, err := p.evaluate(ctx, at, "Runtime.callFunctionOn",
		map[string]any{"objectId": object.ObjectID, "functionDeclaration": "function(){return this}", "returnByValue": true})
	if err != nil || out.Exception != nil {
		return nil // circular, the window, or too deep
	}
	return out.Result.Value
}

// failure is what a script threw.
func (e evaluation) failure() *fault.Error {
	x := e.Exception
	text := x.Exception.Description
	if text == "" {
		text = x.Text
		if len(x.Exception.Value) > 0 {
			text += " " + string(x.Exception.Value)
		}
	}
	return fault.New(fault.HandlerFailed, "the script failed").With("exception", excerpt.Characters(text, maxException))
}

// awaitAnsweringDialogs waits for the answer of page code. With answer, the dialogs
// that it opens meanwhile are answered as they come: alert and beforeunload
// accepted, confirm and prompt refused; their types are returned.
func (p *Page) awaitAnsweringDialogs(ctx context.Context, at resolvedFrame, call *cdp.Call, answer bool) (result []byte, dialogs []string, err error) {
	began := time.Now()
	for answer {
		p.mu.Lock()
		opened, open := p.dialogs, p.dialog != nil
		p.mu.Unlock()
		if !open {
			select {
			case r := <-call.Replied():
				return r.Result, dialogs, r.Err
			case <-opened:
			case <-at.lifetime.Done():
				return nil, dialogs, at.lifetime.Err()
			case <-at.document.Replaced():
				// awaitPage knows how long an answer may still come.
				result, err = p.awaitPage(ctx, at, call)
				return result, dialogs, err
			case <-ctx.Done():
				p.client.Forget(call)
				p.overran.Store(true)
				p.interruptBlockingScript(at, began)
				return nil, dialogs, ctx.Err()
			}
			continue
		}
		d, ok := p.Dialog()
		if !ok {
			continue
		}
		accept := d.Type == "alert" || d.Type == "beforeunload"
		switch _, err := p.AnswerDialog(ctx, accept, ""); {
		case err == nil:
			dialogs = append(dialogs, d.Type)
		case !errors.Is(err, fault.NoDialog):
			p.client.Forget(call)
			return nil, dialogs, err
		}
	}
	result, err = p.awaitPage(ctx, at, call)
	return result, dialogs, err
}
