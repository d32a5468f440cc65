package provider

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	defaultWait = 10 * time.Second
	maxWait     = 60 * time.Second
)

// wait answers as soon as one of the conditions holds; that none did in time is
// an answer too.
func wait(ctx context.Context, r *request) (any, *Failure) {
	var in struct {
		Text       string `json:"text_present"`
		TextGone   string `json:"text_absent"`
		Selector   string `json:"selector_present"`
		NoSelector string `json:"selector_absent"`
		Ref        string `json:"element_ref_present"`
		URL        string `json:"url_matches"`
		Navigation bool   `json:"navigation_complete"`
	}
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	var names []string
	var conditions []any
	add := func(name string, given bool, condition map[string]any) {
		if given {
			names, conditions = append(names, name), append(conditions, condition)
		}
	}
	selector := func(s string) map[string]any { return map[string]any{"selector": s} }
	add("text_present", in.Text != "", map[string]any{"text": in.Text})
	add("text_absent", in.TextGone != "", map[string]any{"text_gone": in.TextGone})
	add("selector_present", in.Selector != "", map[string]any{"locator": selector(in.Selector), "state": "attached"})
	add("selector_absent", in.NoSelector != "", map[string]any{"locator": selector(in.NoSelector), "state": "detached"})
	add("element_ref_present", in.Ref != "", map[string]any{"ref": in.Ref, "state": "attached"})
	if in.URL != "" {
		pattern, failure := urlPattern(in.URL)
		if failure != nil {
			return nil, failure
		}
		add("url_matches", true, map[string]any{"url": map[string]any{"regex": pattern}})
	}
	add("navigation_complete", in.Navigation, map[string]any{"load": "load"})
	if len(conditions) == 0 {
		return nil, invalidRequest("", "name at least one condition")
	}
	limit := r.ownTimeout()
	switch {
	case !strings.Contains(string(r.params), `"timeout_ms"`):
		limit = defaultWait
	case limit > maxWait:
		limit = maxWait
		r.warn("timeout_capped", "page.wait waits for 60 s at the most")
	}
	var met struct {
		Met []bool `json:"met"`
		URL string `json:"url"`
	}
	args := map[string]any{"conditions": conditions, "mode": "any", "timeout_ms": limit.Milliseconds()}
	reply, err := r.doWithin(ctx, limit+5*time.Second, "page.wait", args, &met)
	if err != nil {
		if err.Code == fault.Timeout || err.Code == fault.HandlerTimeout {
			return r.about(reply, map[string]any{"satisfied": false}), nil
		}
		return nil, r.failed(err)
	}
	reply.URL = met.URL
	out := r.about(reply, map[string]any{"satisfied": true})
	for i, ok := range met.Met {
		if ok && i < len(names) {
			out["matched_condition"] = names[i]
			break
		}
	}
	return out, nil
}

// urlPattern turns a glob, where * is any text, or a regular expression between
// slashes into a regular expression of the whole address.
func urlPattern(s string) (string, *Failure) {
	if len(s) > 2 && strings.HasPrefix(s, "/") && strings.HasSuffix(s, "/") {
		s = s[1 : len(s)-1]
		if _, err := regexp.Compile(s); err != nil {
			return "", invalidRequest("/url_matches", "url_matches is not a regular expression")
		}
		return s, nil
	}
	parts := strings.Split(s, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return "^" + strings.Join(parts, ".*") + "$", nil
}
