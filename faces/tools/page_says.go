package tools

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// messagePlaces are where documents put what they say of the action that led to them.
const messagePlaces = `[role="alert"], [role="status"], [aria-live="assertive"], .alert, .flash, .flashes li, ` +
	`.messages li, .message, .errorlist li, .error, .errors, .error-message, .notice, .notification, .toast, ` +
	`.invalid-feedback, .ok-message, .success, .warning, .help-block.error, .field-error`

const (
	mostSaid     = 3
	mostSaidText = 200
	// saysTime bounds the question what a new document says.
	saysTime = time.Second
)

// pageSays is what a document that an action led to says of it: alerts, messages, texts of refused fields. What the
// document before said too is no matter of the action.
func (c *Call) pageSays(ctx context.Context, p page, f followed) []string {
	if f.URL == nil || !f.URL.NewDocument || f.URL.Loading || f.TabGone {
		return nil
	}
	var out []string
	for _, text := range c.messagesOf(ctx, p) {
		out = append(out, "it says "+quote(text, mostSaidText))
	}
	return out
}

// messagesOf are the texts that a document shows where messages stand.
func (c *Call) messagesOf(ctx context.Context, p page) []string {
	ctx, cancel := context.WithTimeout(ctx, saysTime)
	defer cancel()
	args := map[string]any{"selector": messagePlaces, "max_matches": 20, "max_payload_bytes": 64_000}
	value, _, err := c.do(ctx, p, "dom.observe.visible", args, where{})
	if err != nil {
		return nil // the action was done, whatever its page says
	}
	var seen struct {
		Matches []struct{ Text string } `json:"matches"`
	}
	if json.Unmarshal(value, &seen) != nil {
		return nil
	}
	before, _ := c.set.said.get(p.handle())
	var all, out []string
	for _, m := range seen.Matches {
		text := strings.Join(strings.Fields(m.Text), " ")
		inOther := func(other string) bool { return strings.Contains(other, text) }
		if text == "" || len(text) > 2*mostSaidText || slices.ContainsFunc(all, inOther) {
			continue
		}
		all = append(all, text)
		if !slices.Contains(before, text) && len(out) < mostSaid {
			out = append(out, text)
		}
	}
	c.set.said.set(p.handle(), all)
	return out
}
