package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

const (
	// describeCap bounds asking the new document for its title and status.
	describeCap = 2 * time.Second
	// sayCap bounds waiting, once the document has loaded, for it to say what it is
	// by itself.
	sayCap = 25 * time.Millisecond
)

// describe says what is there now. The document is asked, in our world; one
// that does not answer is described from outside, and then ok is false.
func (t *Page) describe(ctx context.Context, n *navigation) (out primitives.Navigation, ok bool) {
	info := t.Tab()
	out = primitives.Navigation{URL: info.URL, Title: info.Title, SameDocument: n.same, Replaced: n.replaced, Loaded: n.loaded || n.same}
	ctx, cancel := context.WithTimeout(ctx, describeCap)
	defer cancel()
	text := t.saidItself(ctx, n)
	if text == nil {
		t.mu.Lock()
		commits := t.commits
		t.mu.Unlock()
		remote, err := t.Run(ctx, "", func(string) world.Invocation {
			return world.Invocation{Function: describeFunction, ByValue: true, Bare: true, Observe: func(r cdp.Reply) { t.onAskedDescription(r, commits) }}
		})
		if err != nil {
			t.log.Debug("the new document did not describe itself", "error", err)
			return out, false
		}
		text, _ = cdp.Unquote(cdp.Member(remote, "value"))
	}
	var d description
	if json.Unmarshal(text, &d) != nil {
		return out, false
	}
	out.URL, out.Title, out.Status = d.URL, d.Title, d.Status
	return out, true
}

// description is what a document says of itself.
type description struct {
	Title  string `json:"title"`
	URL    string `json:"url"`
	Status int    `json:"status"`
}

// onAskedDescription is the reader's.
func (t *Page) onAskedDescription(r cdp.Reply, commits int) {
	text, ok := cdp.Unquote(cdp.Member(cdp.Member(r.Result, "result"), "value"))
	t.mu.Lock()
	changed := ok && t.commits == commits && t.takeDescription(text)
	t.mu.Unlock()
	if changed {
		t.observer.Changed()
	}
}

// takeDescription takes over what the document that is there says of itself, and
// reports whether that is new. The reader does so where it reads it: the browser may
// say something newer before who waits for the description is awake. A document
// without a title has the one that the browser gives it. t.mu is held.
func (t *Page) takeDescription(text []byte) (changed bool) {
	var d description
	if json.Unmarshal(text, &d) != nil {
		return false
	}
	if d.Title == "" {
		d.Title = t.title
	}
	changed = t.title != d.Title || t.identity.URL != d.URL
	t.title, t.identity.URL = d.Title, d.URL
	return changed
}

// describeFunction reads the title through the prototype: an element named
// "title" hides the document's own.
const describeFunction = `function(){"use strict";` + describing + `return describe()}`

const describing = `const own=(name)=>Object.getOwnPropertyDescriptor(Document.prototype,name).get.call(document);` +
	`const describe=()=>{const n=performance.getEntriesByType("navigation")[0];` +
	`return JSON.stringify({title:String(own("title")),url:location.href,status:n&&n.responseStatus||0})};`

// A document that was asked after it has loaded answers behind its first drawing, which
// costs a page that loads in 30 ms another 10. So a navigation brings a script along that
// runs before those of the page, in our world of the document, and says what the document
// is when its load event is over, before it is drawn. It speaks through a binding that
// exists in that world only. Where it does not come to that, the document is asked.

// sayBinding is the binding.
const sayBinding = "outriderSays"

// sayScript is run by frames too that come before it is taken back, where it does
// nothing. The title may be set by listeners of the page that come after ours, so
// another task says it; the binding may come a moment later still.
const sayScript = `(()=>{"use strict";if(window.parent!==window)return;` + describing +
	`const say=(left)=>{if(typeof globalThis.` + sayBinding + `==="function")` + sayBinding + `("%s "+describe());` +
	`else if(left>0)setTimeout(say,0,left-1)};` +
	`addEventListener("pageshow",()=>scheduler.postTask(()=>say(12),{priority:"user-blocking"}),{once:true})})()`

