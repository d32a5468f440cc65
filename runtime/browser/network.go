package browser

import (
	"context"
	"time"
)

// enableNetwork has the browser keep bodies within limits: each renderer holds
// them in memory.
const enableNetwork = `{"maxTotalBufferSize":33554432,"maxResourceBufferSize":8388608}`

// startTraffic begins to record, once.
func (t *Tab) startTraffic(ctx context.Context) error {
	t.mu.Lock()
	t.net.mu.Lock()
	if !t.net.since.IsZero() {
		t.net.mu.Unlock()
		t.mu.Unlock()
		return nil
	}
	t.net.since, t.net.settled = time.Now(), time.Now()
	t.net.byID, t.net.open = map[string]*exchange{}, map[*exchange]bool{}
	if f := t.frames[t.main]; f != nil && f.idle != f.loader {
		t.net.unknown = f.loader
	}
	t.net.mu.Unlock()
	sessions := t.sessionsLocked()
	t.mu.Unlock()
	return t.enableAll(ctx, sessions, command{method: "Network.enable", params: []byte(enableNetwork)})
}

// sessionsLocked lists the tab's session and those of its frames in other
// processes; t.mu is held.
func (t *Tab) sessionsLocked() []*session {
	list := []*session{t.s}
	seen := map[*session]bool{t.s: true}
	for _, f := range t.frames {
		if f.s != nil && !seen[f.s] {
			seen[f.s] = true
			list = append(list, f.s)
		}
	}
	return list
}

// enableAll sends a command to several sessions and waits for the tab's own.
func (t *Tab) enableAll(ctx context.Context, sessions []*session, cmds ...command) error {
	var all []command
	for _, s := range sessions[1:] {
		for _, c := range cmds {
			c.session, c.then = s.id, t.b.c.ignore(c.method)
			all = append(all, c)
		}
	}
	for _, c := range cmds {
		c.session = sessions[0].id
		all = append(all, c)
	}
	l := t.currentLife()
	calls, err := t.b.c.start(ctx, all...)
	if err != nil {
		return err
	}
	mine := calls[len(calls)-len(cmds):]
	defer t.b.c.drop(mine...)
	for i, p := range mine {
		if _, err := t.await(ctx, l, p); err != nil {
			return named(err, cmds[i].method)
		}
	}
	return nil
}

// recording says whether new sessions of the tab take part.
func (n *traffic) recording() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.since.IsZero()
}
