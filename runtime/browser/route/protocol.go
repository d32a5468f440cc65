package route

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Request is a request that waits for its answer.
type Request struct {
	Method  string
	URL     string // without fragment
	Type    string // Document, Script, Fetch, ... as the protocol has it
	Headers map[string]string
	Body    []byte

	session, id string
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

// read takes the parameters of Fetch.requestPaused.
func read(s *cdp.Session, params []byte) (Request, bool) {
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
	if json.Unmarshal(params, &e) != nil || e.RequestID == "" {
		return Request{}, false
	}
	q := e.Request
	address, _, _ := strings.Cut(q.URL, "#")
	return Request{session: s.ID, id: e.RequestID, Type: e.Type, Method: q.Method, URL: address, Headers: q.Headers, Body: []byte(q.Body)}, true
}

func (q *Request) header(name string) string {
	for k, v := range q.Headers {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

// Document answers a request with an empty HTML document. The reader may call it.
func Document(s *cdp.Session, params []byte) cdp.Command {
	q := Request{session: s.ID, id: string(cdp.PlainString(cdp.Member(params, "requestId")))}
	return q.answered(Answer{Status: 200, Headers: []Header{{"Content-Type", "text/html"}}, Body: []byte("<!doctype html>")})
}

func (q *Request) continued() cdp.Command {
	return q.command("Fetch.continueRequest", cdp.Object("requestId", q.id))
}

// answered is the command that gives the page an answer.
func (q *Request) answered(a Answer) cdp.Command {
	if a.Failure == "" && a.Status < 100 {
		a.Failure = "Failed"
	}
	if a.Failure != "" {
		return q.command("Fetch.failRequest", cdp.Object("requestId", q.id, "errorReason", a.Failure))
	}
	if a.Headers == nil {
		a.Headers = []Header{}
	}
	params, _ := json.Marshal(struct { // texts and numbers
		RequestID string   `json:"requestId"`
		Code      int      `json:"responseCode"`
		Headers   []Header `json:"responseHeaders"`
		Body      string   `json:"body"`
	}{q.id, a.Status, a.Headers, base64.StdEncoding.EncodeToString(a.Body)})
	return q.command("Fetch.fulfillRequest", params)
}

func (q *Request) command(method string, params []byte) cdp.Command {
	return cdp.Command{Session: q.session, Method: method, Params: params, OnReply: func(cdp.Reply) {}}
}
