// Package pasteboard reads and writes the clipboard of a browser without a page that notices: a hidden, empty document
// of its own copies and pastes, as the keys do, so no page is given a permission. It does not know whose content that
// is or when it is wanted. Package browser makes one for each browser, package runtime/clipboard calls it.
package pasteboard

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

const (
	// limit bounds a content in UTF-16 units, both flavours together: pages decide what they put there.
	limit = 8 << 20
	// patience bounds one reading or writing on a browser that is very busy.
	patience = 5 * time.Second
	// idle is how long the document is kept unused: it takes some 17 MB, and 25 ms to open.
	idle = 30 * time.Second
)

//go:embed pasteboard.js
var script string

// Board is the clipboard of one browser. It is safe for concurrent use.
type Board struct {
	client  *cdp.Client
	desktop bool
	turn    chan struct{} // held by who uses the document

	// With turn:
	session string // "" while there is no document
	pastes  int    // that the document was sent
	resting *time.Timer

	mu      sync.Mutex
	context string // browser context of the document, "" while there is none
	used    string // session while something is done with the document
	lost    func() // ends that
}

// New makes the clipboard of the browser that client speaks to. desktop says that it is that of the desktop, as it is
// where windows are shown. The document is opened when it is first used.
func New(client *cdp.Client, desktop bool) *Board {
	return &Board{client: client, desktop: desktop, turn: make(chan struct{}, 1)}
}

// Desktop reports whether a person may use the clipboard too.
func (b *Board) Desktop() bool { return b.desktop }

// Holds reports whether a browser context is that of the hidden document, which is nobody's tab.
func (b *Board) Holds(context string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return context != "" && b.context == context
}

// Detached reports that a session has ended, perhaps that of the document: nothing answers there any more.
func (b *Board) Detached(session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used == session && b.lost != nil {
		b.lost()
	}
}

// Read returns what the clipboard holds: "" for a flavour that it has not. Of a content that is larger than
// limit, both.
func (b *Board) Read(ctx context.Context) (text, html string, err error) {
	var out struct{ Text, HTML string }
	err = b.use(ctx, func(ctx context.Context) error {
		b.pastes++
		take := "take(" + strconv.Itoa(b.pastes) + "," + strconv.Itoa(limit) + ")"
		return b.evaluate(ctx, take, &out, b.pasteKey()...)
	})
	return out.Text, out.HTML, err
}

// Write replaces what the clipboard holds; nothing, when both flavours are "".
func (b *Board) Write(ctx context.Context, text, html string) error {
	return b.use(ctx, func(ctx context.Context) error {
		put := append(cdp.AppendQuoted([]byte("put("), text), ',')
		var done bool
		if err := b.evaluate(ctx, string(append(cdp.AppendQuoted(put, html), ')')), &done); err != nil {
			return err
		}
		if !done {
			return errors.New("the browser did not copy")
		}
		return nil
	})
}

// pasteKey has the browser paste. The command goes with the key, because what keys mean is not the same everywhere.
func (b *Board) pasteKey() []cdp.Command {
	const key = `,"key":"v","code":"KeyV","windowsVirtualKeyCode":86`
	return []cdp.Command{
		{
			Session: b.session,
			Method:  "Input.dispatchKeyEvent",
			Params:  []byte(`{"type":"rawKeyDown"` + key + `,"commands":["Paste"]}`),
		},
		{Session: b.session, Method: "Input.dispatchKeyEvent", Params: []byte(`{"type":"keyUp"` + key + `}`)},
	}
}

// use does something with the document: once more with a new one, when that has crashed.
func (b *Board) use(ctx context.Context, f func(context.Context) error) error {
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if b.resting == nil {
		b.resting = time.AfterFunc(idle, b.Rest)
	}
	defer b.resting.Reset(idle)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var err error
	for range 2 {
		if b.session == "" {
			if err := b.open(ctx); err != nil {
				return cdp.Explain(err, "opening the document that reaches the clipboard")
			}
		}
		attempt, stop := context.WithCancel(ctx)
		b.using(b.session, stop)
		err = f(attempt)
		lost := attempt.Err() != nil && ctx.Err() == nil
		b.using("", nil)
		stop()
		if err == nil {
			return nil
		}
		b.drop()
		var refused *cdp.Error
		if !lost && !errors.As(err, &refused) {
			break
		}
	}
	return cdp.Explain(err, "using the clipboard of the browser")
}

