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
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

const (
	// describeTimeout bounds evaluating title and status in the new document.
	describeTimeout = 2 * time.Second
	// loadReportTimeout bounds waiting, once the document has loaded, for it to say what it is
	// by itself.
	loadReportTimeout = 25 * time.Millisecond
)

// describe returns which document there is. It is evaluated in our world; a document
// that does not answer is described from outside, and then ok is false.
func (p *Page) describe(ctx context.Context, n *navigation) (out primitives.Navigation, ok bool) {
	info := p.Tab()
	out = primitives.Navigation{
		URL:          info.URL,
		Title:        info.Title,
		SameDocument: n.same,
		Replaced:     n.replaced,
		Loaded:       n.loaded || n.same,
	}
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	text := p.awaitLoadReport(ctx, n)
	if text == nil {
		p.mu.Lock()
		commits := p.commits
		p.mu.Unlock()
		remote, err := p.Run(ctx, "", func(string) world.Invocation {
			return world.Invocation{
				Function:       describeFunction,
				ByValue:        true,
				WithoutLibrary: true,
				Observe:        func(r cdp.Reply) { p.onDescription(r, commits) },
			}
		})
		if err != nil {
			p.log.Debug("the new document did not describe itself", "error", err)
			return out, false
		}
		text, _ = cdp.Unquote(cdp.Member(remote, "value"))
	}
	var d description
	if json.Unmarshal(text, &d) != nil {
		return out, false
	}
	out.URL = address.WithoutUser(d.URL)
	out.Title = d.Title
	out.Status = d.Status
	out.Blank = d.Blank && out.Loaded
	return out, true
}

// description is what a document reports of itself.
type description struct {
	Title  string `json:"title"`
	URL    string `json:"url"`
	Status int    `json:"status"`
	Blank  bool   `json:"blank"`
}

// onDescription is the reader's.
func (p *Page) onDescription(r cdp.Reply, commits int) {
	text, ok := cdp.Unquote(cdp.Member(cdp.Member(r.Result, "result"), "value"))
	p.mu.Lock()
	changed := ok && p.commits == commits && p.takeDescription(text)
	p.mu.Unlock()
	if changed {
		p.observer.Changed()
	}
}

// takeDescription takes over what the current document reports of itself, and
// reports whether that is new. The reader does so where it reads it: the browser may
// say something newer before who waits for the description is awake. A document
// without a title has the one that the browser gives it. p.mu is held.
func (p *Page) takeDescription(text []byte) (changed bool) {
	var d description
	if json.Unmarshal(text, &d) != nil {
		return false
	}
	d.URL = address.WithoutUser(d.URL)
	if d.Title == "" {
		d.Title = p.title
	}
	changed = p.title != d.Title || p.identity.URL != d.URL
	p.title, p.identity.URL = d.Title, d.URL
	return changed
}

// describeFunction reads the title through the prototype: an element named
// "title" hides the document's own.
const describeFunction = `function(){"use strict";` + describeSource + `return describe()}`

const describeSource = `const own=(name)=>Object.getOwnPropertyDescriptor(Document.prototype,` +
	`name).get.call(document);` + blankSource +
	`const describe=()=>{const n=performance.getEntriesByType("navigation")[0];` +
	`return JSON.stringify({title:String(own("title")),url:location.href,status:n&&n.responseStatus||0,` +
	`blank:blank()})};`

// blankSource finds out whether the document has nothing to show yet, and a script that may draw it. Nothing is laid
// out for that, which would cost every page time: what is there but hidden counts as shown.
const blankSource = `const blank=()=>{const body=own("body");if(!body||!own("scripts").length)return false;` +
	`const nodes=Document.prototype.createTreeWalker.call(document,body,5,(n)=>n.nodeType===1&&` +
	`/^(script|style|noscript|template)$/i.test(n.nodeName)?2:1);` +
	`for(let n,left=` + mostBlank + `;n=nodes.nextNode();)` +
	`if(--left<0||(n.nodeType===3?/\S/.test(n.nodeValue):n.shadowRoot||` +
	`/^(img|svg|math|canvas|video|audio|i?frame|object|embed|input|button|select|textarea|meter|progress)$/i` +
	`.test(n.nodeName)))return false;return true};`

// mostBlank bounds how many nodes are looked at for that; a document of more has something to show.
const mostBlank = "2000"

// An evaluation after the load event is answered behind its first drawing, which
// costs a page that loads in 30 ms another 10. So a navigation brings a script along that
// runs before those of the page, in our world of the document, and reports what the document
// is when its load event is over, before it is drawn. It speaks through a binding that
// exists in that world only. Where it does not come to that, describe evaluates it.

// loadReportBinding is the binding.
const loadReportBinding = "outriderSays"

