package browser

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/outrider-run/outrider/primitives"
)

// Page events are heard by a script that runs before the first one of every
// document, in every frame, in an isolated world of its own. It reports through
// a binding that exists in that world only: a page can neither see nor call it.
//
// Bindings appear by themselves in new contexts only while the Runtime domain is
// enabled, which a page could notice and which costs an event for each context.
// So the binding is added to each document of a page that is listened to when it
// is there; what the script hears before, it keeps. It is added by the name of
// the world: the number of a context may mean another one by the time that the
// command arrives, even one of the page's own.

const (
	listenWorld   = "outrider-signals"
	listenBinding = "outriderHeard"
	// maxHeard bounds one report of the script, which bounds itself to less.
	maxHeard = 1 << 20
)

// listening is the script that all documents of the browser get.
type listening struct {
	mu      sync.Mutex
	source  string // "" for none, ever
	hosts   []string
	any     bool
	version int
}

// ListenScript is a script that hears page events, and the pages whose documents
// get the binding through which it reports: those of Hosts and below, or Any.
type ListenScript struct {
	Source string
	Hosts  []string
	Any    bool
}

// listens says whether pages of an address are listened to.
func (l *listening) listens(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.source == "" {
		return false
	}
	if l.any {
		return true
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return slices.ContainsFunc(l.hosts, func(h string) bool {
		return host == h || strings.HasSuffix(host, "."+h) || "www."+host == h
	})
}

func (l *listening) set(s ListenScript) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.source, l.hosts, l.any = s.Source, s.Hosts, s.Any
	l.version++
}

// hearFrame gives a new document of a frame the binding.
func (t *Tab) hearFrame(s *session, id primitives.FrameID) {
	if t.b.opts.OnSignal == nil {
		return
	}
	t.mu.Lock()
	address := t.identity.URL
	t.mu.Unlock()
	if !t.b.listening.listens(address) {
		return
	}
	t.b.c.post(
		command{session: s.id, method: "Page.createIsolatedWorld", params: object("frameId", string(id), "worldName", listenWorld)},
		bindCommand(s),
	)
}

func bindCommand(s *session) command {
	return command{session: s.id, method: "Runtime.addBinding", params: object("name", listenBinding, "executionContextName", listenWorld), then: func(reply) {}}
}

// listenedSession is what a session knows of it; guarded by listening.mu.
type listenedSession struct {
	version int
	id      string // of the script that the browser keeps for new documents
}

// Listen puts source into every document from now on, before its own scripts,
// and into those that are there already. It takes the place of an earlier one
// for new documents; in those that are there both have run. It returns when
// every frame has it that answers within ctx.
func (b *Browser) Listen(ctx context.Context, script ListenScript) {
	b.listening.set(script)
	b.mu.Lock()
	tabs := append([]*Tab{}, b.tabs...)
	b.mu.Unlock()
	var waiting atomic.Int64
	waiting.Add(1)
	all := make(chan struct{})
	heard := func() {
		if waiting.Add(-1) == 0 {
			close(all)
		}
	}
	for _, t := range tabs {
		t.mu.Lock()
		sessions := t.sessionsLocked()
		t.mu.Unlock()
		for _, s := range sessions {
			waiting.Add(1)
			commands := b.listenCommands(s, heard)
			if len(commands) == 0 {
				heard()
				continue
			}
			if _, err := b.c.start(ctx, commands...); err != nil {
				return // the browser is gone: the next one begins with the script
			}
		}
	}
	heard()
	select {
	case <-all:
	case <-ctx.Done():
	case <-b.done:
	}
}

// listenCommands are those that bring the script into the documents of a
// session. heard, when not nil, is called once, when they are there.
func (b *Browser) listenCommands(s *session, heard func()) []command {
	l := &b.listening
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.source == "" || b.opts.OnSignal == nil {
		return nil
	}
	version := l.version
	params := object("source", l.source, "worldName", listenWorld)
	params = append(params[:len(params)-1], `,"runImmediately":true}`...)
	out := []command{{
		session: s.id, method: "Page.addScriptToEvaluateOnNewDocument", params: params,
		then: func(r reply) {
			if r.err == nil {
				b.listens(s, version, string(plainString(member(r.result, "identifier"))))
			}
			if heard != nil {
				heard()
			}
		},
	}}
	// For the documents that are there.
	return append(out, bindCommand(s))
}

// listens notes that a session has a version of the script, and takes back the
// older one.
func (b *Browser) listens(s *session, version int, id string) {
	b.listening.mu.Lock()
	old := id
	if version >= s.listened.version {
		old, s.listened.id, s.listened.version = s.listened.id, id, version
	}
	b.listening.mu.Unlock()
	if old != "" {
		b.c.post(command{session: s.id, method: "Page.removeScriptToEvaluateOnNewDocument", params: object("identifier", old)})
	}
}

// onBinding is the reader's.
func (b *Browser) onBinding(s *session, params []byte) {
	if string(plainString(member(params, "name"))) == sayBinding && s.frame == "" {
		s.tab.onSaid(s, params)
		return
	}
	if b.opts.OnSignal == nil || string(plainString(member(params, "name"))) != listenBinding || len(params) > maxHeard {
		return
	}
	payload, ok := unquote(member(params, "payload"))
	if !ok {
		return
	}
	b.opts.OnSignal(s.tab, append([]byte(nil), payload...))
}
