package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
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
func (t *Tab) describe(ctx context.Context, n *navigation) (out primitives.Navigation, ok bool) {
	info := t.Tab()
	out = primitives.Navigation{URL: info.URL, Title: info.Title, SameDocument: n.same, Replaced: n.replaced, Loaded: n.loaded || n.same}
	ctx, cancel := context.WithTimeout(ctx, describeCap)
	defer cancel()
	text := t.saidItself(ctx, n)
	if text == nil {
		t.mu.Lock()
		commits := t.commits
		t.mu.Unlock()
		remote, err := t.inWorld(ctx, "", func(string) invocation {
			return invocation{function: describeFunction, byValue: true, bare: true, heard: func(r reply) { t.onAskedDescription(r, commits) }}
		})
		if err != nil {
			t.b.log.Debug("the new document did not describe itself", "error", err)
			return out, false
		}
		text, _ = unquote(member(remote, "value"))
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
func (t *Tab) onAskedDescription(r reply, commits int) {
	text, ok := unquote(member(member(r.result, "result"), "value"))
	t.mu.Lock()
	changed := ok && t.commits == commits && t.takeDescription(text)
	t.mu.Unlock()
	if changed {
		t.b.events.add(Event{Kind: TabChanged, Tab: t})
	}
}

// takeDescription takes over what the document that is there says of itself, and
// reports whether that is new. The reader does so where it reads it: the browser may
// say something newer before who waits for the description is awake. A document
// without a title has the one that the browser gives it. t.mu is held.
func (t *Tab) takeDescription(text []byte) (changed bool) {
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
	doc    *document
	world  *world
	answer []byte
}

func (t *Tab) newSaying() *saying {
	a := &saying{nonce: newToken(), said: make(chan struct{})}
	t.mu.Lock()
	t.saying = a
	t.mu.Unlock()
	return a
}

// bringSaying is the command that brings the script, to be sent together with the one
// that navigates.
func (t *Tab) bringSaying(a *saying) command {
	params := object("source", fmt.Sprintf(sayScript, a.nonce), "worldName", worldName)
	return command{session: t.s.id, method: "Page.addScriptToEvaluateOnNewDocument", params: params, then: func(r reply) {
		if r.err != nil {
			return
		}
		a.mu.Lock()
		a.script = string(plainString(member(r.result, "identifier")))
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
func (t *Tab) awaitSaying(a *saying) {
	if a == nil {
		return
	}
	t.b.c.post(command{session: t.s.id, method: "Runtime.addBinding", params: object("name", sayBinding, "executionContextName", worldName)})
	t.endSaying(a)
}

// endSaying takes the script back.
func (t *Tab) endSaying(a *saying) {
	a.mu.Lock()
	first, there := !a.over, a.script != ""
	a.over = true
	a.mu.Unlock()
	if first && there {
		t.takeBack(a)
	}
}

func (t *Tab) takeBack(a *saying) {
	t.b.c.post(command{session: t.s.id, method: "Page.removeScriptToEvaluateOnNewDocument", params: object("identifier", a.script)})
}

// onSaid is the reader's.
func (t *Tab) onSaid(s *session, params []byte) {
	payload, ok := unquote(member(params, "payload"))
	number, err := strconv.Atoi(string(member(params, "executionContextId")))
	nonce, text, _ := bytes.Cut(payload, []byte(" "))
	t.mu.Lock()
	a, f := t.saying, t.frames[t.main]
	if !ok || err != nil || a == nil || string(nonce) != a.nonce || f == nil || f.s != s {
		t.mu.Unlock()
		return
	}
	t.saying = nil
	a.doc, a.world, a.answer = f.doc, &world{context: number, token: newToken()}, text
	changed := t.takeDescription(text)
	close(a.said)
	t.mu.Unlock()
	if changed {
		t.b.events.add(Event{Kind: TabChanged, Tab: t})
	}
}

// saidItself is what the document that is there has said, nil when it has not. The page
// library is installed behind it.
func (t *Tab) saidItself(ctx context.Context, n *navigation) []byte {
	a := n.saying
	if a == nil || !n.loaded || n.seen != n.commits+1 { // the script was for the first document
		return nil
	}
	timer := time.NewTimer(sayCap)
	defer timer.Stop()
	select {
	case <-a.said:
	case <-n.life.over:
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
	case p.doc.building <- struct{}{}:
		if p.doc.current() == nil {
			t.b.c.post(t.beginning(p, a.world)...)
			p.doc.begun(a.world)
		}
		<-p.doc.building
	default: // somebody else is making it
	}
	return a.answer
}
