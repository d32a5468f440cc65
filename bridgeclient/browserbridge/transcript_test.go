package browserbridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/outrider-run/outrider/bridgeclient/browserbridge"
	"github.com/outrider-run/outrider/bridgeclient/browserbridge/backend"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

const transcripts = "../../testdata/bridge/browserbridge"

func TestMain(m *testing.M) {
	expr.MaybeWorker()
	browsertest.Main(m)
}

// openHost opens a host with two empty tabs, 1 and 2.
func openHost(t testing.TB) *runtime.Host {
	t.Helper()
	return runtimetest.Open(t, runtime.Options{Open: []string{"about:blank", "about:blank"}})
}

// bridge is a client and the backend it is connected to.
type bridge struct {
	t       testing.TB
	backend *backend.Backend
	client  *browserbridge.Client
	url     string
	events  chan json.RawMessage
}

func connect(t testing.TB, host browserbridge.Host, change func(*browserbridge.Options), with backend.Options) *bridge {
	t.Helper()
	b := &bridge{t: t, events: make(chan json.RawMessage, 1000)}
	with.OnEvent = func(e json.RawMessage) { b.events <- e }
	b.backend = backend.New(with)
	server := httptest.NewServer(b.backend)
	b.url = "ws" + strings.TrimPrefix(server.URL, "http")
	o := browserbridge.Options{
		URL:           b.url,
		Host:          host,
		ClientVersion: "test",
		RetryMin:      20 * time.Millisecond,
		RetryMax:      200 * time.Millisecond,
	}
	if change != nil {
		change(&o)
	}
	client, err := browserbridge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	b.client = client
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = client.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		b.backend.Close()
		server.Close()
		for _, v := range b.backend.Violations() {
			t.Errorf("the client acted against the protocol: %s", v)
		}
	})
	waiting, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if err := b.backend.Await(waiting); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTranscripts plays testdata/bridge/browserbridge/*.txtar against a real
// browser. A page/NAME section is served as /NAME; options are those of the
// client. In the script
//
//	> ACTION        requests an action and waits
//	< RESULT        is what it gave, or a part of it
//	! CODE [TEXT]   is the error that it gave, with TEXT in its message
//	>> NAME ACTION  requests without waiting; << NAME and !! NAME as above
//	* EVENT         is the next event
//	@…              hidden ID (waits until get_tabs leaves it out), stop, stop_session ID, block HOSTS, drop, await,
//	                raw FRAME, send ID FRAME (waits for the response to that id), removals (what hold_removals of
//	                the options keeps back is told: the host reports that a tab was removed)
//
// "$SITE" and "$BLOCKED" are two origins of the pages. A string "$any" matches
// anything, "$re:…" a text, "$absent" nothing, and any other "$name" stands for
// the value it matched first. Events that are left at the end are a failure.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(transcripts, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts in %s: %v", transcripts, err)
	}
	host := openHost(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			play(t, host, a)
		})
	}
}

// slowHost is a host that reports the removal of a tab when it is let, and so long
// nothing else.
type slowHost struct {
	*runtime.Host
	let, removed chan struct{}
	release      func() // closes let, once
}

func (h *slowHost) Subscribe(fn func(runtime.Event)) func() {
	return h.Host.Subscribe(func(ev runtime.Event) {
		if ev.Kind == runtime.TabRemoved {
			<-h.let
			defer func() { h.removed <- struct{}{} }()
		}
		fn(ev)
	})
}

type player struct {
	*bridge
	slow    *slowHost // nil for none
	t       *testing.T
	names   map[string]any
	replace *strings.Replacer
	pending map[string]chan outcome
}

type outcome struct {
	result json.RawMessage
	err    error
}

func play(t *testing.T, host *runtime.Host, a *txtar.Archive) {
	pages := map[string][]byte{}
	var script string
	var options struct {
		Block         []string `json:"block"`
		UserTabs      bool     `json:"user_tabs"`
		KeepWebDriver bool     `json:"keep_webdriver"`
		LeaveDialogs  bool     `json:"leave_dialogs"`
		HoldRemovals  bool     `json:"hold_removals"`
		IdleMS        int      `json:"idle_ms"`
	}
	for _, f := range a.Files {
		switch name, page := strings.CutPrefix(f.Name, "page/"); {
		case page:
			pages["/"+name] = f.Data
		case f.Name == "script":
			script = string(f.Data)
		case f.Name == "options":
			if err := json.Unmarshal(f.Data, &options); err != nil {
				t.Fatal(err)
			}
		}
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		switch {
		case r.URL.Path == "/to-blocked":
			http.Redirect(w, r, "http://blocked.localhost:"+r.URL.Query().Get("port")+"/landed.html", http.StatusFound)
			return
		case r.URL.Path == "/hang":
			<-r.Context().Done()
			return
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		body = bytes.ReplaceAll(body, []byte("$BLOCKED"), []byte("http://blocked.localhost:"+portOf(r.Host)))
		_, _ = w.Write(append([]byte("<!doctype html>"), body...))
	}))
	t.Cleanup(func() { site.CloseClientConnections(); site.Close() })
	port := portOf(strings.TrimPrefix(site.URL, "http://"))
	var on browserbridge.Host = host
	var slow *slowHost
	if options.HoldRemovals {
		slow = &slowHost{Host: host, let: make(chan struct{}), removed: make(chan struct{}, 100)}
		slow.release = sync.OnceFunc(func() { close(slow.let) })
		defer slow.release()
		on = slow
	}
	b := connect(t, on, func(o *browserbridge.Options) {
		o.Block = options.Block
		o.UserTabs = options.UserTabs
		o.KeepWebDriver = options.KeepWebDriver
		o.LeaveDialogs = options.LeaveDialogs
		o.Idle = time.Duration(options.IdleMS) * time.Millisecond
	}, backend.Options{})
	p := &player{
		bridge:  b,
		t:       t,
		slow:    slow,
		names:   map[string]any{},
		pending: map[string]chan outcome{},
		replace: strings.NewReplacer("$SITE", site.URL, "$BLOCKED", "http://blocked.localhost:"+port, "$PORT", port),
	}
	var last outcome
	for n, line := range strings.Split(script, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if !p.step(line, &last) {
			t.Fatalf("script line %d: %s", n+1, line)
		}
	}
	select {
	case e := <-b.events:
		t.Errorf("an event nobody expected: %s", e)
	default:
	}
}

func portOf(host string) string { return host[strings.LastIndexByte(host, ':')+1:] }

func (p *player) step(line string, last *outcome) bool {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case ">":
		result, err := p.backend.Do(p.t.Context(), p.fill(rest))
		*last = outcome{result, err}
	case ">>":
		name, action, _ := strings.Cut(rest, " ")
		done := make(chan outcome, 1)
		p.pending[name] = done
		wait, err := p.backend.Start(p.t.Context(), p.fill(action))
		if err != nil {
			p.t.Error(err)
			return false
		}
		go func() {
			result, err := wait()
			done <- outcome{result, err}
		}()
	case "<", "!":
		return p.check(word, rest, *last)
	case "<<", "!!":
		name, want, _ := strings.Cut(rest, " ")
		select {
		case got := <-p.pending[name]:
			return p.check(word[:1], want, got)
		case <-time.After(70 * time.Second):
			p.t.Error("no response")
			return false
		}
	case "*":
		select {
		case e := <-p.events:
			return p.matches(rest, e)
		case <-time.After(time.Minute):
			p.t.Error("no event came")
			return false
		}
	default:
		return p.control(word, rest, last)
	}
	return true
}

func (p *player) control(word, rest string, last *outcome) bool {
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	switch word {
	case "@stop":
		p.client.Stop()
	case "@stop_session":
		id, err := strconv.Atoi(string(p.fill(`"` + rest + `"`)))
		return err == nil && p.client.StopSession(id)
	case "@hidden":
		for ctx.Err() == nil {
			tabs, err := p.backend.Do(ctx, json.RawMessage(`{"type":"get_tabs"}`))
			if err == nil && !bytes.Contains(tabs, fmt.Appendf(nil, `"tabId":%s,`, p.fill(`"`+rest+`"`))) {
				return true
			}
			time.Sleep(20 * time.Millisecond)
		}
		return false
	case "@listed": // until a tab has this address
		for ctx.Err() == nil {
			tabs, err := p.backend.Do(ctx, json.RawMessage(`{"type":"get_tabs"}`))
			if err == nil && bytes.Contains(tabs, p.fill(`"url":"`+rest+`"`)) {
				return true
			}
			time.Sleep(20 * time.Millisecond)
		}
		return false
	case "@block":
		p.client.SetBlock(strings.Split(rest, ","))
	case "@removals":
		p.slow.release()
		select {
		case <-p.slow.removed:
		case <-ctx.Done():
			return false
		}
	case "@drop":
		p.backend.Drop()
	case "@await":
		return p.backend.Await(ctx) == nil
	case "@raw":
		return p.backend.Send(ctx, websocket.MessageText, []byte(rest)) == nil
	case "@binary":
		return p.backend.Send(ctx, websocket.MessageBinary, []byte(rest)) == nil
	case "@send":
		id, frame, _ := strings.Cut(rest, " ")
		r, err := p.backend.Raw(ctx, id, p.fill(frame))
		*last = outcome{r.Result, err}
		if r.Error != nil {
			last.err = r.Error
		}
	default:
		p.t.Errorf("unknown step %q", word)
		return false
	}
	return true
}

var quotedName = regexp.MustCompile(`"\$([a-z][a-z0-9_]*)"`)

// fill puts origins and earlier values into a text.
func (p *player) fill(s string) json.RawMessage {
	s = p.replace.Replace(s)
	return json.RawMessage(quotedName.ReplaceAllStringFunc(s, func(q string) string {
		if v, ok := p.names[q[2:len(q)-1]]; ok {
			b, _ := json.Marshal(v)
			return string(b)
		}
		return q
	}))
}

func (p *player) check(word, want string, got outcome) bool {
	if word == "!" {
		code, text, _ := strings.Cut(want, " ")
		e, ok := got.err.(*browserbridge.Error)
		if !ok || e.Code != code || !strings.Contains(e.Message, p.replace.Replace(text)) {
			p.t.Errorf("got %s and error %v, want error %s", clip(got.result), got.err, want)
			return false
		}
		return true
	}
	if got.err != nil {
		p.t.Errorf("got error %v, want %s", got.err, want)
		return false
	}
	return p.matches(want, got.result)
}

func (p *player) matches(want string, got json.RawMessage) bool {
	var w, g any
	if err := json.Unmarshal([]byte(p.replace.Replace(want)), &w); err != nil {
		p.t.Errorf("%s: %v", want, err)
		return false
	}
	if err := json.Unmarshal(got, &g); err != nil {
		p.t.Errorf("got %q: %v", got, err)
		return false
	}
	if where := p.differs(w, g, true); where != "" {
		p.t.Errorf("%s\ngot  %s\nwant %s", where, clip(got), want)
		return false
	}
	return true
}

func clip(b []byte) string {
	if len(b) > 3000 {
		return string(b[:3000]) + "…"
	}
	return string(b)
}

// differs says where got is not as wanted, "" for nowhere.
func (p *player) differs(want, got any, there bool) string {
	switch w := want.(type) {
	case string:
		switch {
		case w == "$any":
			return ""
		case w == "$absent":
			if there {
				return "present"
			}
			return ""
		case strings.HasPrefix(w, "$re:"):
			if s, ok := got.(string); ok && regexp.MustCompile(w[4:]).MatchString(s) {
				return ""
			}
			return fmt.Sprintf("%v does not match", got)
		case strings.HasPrefix(w, "$"):
			old, ok := p.names[w[1:]]
			if !ok {
				p.names[w[1:]] = got
				return ""
			}
			want = old
		}
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return "no object"
		}
		for k, v := range w {
			value, there := g[k]
			if where := p.differs(v, value, there); where != "" {
				return k + ": " + where
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return "another number of items"
		}
		for i := range w {
			if where := p.differs(w[i], g[i], true); where != "" {
				return strconv.Itoa(i) + ": " + where
			}
		}
		return ""
	}
	if a, b := fmt.Sprint(want), fmt.Sprint(got); a != b {
		return "got " + b + ", want " + a
	}
	return ""
}

func TestTranscriptsAreNoEmptyFiles(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(transcripts, "*.txtar"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(b, []byte("\n< ")) && !bytes.Contains(b, []byte("\n! ")) {
			t.Errorf("%s checks nothing (%v)", f, err)
		}
	}
}
