package bridgeclient

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// session is one open connection: a reader, a writer, an announcer that
// speaks unasked, and a pinger.
type session struct {
	*Client
	conn     Conn
	received atomic.Bool // a frame arrived
	polls    chan struct{}
	probed   chan struct{} // capacity 1
	since    time.Time
}

// lived reports whether this was a connection worth the name, so that the wait
// before the next attempt starts small again. A bridge that accepts and closes
// at once does not count.
func (s *session) lived() bool { return s.received.Load() || time.Since(s.since) > s.opts.BackoffMax }

// serve returns why the connection ended: ctx's cause after a drained end,
// io.EOF when a Once transport was finished by the peer.
func (s *session) serve(ctx context.Context) error {
	s.polls, s.probed = make(chan struct{}, 1), make(chan struct{}, 1)
	s.eager.Store(s.conn.Traits().Heartbeat)
	s.since = time.Now()
	// The announcements go first: the writer starts after hello.
	s.out.start(s.conn.Traits().Confirms)
	sctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	finished := make(chan struct{}) // the peer will send nothing more

	var wg sync.WaitGroup
	run := func(f func(context.Context) error) {
		wg.Go(func() {
			if err := f(sctx); err != nil {
				stop(err)
			}
		})
	}
	run(func(ctx context.Context) error {
		err := s.read(ctx)
		if errors.Is(err, io.EOF) && s.conn.Traits().Once {
			close(finished)
			return nil
		}
		return err
	})
	k := &announcer{session: s, known: map[string]known{}, delayedTitles: map[string]bool{}}
	k.hello()
	s.announcer.Store(k)
	defer s.announcer.Store(nil)
	run(s.write)
	run(k.announceChanges)
	if s.conn.Traits().Confirms {
		run(s.ping)
	}

	select {
	case <-sctx.Done():
	case <-finished:
		// Every call has its own deadline, so this wait has one too.
		s.settledOr(sctx, ctx)
		why := error(io.EOF)
		if ctx.Err() != nil {
			why = context.Cause(ctx)
		}
		stop(s.drain(sctx, why))
	case <-ctx.Done():
		stop(s.drain(sctx, context.Cause(ctx)))
	}
	s.out.stop()
	s.conn.Abort()
	wg.Wait()
	return context.Cause(sctx)
}

// settledOr waits until all calls are answered, the connection is lost or Run
// is to end.
func (s *session) settledOr(sctx, ctx context.Context) {
	wctx, cancel := context.WithCancel(sctx)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	s.settled(wctx)
}

// drain cancels what runs, lets the writer finish, and closes politely.
func (s *session) drain(sctx context.Context, why error) error {
	s.inbound.close()
	s.calls.cancelAll()
	dctx, cancel := context.WithTimeout(sctx, s.opts.DrainTimeout)
	defer cancel()
	s.settled(dctx)
	if k := s.announcer.Load(); k != nil && !s.conn.Traits().Once {
		k.leave()
	}
	if err := s.out.flushed(dctx); err != nil && sctx.Err() != nil {
		return context.Cause(sctx)
	}
	s.conn.Close("the runtime ends")
	return why
}

func (s *session) read(ctx context.Context) error {
	for {
		if err := s.out.awaitSpace(ctx); err != nil {
			return err
		}
		frame, err := s.conn.Read(ctx)
		if errors.Is(err, errLineTooLong) { // the calls of the other lines go on
			s.refuse(&Call{}, fault.New(fault.InvalidFrame, "a line of the input is too long").
				With("limit", min(s.opts.MaxRead, MaxLine)))
			continue
		}
		if err != nil {
			return err
		}
		s.received.Store(true)
		s.take(frame)
	}
}

// take acts on one frame. It does not block.
func (s *session) take(frame []byte) {
	message := s.opts.Dialect.Decode(frame)
	if m, ok := message.(*Call); ok {
		m.frame, m.at = frame, time.Now()
	} else {
		s.recordItem(time.Now(), true, "", frame)
	}
	switch m := message.(type) {
	case *Call:
		s.log.Debug(
			"call", "call", m.ID, "type", m.Type, "name", m.Run.Name, "runtime", m.RuntimeID, "bytes", len(frame),
		)
		s.accept(m)
	case Refused:
		s.log.Info(
			"frame refused", "code", m.Err.Code, "message", m.Err.Message, "call", m.Call.ID, "bytes", len(frame),
		)
		s.refuse(m.Call, m.Err)
	case Probe:
		s.send(urgent, "", s.opts.Dialect.Alive(m, s.owns(m.RuntimeID)))
		signal(s.probed)
	case Cancel:
		s.log.Debug("call cancelled", "call", m.ID, "runtime", m.RuntimeID)
		s.calls.cancel(callKey{m.RuntimeID, m.ID})
	case Poll:
		signal(s.polls)
	case Notice:
		s.log.Debug("frame answered", "frame", m.Log)
		s.send(others, "", m.Reply)
	case Ignored:
		s.log.Debug("frame ignored", "why", m.Why, "bytes", len(frame))
	}
}

