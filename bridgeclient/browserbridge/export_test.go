package browserbridge

import (
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/runtime"
)

// Blocks reports whether a list of entries blocks the domain of an address.
func Blocks(entries []string, address string) bool {
	var b blocklist
	b.set(entries)
	return b.blocks(domainOf(address))
}

// DomainOf is the domain of an address.
func DomainOf(address string) string { return domainOf(address) }

// Limit is how long an action may take.
func Limit(action json.RawMessage) time.Duration {
	a, err := decodeAction(action)
	if err != nil {
		return 0
	}
	return a.limit()
}

// ChallengeFrame reports whether a frame's address is that of a challenge.
func ChallengeFrame(src string) bool { return challengeFrame(src) }

// ListElements turns the elements of page.extract into those of the protocol.
func ListElements(raw string) ([]Element, error) {
	var rows []row
	if err := json.Unmarshal([]byte(raw), &rows); err != nil {
		return nil, err
	}
	elements, _ := list(rows)
	return elements, nil
}

// Reattach plays what the host reports when a tab is attached again after its page was
// lost, on a client with a session there, and returns what is to be sent.
func Reattach(host Host) (sent []string) {
	c, err := New(Options{URL: "ws://x", Host: host, KeepWebDriver: true})
	if err != nil {
		return nil
	}
	tab := runtime.TabStatus{TabID: 7, URL: "https://a.example/"}
	c.engine.onEvent(runtime.Event{Kind: runtime.TabReady, Tab: tab})
	c.engine.mu.Lock()
	c.engine.begin(tab, true).count()
	c.engine.mu.Unlock()
	c.engine.onEvent(runtime.Event{Kind: runtime.TabReady, Tab: tab})
	for {
		item, _, ok := c.out.take()
		if !ok {
			return sent
		}
		sent = append(sent, string(item.frame))
	}
}