// saying is what the document that a navigation brings says by itself.
type saying struct {
	nonce string

	mu     sync.Mutex
	script string // what the browser calls the script; "" before it has said
	over   bool   // the script is not wanted any more

	said chan struct{} // closed when it has spoken
	// Set before said is closed.
	doc    *world.Document
	world  *world.World
	answer []byte
}

func (t *Page) newSaying() *saying {
	a := &saying{nonce: world.NewToken(), said: make(chan struct{})}
	t.mu.Lock()
	t.saying = a
	t.mu.Unlock()
	return a
}

// bringSaying is the command that brings the script, to be sent together with the one
// that navigates.
func (t *Page) bringSaying(a *saying) cdp.Command {
	params := cdp.Object("source", fmt.Sprintf(sayScript, a.nonce), "world.Name", world.Name)
	return cdp.Command{Session: t.s.ID, Method: "Page.addScriptToEvaluateOnNewDocument", Params: params, OnReply: func(r cdp.Reply) {
		if r.Err != nil {
			return
		}
		a.mu.Lock()
		a.script = string(cdp.PlainString(cdp.Member(r.Result, "identifier")))
		late := a.over
		a.mu.Unlock()
		if late {
			t.takeBack(a)
		}
	}}
}

// awaitSaying gives the document its voice and takes the script back from those that
// come after it. It is called when the document is on its way: the browser holds what it
// is sent then until the document is there. A nil saying does nothing.
func (t *Page) awaitSaying(a *saying) {
	if a == nil {
		return
	}
	t.client.Post(cdp.Command{Session: t.s.ID, Method: "Runtime.addBinding", Params: cdp.Object("name", sayBinding, "executionContextName", world.Name)})
	t.endSaying(a)
}

// endSaying takes the script back.
func (t *Page) endSaying(a *saying) {
	a.mu.Lock()
	first, there := !a.over, a.script != ""
	a.over = true
	a.mu.Unlock()
	if first && there {
		t.takeBack(a)
	}
}

func (t *Page) takeBack(a *saying) {
	t.client.Post(cdp.Command{Session: t.s.ID, Method: "Page.removeScriptToEvaluateOnNewDocument", Params: cdp.Object("identifier", a.script)})
}

// onSaid is the reader's.
func (t *Page) onSaid(s *cdp.Session, params []byte) {
	payload, ok := cdp.Unquote(cdp.Member(params, "payload"))
	number, err := strconv.Atoi(string(cdp.Member(params, "executionContextId")))
	nonce, text, _ := bytes.Cut(payload, []byte(" "))
	t.mu.Lock()
	a, f := t.saying, t.frames[t.main]
	if !ok || err != nil || a == nil || string(nonce) != a.nonce || f == nil || f.s != s {
		t.mu.Unlock()
		return
	}
	t.saying = nil
	a.doc, a.world, a.answer = f.doc, world.New(number), text
	changed := t.takeDescription(text)
	close(a.said)
	t.mu.Unlock()
	if changed {
		t.observer.Changed()
	}
}

// saidItself is what the document that is there has said, nil when it has not. The page
// library is installed behind it.
func (t *Page) saidItself(ctx context.Context, n *navigation) []byte {
	a := n.saying
	if a == nil || !n.loaded || n.seen != n.commits+1 { // the script was for the first document
		return nil
	}
	timer := time.NewTimer(sayCap)
	defer timer.Stop()
	select {
	case <-a.said:
	case <-n.life.Done():
		return nil
	case <-ctx.Done():
		return nil
	case <-timer.C:
		return nil
	}
	p, err := t.locate(ctx, "")
	if err != nil || p.doc != a.doc {
		return nil
	}
	select {
	case p.doc.Building() <- struct{}{}:
		if p.doc.World() == nil {
			t.client.Post(t.beginning(p, a.world)...)
			p.doc.SetWorld(a.world)
		}
		p.doc.Built()
	default: // somebody else is making it
	}
	return a.answer
}