func (s *session) owns(runtimeID string) bool {
	for _, t := range s.opts.Host.Tabs() {
		if t.RuntimeID == runtimeID {
			return true
		}
	}
	return false
}

func (s *session) write(ctx context.Context) error {
	for {
		it, err := s.out.next(ctx)
		if err != nil {
			return err
		}
		if err := s.conn.Write(ctx, it.frame); err != nil {
			return err
		}
		if it.kind != answers { // those were recorded when they were made
			s.recordItem(time.Now(), false, "", it.frame)
		}
		s.out.wrote(it)
		if it.written != nil {
			it.written()
		}
	}
}

// ping confirms answers and notices a lost peer.
func (s *session) ping(ctx context.Context) error {
	idle := time.NewTicker(s.opts.PingEvery)
	defer idle.Stop()
	seen, at := s.conn.Active(), time.Now()
	for {
		select {
		case <-s.out.pingable:
		case <-idle.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		mark := s.out.mark()
		pctx, cancel := context.WithTimeout(ctx, s.opts.PingEvery)
		err := s.conn.Ping(pctx)
		cancel()
		if err == nil {
			s.out.confirm(mark)
		} else {
			signal(s.out.pingable)
		}
		if n := s.conn.Active(); n != seen {
			seen, at = n, time.Now()
		} else if err != nil && time.Since(at) >= s.opts.DeadAfter {
			return fault.New(fault.TransportFailed, "the bridge has shown no sign of life for %s", s.opts.DeadAfter)
		}
	}
}

// announcer sends the announcements and events of this connection that answer no call.
type announcer struct {
	*session

	// mu protects the announcements. Of the host only Info and Manifest are
	// asked under it.
	mu            sync.Mutex
	known         map[string]known // by runtime id
	delayedTitles map[string]bool  // a new title waits for its time
	left          bool             // it announces nothing
}

type known struct {
	tab runtime.TabStatus
	at  time.Time
}

// announceChanges announces the tabs and their changes until ctx ends.
func (k *announcer) announceChanges(ctx context.Context) error {
	every := k.opts.Heartbeat
	if every == 0 && k.conn.Traits().Heartbeat {
		every = 4 * time.Second
	}
	var beat <-chan time.Time
	if every > 0 {
		t := time.NewTicker(every)
		defer t.Stop()
		beat = t.C
	}
	var suspected <-chan time.Time // when a bridge that probed has evicted whom it did not reach
	titles := time.NewTicker(k.opts.TitleEvery)
	defer titles.Stop()
	last := time.Now().Round(0)
	for {
		select {
		case <-k.buffer.wake:
			k.sendEvents()
		case <-k.polls:
			k.reconcile()
			k.report()
		case <-k.probed:
			// With a heartbeat a bridge has no reason to probe, unless our items did
			// not reach it in time. Then it may not have the answer in time either,
			// and evicts the runtime without a word.
			if beat != nil && suspected == nil {
				suspected = time.After(suspectAfter)
			}
		case <-suspected:
			suspected = nil
			k.log.Info("announcing again after a probe")
			k.announceAgain()
		case <-titles.C:
			if k.waiting() {
				k.reconcile()
			}
			k.reportTitles()
		case <-beat:
			// Wall time, because the monotonic clock stands still while the
			// machine sleeps. After such a gap the bridge may have dropped our
			// runtimes, and nothing would say so.
			now := time.Now().Round(0)
			if now.Sub(last) > 2*every {
				k.log.Info("announcing again after a pause", "pause", now.Sub(last))
				k.announceAgain()
			}
			last = now
			k.reconcile()
			k.report()
			k.reportTitles()
			k.drops(k.out.sweep())
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// reportTitles reports the calls that have been running for long enough.
func (k *announcer) reportTitles() {
	for call, p := range k.calls.overdue(k.opts.ProgressAfter) {
		k.sendProgress(call, p)
	}
}

// hello puts the announcements before the answers that wait for this
// connection: a bridge drops what comes from a runtime it does not know.
func (k *announcer) hello() {
	k.buffer.take() // the tabs below are newer; page events of the past are not sent
	var items []*item
	tabs := k.opts.Host.Tabs()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range tabs {
		items = append(items, k.announcement(t))
	}
	ready := func() { k.opts.OnState(State{Kind: Ready, Tabs: len(tabs)}) }
	if len(items) == 0 {
		ready()
		return
	}
	items[len(items)-1].written = ready
	k.out.hello(items)
}

// suspectAfter is how long after a probe a bridge has made up its mind: upstream's
// waits 1.5 s for the answer.
const suspectAfter = 2 * time.Second

// announceAgain announces every tab as if for the first time.
func (k *announcer) announceAgain() {
	tabs := k.opts.Host.Tabs()
	k.mu.Lock()
	defer k.mu.Unlock()
	for id := range k.known {
		if !slices.ContainsFunc(tabs, func(t runtime.TabStatus) bool { return t.RuntimeID == id }) {
			k.remove(id)
		}
	}
	clear(k.known)
	for _, t := range tabs {
		k.announce(t)
	}
}

func (k *announcer) waiting() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.delayedTitles) > 0
}

// moved announces a tab's new address before the answer of the call that
// changed it: the next call may be routed by that address.
func (k *announcer) moved(runtimeID, url string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, ok := k.known[runtimeID]; ok && url != "" && old.tab.URL != url {
		t := old.tab
		t.URL = url
		k.announce(t)
	}
}

// opened announces new tabs before the answer of the call that opened them: the
// next call may be about them.
func (k *announcer) opened() {
	tabs := k.opts.Host.Tabs()
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.known) == 0 {
		return // hello is still to come
	}
	for _, t := range tabs {
		if _, ok := k.known[t.RuntimeID]; !ok {
			k.announce(t)
		}
	}
}

// announcement makes the item that announces t. mu is held, as in the methods
// below that change what is known.
func (k *announcer) announcement(t runtime.TabStatus) *item {
	if k.left {
		return &item{kind: announcements}
	}
	_, again := k.known[t.RuntimeID]
	k.known[t.RuntimeID] = known{t, time.Now()}
	delete(k.delayedTitles, t.RuntimeID)
	return &item{kind: announcements, key: "tab\x00" + t.RuntimeID, frame: k.opts.Dialect.Ready(k.opts.Host, t, !again)}
}

func (k *announcer) announce(t runtime.TabStatus) {
	// A tab that reopens under another id must be taken back first: a bridge
	// closes the connection of a runtime whose key is announced anew.
	for id, old := range k.known {
		if id != t.RuntimeID && t.RuntimeKey != "" && old.tab.RuntimeKey == t.RuntimeKey {
			k.remove(id)
		}
	}
	k.out.put(k.announcement(t))
}

func (k *announcer) remove(id string) {
	if _, ok := k.known[id]; !ok {
		return
	}
	delete(k.known, id)
	delete(k.delayedTitles, id)
	k.out.put(&item{kind: announcements, key: "tab\x00" + id, gone: true, frame: k.opts.Dialect.Removed(id)})
}

// leave takes every announcement back, behind the last answers: a bridge then
// knows that nobody will come back.
func (k *announcer) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left = true
	for _, id := range slices.Sorted(maps.Keys(k.known)) {
		k.remove(id)
	}
}

