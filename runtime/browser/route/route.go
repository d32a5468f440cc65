// Package route answers requests in place of the network: of a browser context by rules that a caller
// gives, with a text, with a recorded answer, with a failure, or late; or all requests of a browser that is
// offline. It does not know files, maps and plans, and it decides nothing about what goes on to the network:
// the policy of origins does. Package runtime/browser gives it the sessions and events of its tabs.
package route

import (
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Rule answers the requests that it matches.
type Rule struct {
	URL    string // a glob, see CheckPattern
	Method string // "" for any
	// Times is how many requests it answers; 0 for any number.
	Times int
	// Delay is how long a request waits for its answer.
	Delay time.Duration
	// Continue sends the request on to the network, after the delay.
	Continue bool
	// Answer is what the page gets otherwise.
	Answer Answer
	// Find looks for the answer of a request in place of Answer; false is none, and the
	// next rule is asked. It may be called from several goroutines.
	Find func(Request) (Answer, bool)
	// Has reports whether Find can have an answer for requests of a method to an address.
	Has func(method, address string) bool

	once    sync.Once
	pattern pattern
	bad     error

	mu       sync.Mutex
	answered int
	first    chan struct{} // closed at the first answer
	missed   []Missed
	misses   int
	refused  []Missed
}

func (r *Rule) prepare() error {
	r.once.Do(func() {
		r.pattern, r.bad = parse(r.URL)
		r.first = make(chan struct{})
	})
	return r.bad
}

// Answered is how many requests the rule has answered.
func (r *Rule) Answered() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answered
}

// Used is closed when the rule has answered a request.
func (r *Rule) Used() <-chan struct{} {
	_ = r.prepare()
	return r.first
}

// take counts a request, unless the rule has answered all that it may.
func (r *Rule) take() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Times > 0 && r.answered >= r.Times {
		return false
	}
	if r.answered++; r.answered == 1 {
		close(r.first)
	}
	return true
}

// spent reports whether the rule has answered all that it may.
func (r *Rule) spent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Times > 0 && r.answered >= r.Times
}

// Refused are requests whose answer the browser did not take. They have failed.
func (r *Rule) Refused() []Missed {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.refused)
}

func (r *Rule) refuse(m Missed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.refused) < maxMissed {
		r.refused = append(r.refused, m)
	}
}

// Missed are requests that came near the rule and that none answered, and how many there
// were: all but the method, the query or the number of answers is the rule's.
func (r *Rule) Missed() ([]Missed, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.missed), r.misses
}

func (r *Rule) miss(m Missed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.misses++; len(r.missed) < maxMissed {
		r.missed = append(r.missed, m)
	}
}

// Missed is a request that came near a rule.
type Missed struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	Why    string `json:"why"`
}

// maxMissed bounds how many of them are remembered. All are counted.
const maxMissed = 20

// Table is the rules of a browser context. It is safe for concurrent use.
type Table struct {
	client *cdp.Client

	mu      sync.Mutex
	rules   []*Rule
	delayed map[*time.Timer]struct{}
	waiting sync.WaitGroup // answers that are late
	closed  bool

	keys keys
}

// New makes a table without rules.
func New(client *cdp.Client) *Table {
	return &Table{client: client, delayed: map[*time.Timer]struct{}{}}
}

// Set replaces the rules. The first that matches a request answers it. The caller sends
// Command to the sessions that are open.
func (t *Table) Set(rules []*Rule) error {
	for _, r := range rules {
		if err := r.prepare(); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rules = rules
	return nil
}

// Close ends answers that are late, and waits for those that are being sent. The
// requests go on when the caller has ended the interception.
func (t *Table) Close() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.closed, t.rules = true, nil
	for timer := range t.delayed {
		if timer.Stop() {
			t.waiting.Done()
		}
	}
	clear(t.delayed)
	t.mu.Unlock()
	t.waiting.Wait()
}
