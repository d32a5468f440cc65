package route

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Credentials are a name and a password for one origin. They answer the challenges of that
// origin's servers (HTTP authentication), and no others.
type Credentials struct {
	Origin         string // as Chromium writes it: scheme, host, and the port unless it is the scheme's
	Name, Password string
}

// Challenge is a request for a name and a password that nobody had an answer to.
type Challenge struct {
	Origin string `json:"origin"`
	Scheme string `json:"scheme"` // basic, digest, ntlm, negotiate
	Realm  string `json:"realm"`
	// Refused says that the server had credentials, and did not take them.
	Refused bool `json:"-"`
	// Proxy says that the proxy asks, not the server.
	Proxy bool `json:"-"`
}

// keys are the credentials of a table, and which requests have had them.
type keys struct {
	mu    sync.Mutex
	given []Credentials
	tried map[string]bool // by session and request
}

// maxTried bounds what is remembered of requests that had credentials.
const maxTried = 1000

// Authorize has challenges of an origin answered from here on. The newest of an origin
// counts. It reports whether the caller has to send Command to the sessions that are open.
func (t *Table) Authorize(c Credentials) (changed bool) {
	t.keys.mu.Lock()
	defer t.keys.mu.Unlock()
	at := slices.IndexFunc(t.keys.given, func(old Credentials) bool { return old.Origin == c.Origin })
	if at >= 0 {
		t.keys.given[at] = c
		return false
	}
	t.keys.given = append(t.keys.given, c)
	return true
}

// Authorized are the credentials of a table.
func (t *Table) Authorized() []Credentials {
	if t == nil {
		return nil
	}
	t.keys.mu.Lock()
	defer t.keys.mu.Unlock()
	return slices.Clone(t.keys.given)
}

// HandleChallenge takes Fetch.authRequired. The reader calls it. A challenge that has no
// answer is returned, and the request goes on to what the server says without one.
func (t *Table) HandleChallenge(client *cdp.Client, s *cdp.Session, params []byte) (open Challenge, unanswered bool) {
	var e struct {
		RequestID string `json:"requestId"`
		Challenge struct {
			Source string `json:"source"`
			Challenge
		} `json:"authChallenge"`
	}
	if json.Unmarshal(params, &e) != nil || e.RequestID == "" {
		return Challenge{}, false
	}
	open = e.Challenge.Challenge
	open.Proxy = e.Challenge.Source == "Proxy"

	type answer struct {
		Response string `json:"response"`
		Name     string `json:"username,omitempty"`
		Password string `json:"password,omitempty"`
	}
	given := answer{Response: "Default"}
	if t != nil && !open.Proxy {
		known, ok := t.answerTo(open.Origin, s.ID+" "+e.RequestID)
		if ok {
			given = answer{Response: "ProvideCredentials", Name: known.Name, Password: known.Password}
		}
		open.Refused = !ok && known.Origin != ""
	}
	body, _ := json.Marshal(map[string]any{"requestId": e.RequestID, "authChallengeResponse": given}) // texts
	client.Post(cdp.Command{Session: s.ID, Method: "Fetch.continueWithAuth", Params: body, OnReply: func(cdp.Reply) {}})
	return open, given.Response == "Default"
}

// answerTo finds the credentials of an origin. A request gets them once: what a server has
// refused it would refuse again, for ever.
func (t *Table) answerTo(origin, request string) (c Credentials, ok bool) {
	t.keys.mu.Lock()
	defer t.keys.mu.Unlock()
	at := slices.IndexFunc(t.keys.given, func(c Credentials) bool { return c.Origin == origin })
	if at < 0 {
		return Credentials{}, false
	}
	if t.keys.tried[request] {
		delete(t.keys.tried, request)
		return t.keys.given[at], false
	}
	if t.keys.tried == nil || len(t.keys.tried) >= maxTried {
		t.keys.tried = map[string]bool{}
	}
	t.keys.tried[request] = true
	return t.keys.given[at], true
}