// update announces t if the bridge's picture of it is out of date. A new
// announcement is the only message that gives a bridge a new address or title.
func (k *announcer) update(t runtime.TabStatus) {
	old, ok := k.known[t.RuntimeID]
	switch {
	case !ok || old.tab.URL != t.URL || old.tab.RuntimeKey != t.RuntimeKey ||
		old.tab.AuthorizationID != t.AuthorizationID || old.tab.Active != t.Active:
		k.announce(t)
	case old.tab.Title != t.Title || old.tab.WindowID != t.WindowID:
		if time.Since(old.at) < k.opts.TitleEvery {
			k.delayedTitles[t.RuntimeID] = true
			return
		}
		k.announce(t)
	}
}

// reconcile compares what was announced with the tabs there are.
func (k *announcer) reconcile() {
	tabs := k.opts.Host.Tabs()
	there := make(map[string]bool, len(tabs))
	for _, t := range tabs {
		there[t.RuntimeID] = true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for id := range k.known {
		if !there[id] {
			k.remove(id)
		}
	}
	clear(k.delayedTitles)
	for _, t := range tabs {
		k.update(t)
	}
}

// report sends one status per announced tab.
func (k *announcer) report() {
	now := time.Now()
	tabs := k.opts.Host.Tabs()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range tabs {
		if _, ok := k.known[t.RuntimeID]; ok {
			k.send(statuses, "status\x00"+t.RuntimeID, k.opts.Dialect.Status(k.opts.Host, t, now))
		}
	}
}

// sendEvents forwards the events of the host.
func (k *announcer) sendEvents() {
	happened, dropped := k.buffer.take()
	k.mu.Lock()
	for _, ev := range happened {
		switch ev.Kind {
		case runtime.TabReady:
			k.announce(ev.Tab)
		case runtime.TabChanged:
			k.update(ev.Tab)
		case runtime.TabRemoved:
			k.remove(ev.Tab.RuntimeID)
		case runtime.DOMEvent:
			// A text of a live region is no page event: the bridge keeps it.
			if !k.opts.NoEvents || ev.Name == runtime.AnnouncementEvent {
				k.send(events, "", k.opts.Dialect.Event(ev))
			}
		}
	}
	k.mu.Unlock()
	k.drops(dropped)
}

// drops reports to the bridge that page events are missing.
func (k *session) drops(n int) {
	if n == 0 || k.opts.NoEvents {
		return
	}
	k.log.Warn("page events dropped", "events", n)
	k.refuse(&Call{}, fault.New(
		fault.QueueFull, "page events were dropped because they came faster than they could be sent",
	).With("dropped", n))
}
