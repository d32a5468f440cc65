package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/primitives"
)

const (
	// describeCap bounds asking the new document for its title and status.
	describeCap = 2 * time.Second
	// aheadCap bounds waiting, once the document has loaded, for the answer to what
	// it was asked before.
	aheadCap = 50 * time.Millisecond
)

// describe says what is there now. The document is asked, in our world; one
// that does not answer is described from outside, and then ok is false.
func (t *Tab) describe(ctx context.Context, n *navigation) (out primitives.Navigation, ok bool) {
	info := t.Tab()
	out = primitives.Navigation{URL: info.URL, Title: info.Title, SameDocument: n.same, Replaced: n.replaced, Loaded: n.loaded || n.same}
	ctx, cancel := context.WithTimeout(ctx, describeCap)
	defer cancel()
	remote := t.saidAhead(ctx, n)
	if remote == nil {
		var err error
		remote, err = t.inWorld(ctx, "", func(string) invocation { return invocation{function: describeFunction, byValue: true, bare: true} })
		if err != nil {
			t.b.log.Debug("the new document did not describe itself", "error", err)
			return out, false
		}
	}
	var d struct {
		Title  string `json:"title"`
		URL    string `json:"url"`
		Status int    `json:"status"`
	}
	text, ok := unquote(member(remote, "value"))
	if !ok || json.Unmarshal(text, &d) != nil {
		return out, false
	}
	out.URL, out.Title, out.Status = d.URL, d.Title, d.Status
	t.mu.Lock()
	t.title, t.identity.URL = d.Title, d.URL
	t.mu.Unlock()
	return out, true
}

// describeFunction reads the title through the prototype: an element named
// "title" hides the document's own.
const describeFunction = `function(){"use strict";` + describing + `return describe()}`

// describeAheadFunction answers when the load event is over, before the document is
// drawn for the first time: a command that is sent then waits for that.
const describeAheadFunction = `async function(){"use strict";` + describing +
	`if(own("readyState")!=="complete")await new Promise((done)=>addEventListener("pageshow",done,{once:true}));` +
	`return scheduler.postTask(describe,{priority:"user-blocking"})}`

const describing = `const own=(name)=>Object.getOwnPropertyDescriptor(Document.prototype,name).get.call(document);` +
	`const describe=()=>{const n=performance.getEntriesByType("navigation")[0];` +
	`return JSON.stringify({title:String(own("title")),url:location.href,status:n&&n.responseStatus||0})};`

// ahead is what a document was asked while it was loading.
type ahead struct {
	doc      *document
	s        *session
	id       primitives.FrameID
	answered chan struct{}
	// Set before answered is closed.
	world  *world
	remote []byte // nil when there is no answer
}

// askAhead asks a document that has just come what it is when it has loaded. It waits
// for nothing: whoever cannot use the answer asks again.
func (t *Tab) askAhead(p place) *ahead {
	a := &ahead{doc: p.doc, s: p.s, id: p.id, answered: make(chan struct{})}
	take := func(r reply) {
		if r.err == nil && member(r.result, "exceptionDetails") == nil {
			a.remote = bytes.Clone(member(r.result, "result"))
		}
		close(a.answered)
	}
	t.b.c.post(command{session: p.s.id, method: "Page.createIsolatedWorld", params: worldParams(p.id), then: func(r reply) {
		id, err := strconv.Atoi(string(member(r.result, "executionContextId")))
		if r.err != nil || err != nil {
			close(a.answered)
			return
		}
		a.world = &world{context: id, token: newToken()}
		cmd := invocation{function: describeAheadFunction, byValue: true}.command(p.s, a.world)
		cmd.then = take
		t.b.c.post(cmd)
	}})
	return a
}

// saidAhead is the answer of the document that is there, nil when there is none. The
// page library is installed behind it.
func (t *Tab) saidAhead(ctx context.Context, n *navigation) []byte {
	a := n.ahead
	if a == nil || !n.loaded {
		return nil
	}
	timer := time.NewTimer(aheadCap)
	defer timer.Stop()
	select {
	case <-a.answered:
	case <-a.doc.gone:
		return nil
	case <-n.life.over:
		return nil
	case <-ctx.Done():
		return nil
	case <-timer.C:
		return nil
	}
	p, err := t.locate(ctx, "")
	if err != nil || p.doc != a.doc || a.remote == nil {
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
	return a.remote
}