// Rest closes the document until it is needed again, unless it is being used.
func (b *Board) Rest() {
	select {
	case b.turn <- struct{}{}:
	default:
		return
	}
	defer func() { <-b.turn }()
	if b.session != "" {
		b.drop()
	}
}

// Close ends the wait for the document to be unused. The browser has ended.
func (b *Board) Close() {
	b.turn <- struct{}{}
	defer func() { <-b.turn }()
	if b.resting != nil {
		b.resting.Stop()
	}
}

func (b *Board) using(session string, lost func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used, b.lost = session, lost
}

// open opens the document in a browser context of its own, by which package browser tells it from tabs.
func (b *Board) open(ctx context.Context) error {
	var made struct {
		Context string `json:"browserContextId"`
	}
	if err := b.client.Do(
		ctx, "", "Target.createBrowserContext", []byte(`{"disposeOnDetach":true}`), &made,
	); err != nil {
		return err
	}
	b.mu.Lock()
	b.context = made.Context
	b.mu.Unlock()
	err := b.openIn(ctx, made.Context)
	if err != nil {
		b.drop()
	}
	return err
}

func (b *Board) openIn(ctx context.Context, own string) error {
	var created struct {
		ID string `json:"targetId"`
	}
	if err := b.client.Do(
		ctx, "", "Target.createTarget",
		map[string]any{"url": "about:blank", "browserContextId": own, "hidden": true}, &created,
	); err != nil {
		return err
	}
	var target struct {
		Info struct {
			Type string `json:"type"`
		} `json:"targetInfo"`
	}
	if err := b.client.Do(ctx, "", "Target.getTargetInfo", cdp.Object("targetId", created.ID), &target); err != nil {
		return err
	}
	if b.desktop && target.Info.Type == "page" { // the headless shell shows a page to nobody
		return fault.New(fault.CapabilityUnavailable, "this version of the browser has no hidden documents")
	}
	var attached struct {
		Session string `json:"sessionId"`
	}
	if err := b.client.Do(
		ctx, "", "Target.attachToTarget", map[string]any{"flatten": true, "targetId": created.ID}, &attached,
	); err != nil {
		return err
	}
	b.session, b.pastes = attached.Session, 0
	if err := b.client.Do(
		ctx, b.session, "Emulation.setFocusEmulationEnabled", []byte(`{"enabled":true}`), nil,
	); err != nil {
		return err
	}
	return b.evaluate(ctx, script, nil)
}

// drop ends the document, which may not answer any more, and then its context: Chromium crashes a minute after it has
// ended a context that a hidden document is still in.
func (b *Board) drop() {
	b.mu.Lock()
	own := b.context
	b.context = ""
	b.mu.Unlock()
	b.session = ""
	// Without a filter hidden documents are left out.
	b.client.Post(cdp.Command{Method: "Target.getTargets", Params: []byte(`{"filter":[{}]}`), OnReply: func(
		r cdp.Reply,
	) {
		var all struct {
			Targets []struct {
				ID      string `json:"targetId"`
				Context string `json:"browserContextId"`
			} `json:"targetInfos"`
		}
		if r.Err != nil || json.Unmarshal(r.Result, &all) != nil {
			return // the context ends with the connection
		}
		var commands []cdp.Command
		for _, t := range all.Targets {
			if t.Context == own {
				commands = append(commands, cdp.Command{
					Method: "Target.closeTarget",
					Params: cdp.Object("targetId", t.ID),
				})
			}
		}
		b.client.Post(append(commands, cdp.Command{
			Method: "Target.disposeBrowserContext",
			Params: cdp.Object("browserContextId", own),
		})...)
	}})
}

// evaluate runs an expression in the document, as if a user had asked for it, and sends what follows with it.
func (b *Board) evaluate(ctx context.Context, expression string, out any, more ...cdp.Command) error {
	params := append(
		cdp.AppendQuoted([]byte(`{"expression":`), expression),
		`,"awaitPromise":true,"returnByValue":true,"userGesture":true}`...,
	)
	calls, err := b.client.Start(
		ctx, append([]cdp.Command{{Session: b.session, Method: "Runtime.evaluate", Params: params}}, more...)...,
	)
	if err != nil {
		return err
	}
	defer b.client.Forget(calls...)
	result, err := b.client.Wait(ctx, calls[0])
	if err != nil {
		return err
	}
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception json.RawMessage `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(result, &answer); err != nil {
		return err
	}
	if answer.Exception != nil {
		return errors.New("the script of the clipboard failed")
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer.Result.Value, out)
}
