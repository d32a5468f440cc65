package route

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Command makes a session hold the requests that rules may answer, or none of them.
// Service workers are passed over, so that their pages' requests are seen.
func (t *Table) Command() []cdp.Command {
	patterns := t.patterns()
	if len(patterns) == 0 {
		return []cdp.Command{{Method: "Fetch.disable"}, {Method: "Network.setBypassServiceWorker", Params: []byte(`{"bypass":false}`)}}
	}
	params, _ := json.Marshal(map[string]any{"patterns": patterns}) // texts
	return []cdp.Command{
		{Method: "Fetch.enable", Params: params},
		{Method: "Network.setBypassServiceWorker", Params: []byte(`{"bypass":true}`)},
	}
}

type fetchPattern struct {
	URL string `json:"urlPattern"`
}

// patterns are those of the rules, each once. Only requests that match one are held.
func (t *Table) patterns() []fetchPattern {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []fetchPattern
	for _, r := range t.rules {
		if p := (fetchPattern{r.pattern.loose}); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// Active says whether requests are held.
func (t *Table) Active() bool { return len(t.patterns()) > 0 }

// SessionCommands hold the requests of a new session.
func (t *Table) SessionCommands(s *cdp.Session) []cdp.Command {
	if !t.Active() {
		return nil
	}
	commands := t.Command()
	for i := range commands {
		commands[i].Session = s.ID
	}
	return commands
}

// HandleEvent takes Fetch.requestPaused. The reader calls it. A request that is held by a
// table that is no more goes on.
func (t *Table) HandleEvent(client *cdp.Client, s *cdp.Session, params []byte) {
	q, ok := read(s, params)
	if !ok {
		return
	}
	answer, delay := q.continued(), time.Duration(0)
	if t != nil {
		answer, delay = t.decide(q)
	}
	if delay <= 0 || t == nil {
		client.Post(answer)
		return
	}
	t.later(answer, delay)
}

// later sends an answer after a time, unless the table is closed before.
func (t *Table) later(answer cdp.Command, delay time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.waiting.Add(1)
	var timer *time.Timer
	timer = time.AfterFunc(delay, func() {
		defer t.waiting.Done()
		t.mu.Lock()
		delete(t.late, timer)
		t.mu.Unlock()
		t.client.Post(answer)
	})
	t.late[timer] = struct{}{}
}

// decide finds the rule of a request, and what it comes to.
func (t *Table) decide(q Request) (cdp.Command, time.Duration) {
	t.mu.Lock()
	rules := t.rules
	t.mu.Unlock()
	method := q.Method
	preflight := q.Method == http.MethodOptions && q.header("Access-Control-Request-Method") != ""
	if preflight {
		method = q.header("Access-Control-Request-Method")
	}
	var missed *Rule
	why := ""
	miss := func(r *Rule, text string) {
		if missed == nil {
			missed, why = r, text
		}
	}
	for _, r := range rules {
		if near := r.near(method, q.URL); near != "" {
			miss(r, near)
			continue
		}
		if !r.pattern.matches(q.URL) {
			continue
		}
		if preflight { // it is about a request that this rule will answer
			return allowed(q), 0
		}
		answer := r.Answer
		if r.Find != nil {
			found := false
			if answer, found = r.Find(q); !found {
				miss(r, "the recording has no such request")
				continue
			}
		}
		if !r.take() {
			miss(r, "the route has answered as often as it may")
			continue
		}
		if r.Continue {
			return q.continued(), r.Delay
		}
		return q.answered(readable(q, answer)), r.Delay
	}
	if missed != nil && !preflight {
		missed.miss(Missed{Method: q.Method, URL: q.URL, Why: why})
	}
	return q.continued(), 0
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// near says what keeps a request from the rule that its address comes near, "" when
// nothing does or it is far.
func (r *Rule) near(method, address string) string {
	path, _, query := strings.Cut(address, "?")
	switch {
	case r.pattern.matches(address):
		if r.Method != "" && !strings.EqualFold(r.Method, method) {
			return "the route is for " + strings.ToUpper(r.Method)
		}
	case query && r.pattern.matches(path):
		return "the route's url does not have its query"
	}
	return ""
}

// allowed answers the question of the browser whether a script of another origin may
// make a request that a rule answers.
func allowed(q Request) cdp.Command {
	headers := []Header{
		{"Access-Control-Allow-Origin", orElse(q.header("Origin"), "*")},
		{"Access-Control-Allow-Methods", q.header("Access-Control-Request-Method")},
		{"Access-Control-Allow-Credentials", "true"},
	}
	if asked := q.header("Access-Control-Request-Headers"); asked != "" {
		headers = append(headers, Header{"Access-Control-Allow-Headers", asked})
	}
	return q.answered(Answer{Status: http.StatusNoContent, Headers: headers})
}

// readable lets a script of another origin read an answer that does not say who may.
func readable(q Request, a Answer) Answer {
	origin := q.header("Origin")
	says := slices.ContainsFunc(a.Headers, func(h Header) bool { return strings.EqualFold(h.Name, "Access-Control-Allow-Origin") })
	if to, err := url.Parse(q.URL); err == nil && origin != "" && !says && origin != to.Scheme+"://"+to.Host {
		a.Headers = append(slices.Clone(a.Headers), Header{"Access-Control-Allow-Origin", origin}, Header{"Access-Control-Allow-Credentials", "true"}, Header{"Vary", "Origin"})
	}
	return a
}
