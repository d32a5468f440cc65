package page

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

const (
	// maxHandlerResult bounds what a function of the page may return, in
	// UTF-16 units of its JSON text.
	maxHandlerResult = 1 << 20
	// answerProbeTimeout is how long a page may take to answer an empty call
	// before a function that overran its time counts as still running.
	answerProbeTimeout = 250 * time.Millisecond
)

// callPageFunction walks from the global object along own data properties and
// calls what it finds with one argument. The path and the argument are data:
// no text of a map becomes source. It runs in the page's own world, whose
// built-ins the page may have changed, so what it returns proves nothing and
// is checked by the caller.
const callPageFunction = `async function(path, argument, limit) {
  "use strict";
  const missing = (at, reason) => ({ code: "missing_handler", at, reason });
  let holder = this, value = this, at = 0;
  for (const name of JSON.parse(path)) {
    if (value === null || typeof value !== "object" && typeof value !== "function") return missing(at, "not_an_object");
    const own = Object.getOwnPropertyDescriptor(value, name);
    if (!own) return missing(at, "not_an_own_property");
    if (!("value" in own)) return missing(at, "accessor");
    holder = value;
    value = own.value;
    if (value === this) return missing(at, "global_object");
    at++;
  }
  if (typeof value !== "function") return missing(at - 1, "not_a_function");
  if (limit < 0) return { found: true };
  let result;
  try {
    result = await Reflect.apply(value, holder, [JSON.parse(argument)]);
  } catch (thrown) {
    let text = "";
    try { text = String(thrown && thrown.stack || thrown); } catch {}
    return { code: "handler_failed", reason: "threw", text: text.slice(0, 1000) };
  }
  let json;
  try { json = JSON.stringify(result); } catch { return { code: "handler_failed", reason: "not_json" }; }
  if (json === undefined) json = "null";
  if (json.length > limit) return { code: "payload_too_large", reason: "too_large" };
  return { json };
}`

// PageFunction calls a function of the page by its dotted path and returns its
// result as JSON, awaited when it is a promise. argument is one JSON value.
//
// Only own data properties are followed, from a global that the page made:
// nothing inherited, no accessor, no function of the platform such as fetch,
// and nothing behind another reference to the global object. What is not there
// is missing_handler, with the segment at which the path ended; what throws is
// handler_failed, what does not end within ctx handler_timeout. The function's
// script is ended then if it holds the page's thread.
func (p *Page) PageFunction(ctx context.Context, path []string, argument json.RawMessage) (json.RawMessage, error) {
	return p.pageFunction(ctx, path, argument, maxHandlerResult)
}

// HasPageFunction returns nil when PageFunction would call something.
func (p *Page) HasPageFunction(ctx context.Context, path []string) error {
	_, err := p.pageFunction(ctx, path, json.RawMessage("null"), -1)
	return err
}

func (p *Page) pageFunction(
	ctx context.Context, path []string, argument json.RawMessage, limit int,
) (json.RawMessage, error) {
	name := strings.Join(path, ".")
	missing := func(at int, reason string) error {
		e := fault.New(fault.MissingHandler, "the page has no function %s", name).
			With("handler", name).With("reason", reason)
		if at >= 0 && at < len(path) {
			e.With("segment", path[at])
		}
		return e.Next("wait until the page has loaded its code, or use another action")
	}
	if len(path) == 0 {
		return nil, missing(-1, "no_name")
	}
	for i, segment := range path {
		switch segment {
		case "", "__proto__", "prototype", "constructor":
			return nil, missing(i, "forbidden_name")
		}
	}
	var global struct {
		Platform bool `json:"platform"`
	}
	if err := p.Call(ctx, "", "platform_name", map[string]any{"name": path[0]}, &global); err != nil {
		return nil, err
	}
	if global.Platform {
		return nil, missing(0, "platform_function")
	}
	segments, err := json.Marshal(path)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encoding the path")
	}
	at, err := p.resolveFrame(ctx, "")
	if err != nil {
		return nil, cdp.Explain(err, "calling "+name)
	}
	// At the top of a script this is the global object, whatever the page has
	// made of the name globalThis.
	root, err := p.evaluate(ctx, at, "Runtime.evaluate", map[string]any{
		"expression":  "this",
		"objectGroup": "outrider.handler",
	})
	if err != nil {
		return nil, cdp.Explain(err, "calling "+name)
	}
	if root.Result.ObjectID == "" {
		return nil, fault.New(fault.Internal, "the page has no global object")
	}
	defer p.client.Post(cdp.Command{
		Session: at.session.ID,
		Method:  "Runtime.releaseObject",
		Params:  objectParam(root.Result.ObjectID),
	})
	if err := p.stillAt(ctx, at); err != nil {
		return nil, cdp.Explain(err, "calling "+name)
	}
	out, err := p.evaluate(ctx, at, "Runtime.callFunctionOn", map[string]any{
		"objectId":            root.Result.ObjectID,
		"functionDeclaration": callPageFunction,
		"awaitPromise":        true,
		"returnByValue":       true,
		"userGesture":         true,
		"arguments": []map[string]any{
			{"value": string(segments)},
			{"value": string(argument)},
			{"value": limit},
		},
	})
	if err != nil {
		if ctx.Err() != nil {
			p.endScript(ctx, at)
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, fault.New(fault.HandlerTimeout, "%s did not end within its time", name).
					With("handler", name)
			}
		}
		return nil, cdp.Explain(err, "calling "+name)
	}
	var answer struct {
		Found  bool       `json:"found"`
		JSON   *string    `json:"json"`
		Code   fault.Code `json:"code"`
		At     int        `json:"at"`
		Reason string     `json:"reason"`
		Text   string     `json:"text"`
	}
	if out.Exception != nil || json.Unmarshal(out.Result.Value, &answer) != nil {
		return nil, fault.New(fault.HandlerFailed, "%s could not be called", name).
			With("handler", name).With("reason", "page_interfered")
	}
	switch {
	case answer.JSON != nil && json.Valid([]byte(*answer.JSON)):
		return json.RawMessage(*answer.JSON), nil
	case answer.Found:
		return nil, nil
	case answer.Code == fault.MissingHandler:
		return nil, missing(answer.At, answer.Reason)
	case answer.Code == fault.PayloadTooLarge:
		return nil, fault.New(fault.PayloadTooLarge, "the result of %s is too large", name).
			With("handler", name).With("limit", maxHandlerResult)
	}
	e := fault.New(fault.HandlerFailed, "%s failed", name).With("handler", name).With("reason", answer.Reason)
	if answer.Text != "" {
		e.With("exception", answer.Text)
	}
	return nil, e
}

// endScript ends what runs in the page, when it holds the thread. A function
// that only waits is left alone: the browser would end whatever runs next.
func (p *Page) endScript(ctx context.Context, at resolvedFrame) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.patience(answerProbeTimeout))
	defer cancel()
	_, err := p.evaluate(ctx, at, "Runtime.evaluate", map[string]any{"expression": "0"})
	if err != nil && ctx.Err() != nil {
		p.client.Post(cdp.Command{Session: at.session.ID, Method: "Runtime.terminateExecution", Params: []byte("{}")})
	}
}
