package route

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// request is a request that waits.
type request struct {
	id      string
	method  string
	address string // without fragment
	headers map[string]string
	body    []byte
}

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
	q, ok := read(params)
	if !ok {
		return
	}
	answer, delay := continued(s, q), time.Duration(0)
	if t != nil {
		answer, delay = t.decide(s, q)
	}
	if delay <= 0 || t == nil {
		client.Post(answer)
		return
	}
	t.later(answer, delay)
}

func read(params []byte) (request, bool) {
	var e struct {
		RequestID string `json:"requestId"`
		Request   struct {
			Method  string            `json:"method"`
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
			Body    string            `json:"postData"`
		} `json:"request"`
	}
	if json.Unmarshal(params, &e) != nil || e.RequestID == "" {
		return request{}, false
	}
	q := e.Request
	address, _, _ := strings.Cut(q.URL, "#")
	return request{id: e.RequestID, method: q.Method, address: address, headers: q.Headers, body: []byte(q.Body)}, true
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
func (t *Table) decide(s *cdp.Session, q request) (cdp.Command, time.Duration) {
	t.mu.Lock()
	rules := t.rules
	t.mu.Unlock()
	method := q.method
	preflight := q.method == http.MethodOptions && q.header("Access-Control-Request-Method") != ""
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
		if near := r.near(method, q.address); near != "" {
			miss(r, near)
			continue
		}
		if !r.pattern.matches(q.address) {
			continue
		}
		if preflight { // it is about a request that this rule will answer
			return allowed(s, q), 0
		}
		answer := r.Answer
		if r.Find != nil {
			found := false
			if answer, found = r.Find(q.method, q.address, q.body); !found {
				miss(r, "the recording has no such request")
				continue
			}
		}
		if !r.take() {
			miss(r, "the route has answered as often as it may")
			continue
		}
		switch {
		case r.Fail != "":
			return failed(s, q, r.Fail), r.Delay
		case r.Continue:
			return continued(s, q), r.Delay
		}
		return answered(s, q, answer), r.Delay
	}
	if missed != nil && !preflight {
		missed.miss(Missed{Method: q.method, URL: q.address, Why: why})
	}
	return continued(s, q), 0
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

func (q request) header(name string) string {
	for k, v := range q.headers {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

func continued(s *cdp.Session, q request) cdp.Command {
	return cdp.Command{Session: s.ID, Method: "Fetch.continueRequest", Params: cdp.Object("requestId", q.id), OnReply: func(cdp.Reply) {}}
}

func failed(s *cdp.Session, q request, reason string) cdp.Command {
	return cdp.Command{Session: s.ID, Method: "Fetch.failRequest", Params: cdp.Object("requestId", q.id, "errorReason", reason), OnReply: func(cdp.Reply) {}}
}

// allowed answers the question of the browser whether a script of another origin may
// make a request that a rule answers.
func allowed(s *cdp.Session, q request) cdp.Command {
	headers := []Header{
		{"Access-Control-Allow-Origin", orElse(q.header("Origin"), "*")},
		{"Access-Control-Allow-Methods", q.header("Access-Control-Request-Method")},
		{"Access-Control-Allow-Credentials", "true"},
	}
	if asked := q.header("Access-Control-Request-Headers"); asked != "" {
		headers = append(headers, Header{"Access-Control-Allow-Headers", asked})
	}
	return fulfilled(s, q, Answer{Status: http.StatusNoContent, Headers: headers})
}

// answered answers a request. A script of another origin may read the answer unless the
// rule says who may.
func answered(s *cdp.Session, q request, a Answer) cdp.Command {
	origin := q.header("Origin")
	says := slices.ContainsFunc(a.Headers, func(h Header) bool { return strings.EqualFold(h.Name, "Access-Control-Allow-Origin") })
	if to, err := url.Parse(q.address); err == nil && origin != "" && !says && origin != to.Scheme+"://"+to.Host {
		a.Headers = append(slices.Clone(a.Headers), Header{"Access-Control-Allow-Origin", origin}, Header{"Access-Control-Allow-Credentials", "true"}, Header{"Vary", "Origin"})
	}
	return fulfilled(s, q, a)
}

func fulfilled(s *cdp.Session, q request, a Answer) cdp.Command {
	if a.Headers == nil {
		a.Headers = []Header{}
	}
	params, _ := json.Marshal(struct { // texts and numbers
		RequestID string   `json:"requestId"`
		Code      int      `json:"responseCode"`
		Headers   []Header `json:"responseHeaders"`
		Body      string   `json:"body"`
	}{q.id, a.Status, a.Headers, base64.StdEncoding.EncodeToString(a.Body)})
	return cdp.Command{Session: s.ID, Method: "Fetch.fulfillRequest", Params: params, OnReply: func(cdp.Reply) {}}
}
