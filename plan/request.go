package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

const (
	// maxRequestRedirects is how many redirects a request follows.
	maxRequestRedirects = 20
	// maxRequestBytes bounds the body of an answer.
	maxRequestBytes = 1 << 20
)

// Request implements Session.
func (w *workspace) Request(ctx context.Context, q browser.HTTPRequest) (browser.HTTPAnswer, error) {
	return w.host.Request(ctx, w.Workspace, q)
}

// Request implements Session.
func (p *profile) Request(ctx context.Context, q browser.HTTPRequest) (browser.HTTPAnswer, error) {
	return p.Host.Request(ctx, nil, q)
}

// requestOutput is what expressions see of an answer as output.
type requestOutput struct {
	Status     int               `json:"status"`
	StatusText string            `json:"status_text,omitempty"`
	URL        string            `json:"url"`
	Redirects  int               `json:"redirects"`
	Headers    map[string]string `json:"headers"` // by names in lower case
	// Cookies are the names of those that the answers set.
	Cookies []string `json:"cookies"`
	// Bytes is how long the body is. JSON is it when it is a JSON document, Body when it is another text.
	Bytes int             `json:"bytes"`
	Body  string          `json:"body,omitempty"`
	JSON  json.RawMessage `json:"json,omitempty"`
}

// fetch makes the request of a step.
func (r *run) fetch(ctx context.Context, at place, x *spec.Step, limit time.Duration) runtime.Reply {
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	reply := func(err error) runtime.Reply {
		return runtime.Reply{Err: r.o.Secrets.Fault(fault.From(err)), Duration: time.Since(began)}
	}
	q, err := r.httpRequest(at, x.Request)
	if err != nil {
		return reply(err)
	}
	answer, err := at.session.Request(bounded, q)
	if err != nil {
		return reply(err)
	}
	out := requestOutput{
		Status:     answer.Status,
		StatusText: answer.StatusText,
		URL:        answer.URL,
		Redirects:  answer.Redirects,
		Headers:    map[string]string{},
		Cookies:    append([]string{}, answer.Cookies...),
		Bytes:      len(answer.Body),
	}
	for _, h := range answer.Headers {
		name := strings.ToLower(h.Name)
		if name == "set-cookie" { // their values stand for a person
			continue
		}
		if before, twice := out.Headers[name]; twice {
			h.Value = before + ", " + h.Value
		}
		out.Headers[name] = h.Value
	}
	if utf8.Valid(answer.Body) {
		if isJSON(out.Headers["content-type"]) && json.Valid(answer.Body) {
			out.JSON = answer.Body
		} else {
			out.Body = string(answer.Body)
		}
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return reply(err)
	}
	done := runtime.Reply{
		Output:   r.o.Secrets.FromPage(raw),
		URL:      r.o.Secrets.Mask(answer.URL),
		Duration: time.Since(began),
	}
	if answer.Status >= 400 && !judges(x, answer.Status) {
		done.Err = r.o.Secrets.Fault(fault.New(
			fault.PageFetchFailed, "%s: HTTP status %d, expected one below 400",
			fault.Clip(x.Request.String(), 200), answer.Status,
		).With("http_status", answer.Status).
			Next(fmt.Sprintf("where it is meant to answer so, say it: expect: {status: %d}", answer.Status)))
	}
	return done
}

// isJSON reports whether a content type is one of JSON.
func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// httpRequest is the request with its secrets, for the origin that it goes to.
func (r *run) httpRequest(at place, s *spec.Request) (browser.HTTPRequest, error) {
	q := browser.HTTPRequest{
		Method:       s.Verb(),
		URL:          s.URL,
		MaxRedirects: maxRequestRedirects,
		MaxBody:      cmp.Or(s.MaxBytes, maxRequestBytes),
	}
	if s.MaxRedirects != nil {
		q.MaxRedirects = *s.MaxRedirects
	}
	if strings.HasPrefix(q.URL, "/") {
		page, err := url.Parse(at.status().URL)
		if err != nil || page.Host == "" || page.Scheme != "http" && page.Scheme != "https" {
			return q, fault.New(
				fault.InvalidInput, "the request goes to %s, and the tab shows no document of the web", q.URL,
			)
		}
		to, err := page.Parse(q.URL)
		if err != nil {
			return q, fault.New(fault.InvalidInput, "the address of the request is none: %s", q.URL)
		}
		q.URL = to.String()
	}
	secrets := cmp.Or(r.o.own, r.o.Secrets)
	body, kind, err := bodyOf(s, func(text string) (string, error) { return secrets.Reveal(text, q.URL) })
	if err != nil {
		return q, err
	}
	q.Body = body
	q.PrivateBody = len(mask.Used(bodyText(s))) > 0
	says := false
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		value, err := secrets.Reveal(s.Headers[name], q.URL)
		if err != nil {
			return q, err
		}
		if len(mask.Used(s.Headers[name])) > 0 {
			q.Private = append(q.Private, name)
		}
		says = says || strings.EqualFold(name, "content-type")
		q.Headers = append(q.Headers, browser.Header{Name: name, Value: value})
	}
	if kind != "" && !says {
		q.Headers = append(q.Headers, browser.Header{Name: "Content-Type", Value: kind})
	}
	return q, browser.CheckHeaders(q.Headers)
}

// bodyText is what of a request may have secrets in its body.
func bodyText(s *spec.Request) string {
	raw, err := json.Marshal([]any{s.Body, s.JSON, s.Form})
	if err != nil {
		return ""
	}
	return string(raw)
}

// bodyOf is the body of a request with its secrets, and its type.
func bodyOf(s *spec.Request, reveal func(string) (string, error)) (body []byte, kind string, err error) {
	switch {
	case s.JSON != nil:
		value, err := revealed(s.JSON, reveal)
		if err != nil {
			return nil, "", err
		}
		body, err = json.Marshal(value)
		if err != nil {
			return nil, "", fault.New(fault.InvalidInput, "json: %v", err)
		}
		return body, "application/json", nil
	case s.Form != nil:
		form := url.Values{}
		for name, value := range s.Form {
			value, err := reveal(value)
			if err != nil {
				return nil, "", err
			}
			form.Set(name, value)
		}
		return []byte(form.Encode()), "application/x-www-form-urlencoded", nil
	case s.Body != "":
		text, err := reveal(s.Body)
		return []byte(text), "text/plain; charset=utf-8", err
	}
	return nil, "", nil
}

// revealed is a JSON value with its secrets.
func revealed(v any, reveal func(string) (string, error)) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		return reveal(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i], err = revealed(v[i], reveal)
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k], err = revealed(v[k], reveal)
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// requestText is the request of a step for people, "" for none.
func (r *run) requestText(q *spec.Request) string {
	if q == nil {
		return ""
	}
	return r.o.Secrets.Mask(q.String())
}

// answered is why the answer to the request of a step has not the status that is expected.
func answered(want int, result StepResult) string {
	var out requestOutput
	if json.Unmarshal(result.Output, &out) == nil && out.Status == want {
		return ""
	}
	return fmt.Sprintf("HTTP status: %d, expected %d", out.Status, want)
}
