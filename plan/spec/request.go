package spec

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Request is an HTTP request that a step makes with the cookies of its session. Cookies that the
// answer sets are the session's.
type Request struct {
	URL     string            `json:"url" doc:"address; /path is of the document that the tab shows"`
	Method  string            `json:"method,omitempty" doc:"default GET, POST with a body"`
	Headers map[string]string `json:"headers,omitempty" doc:"headers; they may have secrets"`
	Body    string            `json:"body,omitempty" doc:"the body as a text"`
	JSON    any               `json:"json,omitempty" doc:"the body as a JSON value"`
	Form    map[string]string `json:"form,omitempty" doc:"the body as the fields of a form, url-encoded"`

	MaxRedirects *int `json:"max_redirects,omitempty" min:"0" max:"20" doc:"redirects that are followed; default 20"`
	MaxBytes     int  `json:"max_bytes,omitempty" min:"1" max:"16777216" doc:"bound on the answer; default 1 MiB"`
}

// ours are headers that the session and the connection have.
var ours = []string{
	"cookie", "host", "content-length", "connection", "transfer-encoding", "proxy-authorization", "upgrade",
}

// request finds what the schema cannot say of a request.
func (c *checker) request(s *Step, at string) {
	q := s.Request
	if q == nil {
		return
	}
	step := at
	at += "/request"
	bodies := 0
	for _, given := range []bool{q.Body != "", q.JSON != nil, q.Form != nil} {
		if given {
			bodies++
		}
	}
	if bodies > 1 {
		c.fail(at, "the request has %d of body, json and form: expected one", bodies)
	}
	if method := q.Verb(); bodies > 0 && (method == http.MethodGet || method == http.MethodHead) {
		c.fail(at+"/method", "%s has no body", method)
	}
	if strings.TrimSpace(q.URL) == "" {
		c.fail(at+"/url", "is empty, expected an address")
	}
	if len(mask.Used(q.URL)) > 0 {
		c.fail(at+"/url", "has a secret, which logs on the way would keep: give it by a header or the body")
	}
	for name := range q.Headers {
		place := at + "/headers/" + escapePointer(name)
		if !token(name) {
			c.fail(place, "%q is no name of a header", name)
		}
		if slices.Contains(ours, strings.ToLower(name)) {
			c.fail(place, "%s is not the plan's: the session has its cookies, the connection the rest", name)
		}
	}
	if q.Method != "" && !token(q.Method) && !reference().MatchString(q.Method) {
		c.fail(at+"/method", "%q is no method", fault.Clip(q.Method, 40))
	}
	for member, given := range map[string]bool{
		"open": s.Open != "", "new_tab": s.NewTab != "", "route": len(s.Route) > 0,
	} {
		if given {
			c.fail(step+"/"+member, "%s does not go with request: no page has part in it", member)
		}
	}
}

// token reports whether a text is a token of HTTP.
func token(text string) bool {
	odd := func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	}
	return text != "" && !strings.ContainsFunc(text, odd)
}

// Verb is the method of the request.
func (q *Request) Verb() string {
	if q.Body != "" || q.JSON != nil || q.Form != nil {
		return strings.ToUpper(cmp.Or(q.Method, http.MethodPost))
	}
	return strings.ToUpper(cmp.Or(q.Method, http.MethodGet))
}

// String is the request for people.
func (q *Request) String() string { return q.Verb() + " " + q.URL }

// request refuses references that nothing declares.
func (x *useChecker) request(s *Step, at string) {
	if s.Request == nil {
		return
	}
	x.value(plain(s.Request), at+"/request")
	q := *s.Request
	if x.names != nil || q.Expand(&x.scope) != nil {
		return // it was said
	}
	web := strings.HasPrefix(q.URL, "/") && !strings.HasPrefix(q.URL, "//")
	for _, scheme := range []string{"http://", "https://"} {
		web = web || strings.HasPrefix(strings.ToLower(q.URL), scheme)
	}
	if !web && !strings.Contains(q.URL, unknownText) {
		x.fail(at+"/request/url", fmt.Errorf(
			"is %q, expected an address such as https://app.example/api or /api", fault.Clip(q.URL, 200),
		))
	}
	for name, value := range q.Headers {
		if strings.ContainsAny(value, "\r\n\x00") {
			x.fail(at+"/request/headers/"+escapePointer(name), errors.New("has a line break"))
		}
	}
}

// Expand replaces the references in a request.
func (q *Request) Expand(s *Scope) error {
	for _, field := range []*string{&q.URL, &q.Method, &q.Body} {
		text, err := s.Text(*field)
		if err != nil {
			return err
		}
		*field = text
	}
	for _, fields := range []*map[string]string{&q.Headers, &q.Form} {
		if *fields == nil {
			continue
		}
		out := make(map[string]string, len(*fields))
		for name, value := range *fields {
			text, err := s.Text(value)
			if err != nil {
				return err
			}
			out[name] = text
		}
		*fields = out
	}
	var err error
	q.JSON, err = s.Expand(q.JSON)
	return err
}
