// Package offline answers the requests of a browser in place of the network, one after the other, in the
// order in which they come. It does not know where answers come from. Package runtime/browser gives it the
// sessions and events of its tabs when its options have somebody who answers.
package offline

import (
	"encoding/base64"
	"encoding/json"
	"sync"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Request is a request that waits for its answer.
type Request struct {
	Method  string
	URL     string // without fragment
	Type    string // Document, Script, Fetch, ... as the protocol has it
	Headers map[string]string
	Body    []byte
}

// Answer is what a page gets. With a Failure it is an error of the network.
type Answer struct {
	Status  int
	Headers []Header
	Body    []byte
	// Failure is an ErrorReason of the protocol, such as ConnectionRefused; "" for none.
	Failure string
}

// Header is one header line.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Flags keep everything that is not answered here, such as a WebSocket, from the network: the proxy does not exist.
var Flags = []string{"--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND"}

// Network answers the requests of one browser.
type Network struct {
	client *cdp.Client
	answer func(Request) Answer

	mu    sync.Mutex
	queue []paused
	busy  bool
	work  sync.WaitGroup
}

type paused struct {
	session string
	id      string
	request Request
}

// New answers with what answer returns. It is called for one request at a time.
func New(client *cdp.Client, answer func(Request) Answer) *Network {
	return &Network{client: client, answer: answer}
}

// SessionCommands hold the requests of a new session. Service workers are left out: what they fetch is not seen.
func (n *Network) SessionCommands(s *cdp.Session) []cdp.Command {
	if n == nil {
		return nil
	}
	return []cdp.Command{
		{Session: s.ID, Method: "Fetch.enable", Params: []byte(`{"patterns":[{"urlPattern":"*"}]}`)},
		{Session: s.ID, Method: "Network.setBypassServiceWorker", Params: []byte(`{"bypass":true}`)},
		{Session: s.ID, Method: "Network.setCacheDisabled", Params: []byte(`{"cacheDisabled":true}`)},
	}
}

// HandleEvent takes Fetch.requestPaused. The reader calls it.
func (n *Network) HandleEvent(s *cdp.Session, params []byte) {
	if n == nil {
		return
	}
	var e struct {
		RequestID string `json:"requestId"`
		Type      string `json:"resourceType"`
		Request   struct {
			Method  string            `json:"method"`
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
			Body    string            `json:"postData"`
		} `json:"request"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	q := e.Request
	n.mu.Lock()
	defer n.mu.Unlock()
	n.queue = append(n.queue, paused{s.ID, e.RequestID, Request{Method: q.Method, URL: q.URL, Type: e.Type, Headers: q.Headers, Body: []byte(q.Body)}})
	if !n.busy {
		n.busy = true
		n.work.Go(n.serve)
	}
}

// serve answers until nothing waits.
func (n *Network) serve() {
	for {
		n.mu.Lock()
		if len(n.queue) == 0 {
			n.busy = false
			n.mu.Unlock()
			return
		}
		p := n.queue[0]
		n.queue = n.queue[1:]
		n.mu.Unlock()
		n.client.Post(command(p, n.answer(p.request)))
	}
}

// Wait returns when nothing is being answered. No event comes after it.
func (n *Network) Wait() {
	if n != nil {
		n.work.Wait()
	}
}

func command(p paused, a Answer) cdp.Command {
	if a.Failure != "" || a.Status < 100 {
		if a.Failure == "" {
			a.Failure = "Failed"
		}
		return cdp.Command{Session: p.session, Method: "Fetch.failRequest", Params: cdp.Object("requestId", p.id, "errorReason", a.Failure), OnReply: func(cdp.Reply) {}}
	}
	if a.Headers == nil {
		a.Headers = []Header{}
	}
	params, _ := json.Marshal(struct { // strings and numbers
		RequestID string   `json:"requestId"`
		Code      int      `json:"responseCode"`
		Headers   []Header `json:"responseHeaders"`
		Body      string   `json:"body"`
	}{p.id, a.Status, a.Headers, base64.StdEncoding.EncodeToString(a.Body)})
	return cdp.Command{Session: p.session, Method: "Fetch.fulfillRequest", Params: params, OnReply: func(cdp.Reply) {}}
}
