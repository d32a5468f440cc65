package listen

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Page events are observed by a script that runs before the first one of every
// document, in every frame, in an isolated world of its own. It reports through
// a binding that exists in that world only: a page can neither see nor call it.
//
// Bindings appear by themselves in new contexts only while the Runtime domain is
// enabled, which a page could notice and which costs an event for each context.
// So the binding is added to each document of a page that is subscribed to when it
// is there; what the script hears before, it buffers. It is added by the name of
// the world: the number of a context may mean another one by the time that the
// command arrives, even one of the page's own.

// World is where a script runs, and the binding that it calls there.
type World struct{ Name, Binding string }

// Signals is the world of the script that hears the signals of maps, Person that of the
// script that follows a person.
var (
	Signals = World{"outrider-signals", "outriderReport"}
	Person  = World{"outrider-person", "outriderPerson"}
)

// maxReport bounds one report of a script, which bounds itself to less.
const maxReport = 1 << 20

// Script is a script that listens for page events, and the pages whose documents get the
// binding through which it reports: those of Hosts and below, or Any.
type Script struct {
	Source string
	Hosts  []string
	Any    bool
}

// Listener brings the script into all documents of a browser. A nil Listener does
// nothing.
type Listener struct {
	client *cdp.Client
	world  World

	mu       sync.Mutex
	script   Script // without a source nobody is subscribed
	version  int
	sessions map[*cdp.Session]installed
}

// installed is the script as a session has it.
type installed struct {
	version int
	id      string // of the script that the browser keeps for new documents
}

// New makes a listener of a browser.
func New(client *cdp.Client, world World, script Script) *Listener {
	return &Listener{client: client, world: world, script: script, version: 1, sessions: map[*cdp.Session]installed{}}
}

// subscribed reports whether the pages of an address get the binding.
func (l *Listener) subscribed(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.script.Source == "" {
		return false
	}
	if l.script.Any {
		return true
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return slices.ContainsFunc(l.script.Hosts, func(h string) bool {
		return host == h || strings.HasSuffix(host, "."+h) || "www."+host == h
	})
}

// FrameBegan gives a new document of a frame the binding. page is the address of the
// page that the frame belongs to. The reader calls it.
func (l *Listener) FrameBegan(s *cdp.Session, frame string, page string) {
	if l == nil || !l.subscribed(page) {
		return
	}
	l.client.Post(
		cdp.Command{
			Session: s.ID,
			Method:  "Page.createIsolatedWorld",
			Params:  cdp.Object("frameId", frame, "worldName", l.world.Name),
		},
		l.bindCommand(s),
	)
}

func (l *Listener) bindCommand(s *cdp.Session) cdp.Command {
	return cdp.Command{
		Session: s.ID,
		Method:  "Runtime.addBinding",
		Params:  cdp.Object("name", l.world.Binding, "executionContextName", l.world.Name),
		OnReply: func(cdp.Reply) {},
	}
}

// Replace puts another script into every document from here on, before its own
// scripts, and into those that are there already. It takes the place of an earlier one
// for new documents; in those that are there both have run. It returns when every
// session has it that answers within ctx, or when the browser is lost. sessions lists
// those that there are.
func (l *Listener) Replace(ctx context.Context, script Script, sessions func() []*cdp.Session) {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.script = script
	l.version++
	l.mu.Unlock()
	var waiting atomic.Int64
	waiting.Add(1)
	all := make(chan struct{})
	done := func() {
		if waiting.Add(-1) == 0 {
			close(all)
		}
	}
	for _, s := range sessions() {
		waiting.Add(1)
		commands := l.commands(s, done)
		if len(commands) == 0 {
			done()
			continue
		}
		if _, err := l.client.Start(ctx, commands...); err != nil {
			return // the browser is lost: the next one begins with the script
		}
	}
	done()
	select {
	case <-all:
	case <-ctx.Done():
	case <-l.client.Done():
	}
}

// SessionCommands are those that bring the script into the documents of a new session.
func (l *Listener) SessionCommands(s *cdp.Session) []cdp.Command {
	if l == nil {
		return nil
	}
	return l.commands(s, nil)
}

// commands are those that bring the script into the documents of a session. done, when
// not nil, is called once, when they are there.
func (l *Listener) commands(s *cdp.Session, done func()) []cdp.Command {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.script.Source == "" {
		return nil
	}
	version := l.version
	params := cdp.Object("source", l.script.Source, "worldName", l.world.Name)
	params = append(params[:len(params)-1], `,"runImmediately":true}`...)
	return []cdp.Command{
		{Session: s.ID, Method: "Page.addScriptToEvaluateOnNewDocument", Params: params, OnReply: func(r cdp.Reply) {
			if r.Err == nil {
				l.note(s, version, string(cdp.PlainString(cdp.Member(r.Result, "identifier"))))
			}
			if done != nil {
				done()
			}
		}},
		l.bindCommand(s), // for the documents that are there
	}
}

// note remembers that a session has a version of the script, and takes back the older
// one.
func (l *Listener) note(s *cdp.Session, version int, id string) {
	l.mu.Lock()
	old := id
	if had := l.sessions[s]; version >= had.version {
		old = had.id
		l.sessions[s] = installed{version: version, id: id}
	}
	l.mu.Unlock()
	if old != "" {
		l.client.Post(cdp.Command{
			Session: s.ID,
			Method:  "Page.removeScriptToEvaluateOnNewDocument",
			Params:  cdp.Object("identifier", old),
		})
	}
}

// SessionDetached forgets a session.
func (l *Listener) SessionDetached(s *cdp.Session) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sessions, s)
}

// Report takes the event of a binding apart. ok is false when it is not a report of the
// script. The reader calls it.
func (l *Listener) Report(params []byte) (report []byte, ok bool) {
	if l == nil || len(params) > maxReport || string(cdp.PlainString(cdp.Member(params, "name"))) != l.world.Binding {
		return nil, false
	}
	payload, ok := cdp.Unquote(cdp.Member(params, "payload"))
	return payload, ok
}
