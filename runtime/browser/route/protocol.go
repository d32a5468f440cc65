package route

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
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
	return Request{
		session: s.ID,
		id:      e.RequestID,
		Type:    e.Type,
		Method:  q.Method,
		URL:     address,
		Headers: q.Headers,
		Body:    []byte(q.Body),
	}, true
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
func Document(client *cdp.Client, s *cdp.Session, params []byte) cdp.Command {
	q := Request{session: s.ID, id: string(cdp.PlainString(cdp.Member(params, "requestId")))}
	return q.answered(client, Answer{
		Status:  200,
		Headers: []Header{{"Content-Type", "text/html"}},
		Body:    []byte("<!doctype html>"),
	}, nil)
}

func (q *Request) continued(client *cdp.Client) cdp.Command {
	return q.command(client, "Fetch.continueRequest", cdp.Object("requestId", q.id), nil)
}

// answered is the command that gives the page an answer. An answer that the browser does
// not take fails the request, and refused, which may be nil, hears of it.
func (q *Request) answered(client *cdp.Client, a Answer, refused func(Missed)) cdp.Command {
	if a.Failure == "" && a.Status < 100 {
		a.Failure = "Failed"
	}
	if a.Failure != "" {
		return q.command(client, "Fetch.failRequest", cdp.Object("requestId", q.id, "errorReason", a.Failure), refused)
	}
	if a.Headers == nil {
		a.Headers = []Header{}
	}
	params, _ := json.Marshal(struct { // texts and numbers
		RequestID string   `json:"requestId"`
		Code      int      `json:"responseCode"`
		Phrase    string   `json:"responsePhrase"` // the browser knows none for codes of its own time only
		Headers   []Header `json:"responseHeaders"`
		Body      string   `json:"body"`
	}{
		q.id, a.Status,
		cmp.Or(http.StatusText(a.Status), "Status"),
		a.Headers, base64.StdEncoding.EncodeToString(a.Body),
	})
	return q.command(client, "Fetch.fulfillRequest", params, refused)
}

// command is one that ends the waiting of a request. Where the browser refuses it the
// request would wait for ever, so it is failed then. A request that is gone needs neither.
func (q *Request) command(client *cdp.Client, method string, params []byte, refused func(Missed)) cdp.Command {
	fail := cdp.Command{
		Session: q.session, Method: "Fetch.failRequest", Params: cdp.Object("requestId", q.id, "errorReason", "Failed"),
		OnReply: func(cdp.Reply) {},
	}
	why := Missed{Method: q.Method, URL: q.URL}
	return cdp.Command{Session: q.session, Method: method, Params: params, OnReply: func(r cdp.Reply) {
		var said *cdp.Error
		if r.Err == nil || !errors.As(r.Err, &said) || strings.Contains(said.Message, "InterceptionId") {
			return
		}
		why.Why = said.Message
		if refused != nil {
			refused(why)
		}
		client.Post(fail)
	}}
}

// CheckHeaders says which header line no browser takes.
func CheckHeaders(headers []Header) error {
	for _, h := range headers {
		switch {
		case h.Name == "":
			return fault.New(fault.InvalidInput, "a header has no name")
		case strings.ContainsFunc(h.Name, func(r rune) bool { return !token(r) }):
			return fault.New(fault.InvalidInput, "%q is no name of a header", fault.Clip(h.Name, 80))
		case strings.ContainsAny(h.Value, "\r\n\x00"):
			return fault.New(fault.InvalidInput, "the value of the header %s has a line break or a zero byte", h.Name)
		}
	}
	return nil
}

// token reports whether a character may stand in the name of a header.
func token(r rune) bool {
	return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}
