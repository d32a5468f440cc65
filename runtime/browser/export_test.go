package browser

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

// Eval evaluates an expression in the page's own world of a frame that is the
// top of its process and returns its value, as JSON unless it is a string: what a test uses to inspect the page
// independently of the page library.
func (t *Tab) Eval(ctx context.Context, frame primitives.FrameID, expression string) (string, error) {
	session, err := t.Session(ctx, frame)
	if err != nil {
		return "", err
	}
	// A frame's own world has no id without the Runtime domain; go through the
	// frame element's window where the frame is not the session's own.
	var out struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	params, _ := json.Marshal(map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if err := t.browser.client.DoIn(ctx, t.Lifetime(), session, "Runtime.evaluate", params, &out); err != nil {
		return "", err
	}
	if out.Exception != nil {
		return "exception: " + out.Exception.Text, nil
	}
	var text string
	if json.Unmarshal(out.Result.Value, &text) == nil {
		return text, nil
	}
	return string(out.Result.Value), nil
}

// PostEval evaluates without waiting.
func (t *Tab) PostEval(expression string) {
	params, _ := json.Marshal(map[string]any{"expression": expression})
	t.browser.client.Post(cdp.Command{Session: t.TopSession().ID, Method: "Runtime.evaluate", Params: params})
}

// Raw sends one command of any kind to the tab's session.
func (t *Tab) Raw(ctx context.Context, method string, params, out any) error {
	return t.browser.client.DoIn(ctx, t.Lifetime(), t.TopSession(), method, params, out)
}

// LoseClipboard closes the document that reaches the clipboard.
func (b *Browser) LoseClipboard(ctx context.Context) error {
	all, err := b.targetsOfAllKinds(ctx)
	if err != nil {
		return err
	}
	for _, t := range all {
		if b.clipboard.Holds(t.BrowserContextID) {
			return b.client.Do(ctx, "", "Target.closeTarget", cdp.Object("targetId", t.TargetID), nil)
		}
	}
	return errors.New("there is none")
}

// Targets counts what the browser has, hidden documents too.
func (b *Browser) Targets(ctx context.Context) (int, error) {
	all, err := b.targetsOfAllKinds(ctx)
	return len(all), err
}

func (b *Browser) targetsOfAllKinds(ctx context.Context) ([]targetInfo, error) {
	var all struct {
		Targets []targetInfo `json:"targetInfos"`
	}
	// Without a filter hidden ones are left out.
	err := b.client.Do(ctx, "", "Target.getTargets", []byte(`{"filter":[{}]}`), &all)
	return all.Targets, err
}

// Transport is the transport interface, for scripted peers.
type Transport = cdp.Transport

// Scripted serves a browser over any transport, as Launch does.
func Scripted(ctx context.Context, t Transport, log *slog.Logger, opts Options) (*Browser, error) {
	b, err := newBrowser(opts)
	if err != nil {
		return nil, err
	}
	if log != nil {
		b.log = log
	}
	b.events = newEventQueue(opts.OnEvent)
	b.serve(t)
	if err := b.handshake(ctx); err != nil {
		_ = b.Close(contextWithin(time.Second))
		return nil, err
	}
	return b, nil
}

// Pending counts commands without an answer.
func (b *Browser) Pending() int { return b.client.Pending() }

// KeepElement gets from the page library the handle of the first element that
// matches.
func (t *Tab) KeepElement(ctx context.Context, frame primitives.FrameID, selector string, out any) error {
	remote, err := t.Run(ctx, frame, func(token string) world.Invocation {
		return world.Invocation{
			Function: `function(t,s){return globalThis.outriderWorld!==t?'{"stale":true}':JSON.stringify({ok:true,` +
				`value:{handle:outrider.keep(document.querySelector(s))}})}`,
			Args: []string{token, selector}, ByValue: true,
		}
	})
	if err != nil {
		return err
	}
	return world.Decode("keep", remote, out)
}

// Hang calls a page function that never answers. Its start shows as
// data-hanging on the root element.
func (t *Tab) Hang(ctx context.Context, frame primitives.FrameID) error {
	_, err := t.Run(ctx, frame, func(string) world.Invocation {
		return world.Invocation{Function: `function(){document.documentElement.dataset.hanging="yes";` +
			`return globalThis.hanging??=new Promise(()=>{})}`, ByValue: true}
	})
	return cdp.Explain(err, "hanging")
}

// PostEvalIn is PostEval in the process of a frame.
func (t *Tab) PostEvalIn(frame primitives.FrameID, expression string) {
	session, err := t.Session(context.Background(), frame)
	if err != nil {
		return
	}
	params, _ := json.Marshal(map[string]any{"expression": expression})
	t.browser.client.Post(cdp.Command{Session: session.ID, Method: "Runtime.evaluate", Params: params})
}

// CrashFrame ends the process of a frame.
func (t *Tab) CrashFrame(frame primitives.FrameID) {
	session, err := t.Session(context.Background(), frame)
	if err != nil {
		return
	}
	t.browser.client.Post(cdp.Command{Session: session.ID, Method: "Page.crash"})
}

// WatchStuck watches a scripted browser whose main process uses what spent says. It is stuck when it has been
// silent for as long as after, and busy for half of that.
func (b *Browser) WatchStuck(after time.Duration, spent func() (time.Duration, bool), kill func()) {
	b.wg.Go(func() {
		b.watchStuck(stuckWatch{interval: after / 10, after: after, busy: after / 2, spent: spent, kill: kill})
	})
}
