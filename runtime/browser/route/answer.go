package route

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Command makes a session hold the requests that rules may answer and those that can be
// asked for known credentials, or none of them. While there are rules, service workers and
// caches are passed over, so that what a page asks for is seen. That needs the Network
// domain, which the caller turns on.
func (t *Table) Command() []cdp.Command {
	patterns := t.patterns()
	routed := len(patterns) > 0
	known := t.Authorized()
	for _, c := range known {
		if p := (fetchPattern{literal(c.Origin) + "/*"}); !slices.Contains(patterns, p) {
			patterns = append(patterns, p)
		}
	}
	hold := cdp.Command{Method: "Fetch.disable"}
	if len(patterns) > 0 {
		params, _ := json.Marshal(map[string]any{"patterns": patterns, "handleAuthRequests": len(known) > 0}) // texts
		hold = cdp.Command{Method: "Fetch.enable", Params: params}
	}
	passed := strconv.FormatBool(routed)
	return []cdp.Command{
		hold,
		{Method: "Network.setBypassServiceWorker", Params: []byte(`{"bypass":` + passed + `}`)},
		{Method: "Network.setCacheDisabled", Params: []byte(`{"cacheDisabled":` + passed + `}`)},
	}
}

// literal is a text as a pattern of the protocol that matches nothing else.
func literal(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`).Replace(text)
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

// Active reports whether requests are held.
func (t *Table) Active() bool { return t.Routed() || len(t.Authorized()) > 0 }

// Routed reports whether there are rules.
func (t *Table) Routed() bool { return len(t.patterns()) > 0 }

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
	answer, delay := q.continued(client), time.Duration(0)
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
		delete(t.delayed, timer)
		t.mu.Unlock()
		t.client.Post(answer)
	})
	t.delayed[timer] = struct{}{}
}

// decide finds the rule of a request, and what it comes to.
func (t *Table) decide(q Request) (cdp.Command, time.Duration) {
	t.mu.Lock()
	rules := t.rules
	t.mu.Unlock()
	if q.Method == http.MethodOptions && q.header("Access-Control-Request-Method") != "" {
		return t.preflight(q, rules)
	}
	var missed *Rule
	why := ""
	miss := func(r *Rule, text string) {
		if missed == nil {
			missed, why = r, text
		}
	}
	for _, r := range rules {
		if near := r.near(q.Method, q.URL); near != "" {
			miss(r, near)
			continue
		}
		if !r.pattern.matches(q.URL) {
			continue
		}
		answer := r.Answer
		if r.Find != nil {
			found := false
			answer, found = r.Find(q)
			if !found {
				miss(r, "the recording has no such request")
				continue
			}
		}
		if !r.take() {
			miss(r, "the route has answered as often as it may")
			continue
		}
		if r.Continue {
			return q.continued(t.client), r.Delay
		}
		return q.answered(t.client, readable(q, answer), r.refuse), r.Delay
	}
	if missed != nil {
		missed.miss(Missed{Method: q.Method, URL: q.URL, Why: why})
	}
	return q.continued(t.client), 0
}

// preflight decides about the question whether a script of another origin may make a
// request. A rule for OPTIONS answers it as any request. Else it is answered for the rule
// that will answer the request itself, and goes on to the server when the request does.
func (t *Table) preflight(q Request, rules []*Rule) (cdp.Command, time.Duration) {
	method := q.header("Access-Control-Request-Method")
	for _, r := range rules {
		if !r.pattern.matches(q.URL) {
			continue
		}
		own := strings.EqualFold(r.Method, http.MethodOptions)
		if !own && (r.Method != "" && !strings.EqualFold(r.Method, method) || r.spent()) {
			continue
		}
		switch {
		case own && !r.take():
			continue
		case own && r.Continue:
			return q.continued(t.client), r.Delay
		case own:
			return q.answered(t.client, r.Answer, r.refuse), r.Delay
		case r.Continue:
			return q.continued(t.client), 0
		case r.Has != nil && !r.Has(method, q.URL):
			continue
		}
		return allowed(t.client, q), 0
	}
	return q.continued(t.client), 0
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
func allowed(client *cdp.Client, q Request) cdp.Command {
	headers := []Header{
		{"Access-Control-Allow-Origin", cmp.Or(q.header("Origin"), "*")},
		{"Access-Control-Allow-Methods", q.header("Access-Control-Request-Method")},
		{"Access-Control-Allow-Credentials", "true"},
	}
	if asked := q.header("Access-Control-Request-Headers"); asked != "" {
		headers = append(headers, Header{"Access-Control-Allow-Headers", asked})
	}
	return q.answered(client, Answer{Status: http.StatusNoContent, Headers: headers}, nil)
}

// readable lets a script of another origin read an answer that does not say who may.
func readable(q Request, a Answer) Answer {
	origin := q.header("Origin")
	says := slices.ContainsFunc(a.Headers, func(h Header) bool {
		return strings.EqualFold(h.Name, "Access-Control-Allow-Origin")
	})
	if to, err := url.Parse(q.URL); err == nil && origin != "" && !says && origin != to.Scheme+"://"+to.Host {
		a.Headers = append(
			slices.Clone(a.Headers), Header{"Access-Control-Allow-Origin", origin},
			Header{"Access-Control-Allow-Credentials", "true"}, Header{"Vary", "Origin"},
		)
	}
	return a
}
