package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/truncate"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

// EvaluateValue implements primitives.Page.
func (p *Page) EvaluateValue(
	ctx context.Context, expression string, opts primitives.EvaluateOptions,
) (primitives.EvaluatedValue, error) {
	const doing = "evaluating a script"
	var none primitives.EvaluatedValue
	if err := p.Admit(ctx, ""); err != nil {
		return none, err
	}
	at, err := p.resolveFrame(ctx, "")
	if err != nil {
		return none, cdp.Explain(err, doing)
	}
	read := fit
	if opts.Structured {
		read = asText
	}
	expression = read + "(" + expression + ")"
	calls, err := p.client.Start(ctx, cdp.Command{
		Session: at.session.ID,
		Method:  "Runtime.evaluate",
		Params:  scriptParams(ctx, expression, opts.UserGesture),
	})
	if err != nil {
		return none, cdp.Explain(err, doing)
	}
	result, answered, err := p.awaitAnsweringDialogs(ctx, at, calls[0], opts.AnswerDialogs)
	if err != nil {
		err = p.classify(ctx, at, err)
		if errors.Is(err, errStale) {
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
	if text, ok := writtenAs(out.Result); ok {
		v.Type, v.Value = "object", text
		if text == nil {
			v.Description = "Object"
		}
		return v, nil
	}
	switch r := out.Result; {
	case r.ObjectID != "":
		v.Value, err = p.copied(ctx, at, r)
		p.client.Post(cdp.Command{
			Session: at.session.ID,
			Method:  "Runtime.releaseObject",
			Params:  objectParam(r.ObjectID),
		})
		if err != nil {
			return none, err
		}
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
// a function or a Map copies to an empty object without information. It fails where that
// is too large.
func (p *Page) copied(ctx context.Context, at resolvedFrame, object remoteObject) (json.RawMessage, error) {
	plain := object.Subtype == "" || object.Subtype == "array" && object.Class == "Array"
	if object.Type != "object" || !plain && object.Subtype != "proxy" {
		return nil, nil
	}
	p.mu.Lock()
	at.dialogs = p.dialogs // those that were answered are past
	p.mu.Unlock()
	out, err := p.copy(ctx, at, object)
	switch {
	case fault.CodeOf(err) == fault.PayloadTooLarge:
		return nil, err
	case err != nil || out.Exception != nil: // circular, the window, or too deep
		return nil, nil
	case !plain && !out.written:
		return nil, nil
	}
	return out.Result.Value, nil
}

// copy takes the value of an object out of the page.
func (p *Page) copy(ctx context.Context, at resolvedFrame, object remoteObject) (evaluation, error) {
	out, err := p.evaluate(ctx, at, "Runtime.callFunctionOn",
		map[string]any{
			"objectId":            object.ObjectID,
			"functionDeclaration": "function(){return " + asText + "(this)}",
			"returnByValue":       true,
		})
	if err == nil && out.Exception != nil && out.failure().Code == fault.PayloadTooLarge {
		return out, out.failure()
	}
	if text, ok := writtenAs(out.Result); ok {
		out.Result, out.written = remoteObject{Type: "object", Value: text}, true
	}
	return out, err
}

// asText is a function that gives a plain object or list as its JSON behind textMark, and
// any other value as it is. The browser copies an object by making a value of its own of
// each member, which takes several times as long as a text. What JSON writes otherwise
// than the browser copies it is left to the browser: undefined, functions, instances of
// classes, what has a toJSON, -0 and numbers that are none, and all where the page has a
// JSON of its own. A getter is called twice.
//
// Of a list of records that have the same names the names come once, and then all values:
// to carry a large answer out of the page costs by the character.
var asText = `((v)=>{const isPromise=` + isPromise + `,fit=` + fit +
	`;if(typeof v!=='object'||v===null||isPromise(v))return fit(v);` +
	`const {stringify}=JSON,{keys,getPrototypeOf,prototype}=Object,list=Array.prototype;` +
	`const scalar=(x)=>{const t=typeof x;return t==='string'||t==='boolean'||x===null||t==='number'&&x-x===0&&` +
	`(x!==0||1/x>0)};` +
	`const records=()=>{const n=v.length;if(getPrototypeOf(v)!==list||n<` + strconv.Itoa(leastRecords) +
	`||v.toJSON!==undefined)return;` +
	`let names;const flat=[];for(let i=0,k=0;i<n;i++){const x=v[i];` +
	`if(typeof x!=='object'||x===null||getPrototypeOf(x)!==prototype||x.toJSON!==undefined)return;` +
	`const own=keys(x);names??=own;if(own.length!==names.length||own.length===0)return;` +
	`for(let j=0;j<own.length;j++){const name=names[j];if(own[j]!==name)return;const e=x[name];if(!scalar(e))return;` +
	`flat[k++]=e}}` +
	`return '\n'+stringify(names)+'\n'+stringify(flat)};` +
	`const plain=(x,depth)=>{if(typeof x!=='object'||depth>100||x.toJSON!==undefined)return false;` +
	`const p=getPrototypeOf(x);` +
	`if(p===list){for(let i=0,n=x.length;i<n;i++){const e=x[i];if(!scalar(e)&&!plain(e,depth+1))return false}return ` +
	`true}` +
	`if(p!==prototype&&p!==null)return false;` +
	`for(const name of keys(x)){const e=x[name];if(!scalar(e)&&!plain(e,depth+1))return false}return true};` +
	`let text;try{if(stringify('"\\\n')==='"\\"\\\\\\n"')text=records()??(plain(v,0)?stringify(v):undefined)}catch{}` +
	`return typeof text==='string'?fit('` + textMark + `'+text):v})`

// fit gives a value, or what a promise gives, and fails for a text that is too long.
var fit = `((v)=>{const fit=(x)=>{if(typeof x==='string'&&x.length>` + strconv.Itoa(primitives.MaxEvaluated) +
	`)throw new RangeError('` + tooLargeMark + ` '+x.length);return x};` +
	`return ` + isPromise + `(v)?(async()=>fit(await v))():fit(v)})`

// isPromise is false in a page that has put something else in the place of Promise.
const isPromise = `((v)=>typeof v==='object'&&v!==null&&typeof Promise==='function'&&v instanceof Promise)`

var tooLargeMark = world.NewToken()

// leastRecords is how many records are worth it that their names come once.
const leastRecords = 8

// textMark is what no script returns by itself. It is the same for all, so that the
// browser compiles a script once that runs again.
var textMark = world.NewToken()

// writtenAs is the JSON that asText gave.
func writtenAs(r remoteObject) (json.RawMessage, bool) {
	if r.Type != "string" || !bytes.HasPrefix(r.Value, []byte(`"`+textMark)) {
		return nil, false
	}
	text, ok := cdp.Unquote(r.Value)
	if !ok {
		return nil, false
	}
	text = text[len(textMark):]
	if rest, records := bytes.CutPrefix(text, []byte("\n")); records {
		names, values, _ := bytes.Cut(rest, []byte("\n"))
		text = writeRecords(names, values)
	}
	if !json.Valid(text) {
		text = nil // the page has functions of its own in the place of the browser's
	}
	return text, true
}

// writeRecords makes a list of records of their names and of the list of all their
// values, which are no lists and no objects; nil when those do not fit.
func writeRecords(names, values []byte) json.RawMessage {
	var keys []json.RawMessage
	if json.Unmarshal(names, &keys) != nil || len(keys) == 0 || len(values) == 0 {
		return nil
	}
	size := 2 * len(values)
	for i, key := range keys {
		keys[i] = append(append([]byte{','}, key...), ':')
		size += len(values) / 8 * len(key) / len(keys)
	}
	keys[0][0] = '{'
	out := append(make([]byte, 0, size), '[')
	rest := values[1:]
	for len(rest) > 0 {
		for _, key := range keys {
			end := scalarEnd(rest)
			if end < 0 {
				return nil
			}
			out = append(append(out, key...), rest[:end]...)
			rest = rest[end:]
			if rest[0] == ',' {
				rest = rest[1:]
			}
		}
		out = append(out, '}', ',')
		if string(rest) == "]" {
			out[len(out)-1] = ']'
			return out
		}
	}
	return nil
}

// scalarEnd is where a string, number or word of a list ends, -1 when it does not.
func scalarEnd(list []byte) int {
	if len(list) == 0 || list[0] != '"' {
		return bytes.IndexAny(list, ",]")
	}
	for end := 1; ; {
		n := bytes.IndexByte(list[end:], '"')
		if n < 0 || end+n+1 == len(list) {
			return -1
		}
		end += n + 1
		escapes := 0
		for list[end-2-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end
		}
	}
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
	if _, said, ok := strings.Cut(text, tooLargeMark+" "); ok {
		n, _ := strconv.Atoi(strings.TrimRightFunc(said[:min(len(said), 12)], func(r rune) bool {
			return r < '0' || r > '9'
		}))
		return primitives.TooLarge(n)
	}
	thrown, _, _ := strings.Cut(text, "\n")
	failed := fault.New(fault.HandlerFailed, "the script failed: %s", truncate.Characters(thrown, maxThrown)).
		With("exception", truncate.Characters(text, maxException))
	if strings.HasPrefix(thrown, "SyntaxError: await is only valid") {
		failed.NextStep = "the body is no async function; return a promise, such as (async () => { ... })()"
	}
	return failed
}

// awaitAnsweringDialogs waits for the answer of page code. With answer, the dialogs
// that it opens meanwhile are answered as they come: alert and beforeunload
// accepted, confirm and prompt refused; their types are returned.
func (p *Page) awaitAnsweringDialogs(
	ctx context.Context, at resolvedFrame, call *cdp.Call, answer bool,
) (result []byte, dialogs []string, err error) {
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
				p.interruptBlockingScript(ctx, at, began)
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