// loadReportScript is run by frames too that come before it is taken back, where it does
// nothing. The title may be set by listeners of the page that come after ours, so
// another task reports it; the binding may come a moment later still.
const loadReportScript = `(()=>{"use strict";if(window.parent!==window)return;` + describeSource +
	`const say=(left)=>{if(typeof globalThis.` + loadReportBinding + `==="function")` + loadReportBinding +
	`("%s "+describe());` +
	`else if(left>0)setTimeout(say,0,left-1)};` +
	`addEventListener("pageshow",()=>scheduler.postTask(()=>say(12),{priority:"user-blocking"}),{once:true})})()`

// loadReport is what the document that a navigation brings reports by itself.
type loadReport struct {
	nonce string

	mu     sync.Mutex
	script string // what the browser calls the script; "" before the browser has answered
	over   bool   // the report was taken, or the wait for it given up

	given chan struct{} // closed when the report has come
	// Set before given is closed.
	document *world.Document
	world    *world.World
	answer   []byte
}

func (p *Page) newLoadReport() *loadReport {
	report := &loadReport{nonce: world.NewToken(), given: make(chan struct{})}
	p.mu.Lock()
	p.loadReport = report
	p.mu.Unlock()
	return report
}

// loadReportCommand is the command that brings the script, to be sent together with the one
// that navigates.
func (p *Page) loadReportCommand(report *loadReport) cdp.Command {
	params := cdp.Object("source", fmt.Sprintf(loadReportScript, report.nonce), "worldName", world.Name)
	return cdp.Command{
		Session: p.session.ID,
		Method:  "Page.addScriptToEvaluateOnNewDocument",
		Params:  params,
		OnReply: func(r cdp.Reply) {
			if r.Err != nil {
				return
			}
			report.mu.Lock()
			report.script = string(cdp.PlainString(cdp.Member(r.Result, "identifier")))
			late := report.over
			report.mu.Unlock()
			if late {
				p.removeLoadReport(report)
			}
		},
	}
}

// bindLoadReport adds the binding to the document and takes the script back from those that
// come after it. It is called when the document is on its way: the browser holds what it
// is sent then until the document is there. A nil report does nothing.
func (p *Page) bindLoadReport(report *loadReport) {
	if report == nil {
		return
	}
	p.client.Post(cdp.Command{
		Session: p.session.ID,
		Method:  "Runtime.addBinding",
		Params:  cdp.Object("name", loadReportBinding, "executionContextName", world.Name),
	})
	p.endLoadReport(report)
}

// endLoadReport takes the script back.
func (p *Page) endLoadReport(report *loadReport) {
	report.mu.Lock()
	first, there := !report.over, report.script != ""
	report.over = true
	report.mu.Unlock()
	if first && there {
		p.removeLoadReport(report)
	}
}

func (p *Page) removeLoadReport(report *loadReport) {
	p.client.Post(cdp.Command{
		Session: p.session.ID,
		Method:  "Page.removeScriptToEvaluateOnNewDocument",
		Params:  cdp.Object("identifier", report.script),
	})
}

// onLoadReport is the reader's.
func (p *Page) onLoadReport(s *cdp.Session, params []byte) {
	payload, ok := cdp.Unquote(cdp.Member(params, "payload"))
	number, err := strconv.Atoi(string(cdp.Member(params, "executionContextId")))
	nonce, text, _ := bytes.Cut(payload, []byte(" "))
	p.mu.Lock()
	report, f := p.loadReport, p.frames[p.main]
	sent := ok && err == nil && report != nil && string(nonce) == report.nonce
	if !sent || f == nil || f.session != s {
		p.mu.Unlock()
		return
	}
	p.loadReport = nil
	report.document = f.document
	report.world = world.New(number)
	report.answer = text
	changed := p.takeDescription(text)
	close(report.given)
	p.mu.Unlock()
	if changed {
		p.observer.Changed()
	}
}

// awaitLoadReport is what the document that is there has reported, nil when it has not. The page
// library is installed behind it.
func (p *Page) awaitLoadReport(ctx context.Context, n *navigation) []byte {
	report := n.loadReport
	if report == nil || !n.loaded || n.seen != n.commits+1 { // the script was for the first document
		return nil
	}
	timer := time.NewTimer(loadReportTimeout)
	defer timer.Stop()
	select {
	case <-report.given:
	case <-n.lifetime.Done():
		return nil
	case <-ctx.Done():
		return nil
	case <-timer.C:
		return nil
	}
	at, err := p.resolveFrame(ctx, "")
	if err != nil || at.document != report.document {
		return nil
	}
	select {
	case at.document.Building() <- struct{}{}:
		if at.document.World() != nil {
			at.document.Built()
			break
		}
		// Should the document have no library, a call that follows finds no token, and begins anew.
		p.client.Post(p.beginning(at, report.world))
		at.document.SetWorld(report.world)
		at.document.Built()
	default: // somebody else is making it
	}
	return report.answer
}
