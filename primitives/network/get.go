package network

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type networkGetIn struct {
	ID       string `json:"id"`
	Body     string `json:"body"`
	MaxBytes int    `json:"max_bytes"`
}

type networkGetOut struct {
	networkEntry
	StatusText      string            `json:"status_text"`
	Protocol        string            `json:"protocol,omitempty"`
	RemoteAddress   string            `json:"remote_address,omitempty"`
	RequestHeaders  map[string]string `json:"request_headers"`
	ResponseHeaders map[string]string `json:"response_headers"`
	Body            *bodyOut          `json:"body,omitempty"`
}

type bodyOut struct {
	Text      *string `json:"text,omitempty"`
	Base64    *string `json:"base64,omitempty"` // of a body that is not text
	Bytes     int     `json:"bytes"`
	Truncated bool    `json:"truncated"`
}

const defaultBody = 64 << 10

// networkGet reads one request with its headers, and with a body when it is
// asked for. Values of headers that carry secrets are left out.
var networkGet = primitives.Define("network.get", func(
	ctx context.Context, p primitives.Page, in networkGetIn,
) (networkGetOut, error) {
	log, err := p.Network(ctx)
	if err != nil {
		return networkGetOut{}, err
	}
	for _, r := range log.Requests {
		if r.ID != in.ID {
			continue
		}
		out := networkGetOut{
			networkEntry:    describeRequest(r),
			StatusText:      r.StatusText,
			Protocol:        r.Protocol,
			RemoteAddress:   r.RemoteAddress,
			RequestHeaders:  redacted(r.RequestHeaders),
			ResponseHeaders: redacted(r.ResponseHeaders),
		}
		if in.Body == "" || in.Body == "none" {
			return out, nil
		}
		limit := in.MaxBytes
		if limit == 0 {
			limit = defaultBody
		}
		body, err := p.NetworkBody(ctx, in.ID, primitives.BodyPart(in.Body), limit)
		if err != nil {
			return networkGetOut{}, err
		}
		out.Body = describeBody(body)
		return out, nil
	}
	return networkGetOut{}, fault.New(fault.TargetNotFound, "no recorded request has this id").With("id", in.ID).
		With("recording_since", jsonout.Time(log.Since)).Next("ask network.list for the ids that are there")
})

func describeBody(body primitives.NetworkBody) *bodyOut {
	out := &bodyOut{Bytes: body.Total, Truncated: len(body.Data) < body.Total}
	data := body.Data
	if out.Truncated { // not in the middle of a character
		for n := 0; n < utf8.UTFMax && len(data) > 0 && !utf8.Valid(data); n++ {
			data = data[:len(data)-1]
		}
	}
	if utf8.Valid(data) {
		text := string(data)
		out.Text = &text
		return out
	}
	text := base64.StdEncoding.EncodeToString(body.Data)
	out.Base64 = &text
	return out
}

// secretHeader are names whose values authorise somebody.
var secretHeader = lazyregexp.New(`(?i)^(authorization|proxy-authorization|cookie|set-cookie|set-cookie2|` +
	`x-csrf-.*|x-xsrf-.*|.*(token|secret|api-?key|password|credential|session-?id).*)$`)

// redacted decodes headers and leaves the values of secret ones out.
func redacted(raw json.RawMessage) map[string]string {
	out := map[string]string{}
	if json.Unmarshal(raw, &out) != nil {
		return map[string]string{}
	}
	for name, value := range out {
		if secretHeader().MatchString(strings.TrimSpace(name)) {
			out[name] = fmt.Sprintf("[redacted, %d bytes]", len(value))
		}
	}
	return out
}
