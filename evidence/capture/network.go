package capture

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives"
)

// bodyTime bounds reading a body.
const bodyTime = 5 * time.Second

// request records a request that has ended, with its bodies.
func (r *Recorder) request(state *page, q primitives.NetworkRequest) {
	out := record.Request{
		ID:              q.ID,
		Method:          q.Method,
		URL:             q.URL,
		Type:            q.Type,
		Frame:           string(q.Frame),
		Status:          q.Status,
		StatusText:      q.StatusText,
		MimeType:        q.MimeType,
		Protocol:        q.Protocol,
		RemoteAddress:   q.RemoteAddress,
		FromCache:       q.FromCache,
		FromWorker:      q.FromWorker,
		RequestHeaders:  withoutCredentials(q.RequestHeaders),
		ResponseHeaders: withCookies(withoutCredentials(q.ResponseHeaders), q.SetCookies),
		Began:           q.Started,
		FirstByteMS:     ms(q.FirstByte),
		DurationMS:      ms(q.Duration),
		Bytes:           q.Bytes,
		State:           q.State,
		Failure:         q.Failure,
		RedirectedTo:    q.RedirectedTo,
	}
	var response, sent []byte
	ctx, cancel := context.WithTimeout(r.ctx, bodyTime)
	defer cancel()
	select {
	case r.slot <- struct{}{}:
		defer func() { <-r.slot }()
	case <-ctx.Done():
	}
	if q.State == "finished" && hasBody(q) {
		body, err := state.page.NetworkBody(ctx, q.ID, primitives.ResponseBody, r.opts.BodyLimit)
		switch {
		case err != nil:
			out.BodyMissing = "not_kept"
		case body.Total > len(body.Data):
			out.BodyMissing, out.BodySize = "too_large", body.Total
		default:
			response, out.BodySize = body.Data, body.Total
		}
	}
	if q.Method != "GET" && q.Method != "HEAD" && q.Method != "OPTIONS" {
		if body, err := state.page.NetworkBody(ctx, q.ID, primitives.RequestBody, r.opts.BodyLimit); err == nil &&
			len(body.Data) > 0 && body.Total == len(body.Data) {
			sent = body.Data
		}
	}
	at, whole := time.Now(), q.State == "finished" && hasBody(q) && out.BodyMissing == ""
	r.mu.Lock()
	defer r.mu.Unlock()
	r.later(state, func(tab int) {
		var names []string
		if whole {
			out.Body = r.log.Keep(q.MimeType, response)
			names = append(names, out.Body)
		}
		if sent != nil {
			out.RequestBody = r.log.Keep(contentType(q.RequestHeaders), sent)
			names = append(names, out.RequestBody)
		}
		r.log.PutAt(at, record.KindRequest, tab, out, names...)
	})
}

func hasBody(q primitives.NetworkRequest) bool {
	// 304 is one of the redirects.
	empty := q.Status == 204 || q.Status >= 300 && q.Status < 400
	return q.Type != "websocket" && !empty && q.Method != "HEAD"
}

// credentials are headers that stand for a person.
var credentials = map[string]bool{
	"authorization": true, "proxy-authorization": true, "cookie": true,
	"set-cookie": true, "x-api-key": true, "x-csrf-token": true, "x-auth-token": true,
}

func withoutCredentials(raw json.RawMessage) json.RawMessage {
	var headers map[string]string
	if json.Unmarshal(raw, &headers) != nil {
		return nil
	}
	for name := range headers {
		if credentials[strings.ToLower(name)] {
			headers[name] = "{{secret:header}}"
		}
	}
	return jsonOf(headers)
}

// withCookies adds the cookies that an answer sets to its headers. The value of one is a placeholder, unless it
// is one word, a locale or a small number, its name does not speak of a session, and scripts of the page can read it.
func withCookies(raw json.RawMessage, lines []string) json.RawMessage {
	if len(lines) == 0 {
		return raw
	}
	headers := map[string]string{}
	_ = json.Unmarshal(raw, &headers) // none without
	for name := range headers {
		if strings.EqualFold(name, "set-cookie") {
			delete(headers, name)
		}
	}
	var out []string
	for _, line := range lines {
		pair, attributes, _ := strings.Cut(line, ";")
		name, value, named := strings.Cut(pair, "=")
		if !named || !plainCookie().MatchString(value) || sessionCookie().MatchString(name) ||
			httpOnly().MatchString(attributes) {
			pair = name + "=" + record.CookieValue
			if !named {
				pair = record.CookieValue
			}
		}
		if attributes != "" {
			pair += ";" + attributes
		}
		out = append(out, pair)
	}
	headers["Set-Cookie"] = strings.Join(out, "\n")
	return jsonOf(headers)
}

var (
	plainCookie   = lazyregexp.New(`^(?:[A-Za-z]{0,12}|[a-z]{2}[-_][A-Z]{2}|\d{1,2})$`)
	sessionCookie = lazyregexp.New(
		`(?i)sess|token|auth|csrf|xsrf|jwt|sid|secret|login|user|key|pin|pass|code|otp|id$`,
	)
	httpOnly = lazyregexp.New(`(?i)(?:^|;)\s*httponly\s*(?:;|$)`)
)

func contentType(raw json.RawMessage) string {
	var headers map[string]string
	_ = json.Unmarshal(raw, &headers) // none without
	for name, value := range headers {
		if strings.EqualFold(name, "content-type") {
			return value
		}
	}
	return ""
}

// awaitBodies returns when the bodies are read of the requests that have ended: a step that leads to another
// document would take them away.
func (r *Recorder) awaitBodies(ctx context.Context, state *page) {
	late := time.NewTimer(time.Second)
	defer late.Stop()
	for {
		r.mu.Lock()
		if state.reading == 0 {
			r.mu.Unlock()
			return
		}
		if state.read == nil {
			state.read = make(chan struct{})
		}
		read := state.read
		r.mu.Unlock()
		select {
		case <-read:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
