package provider

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// returns finds the word return, which tells the body of a function from an
// expression.
var returns = regexp.MustCompile(`(^|[^\w$.])return([^\w$]|$)`)

// evaluate runs a script in the page's own world: an expression, or the body of
// an async function when it has a return.
func evaluate(ctx context.Context, r *request) (any, *Failure) {
	var in struct {
		Expression string `json:"expression"`
	}
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	source := in.Expression
	if !returns.MatchString(source) {
		source = "return (" + strings.TrimRight(source, "; \n\t") + "\n)"
	}
	var ran struct {
		Result json.RawMessage `json:"result"`
	}
	reply, err := r.do(ctx, "browser.run_javascript", map[string]any{"source": source}, &ran)
	if err != nil {
		return nil, r.failed(err)
	}
	return r.about(reply, map[string]any{"value": ran.Result, "type": kindOf(ran.Result)}), nil
}

// kindOf names the type of a JSON value.
func kindOf(v json.RawMessage) string {
	switch strings.TrimSpace(string(v))[:1] {
	case "{":
		return "object"
	case "[":
		return "array"
	case `"`:
		return "string"
	case "t", "f":
		return "boolean"
	case "n":
		return "null"
	}
	return "number"
}

// entries lists what a primitive recorded of the page. since is the cursor of an
// earlier answer.
func entries(primitive string) func(context.Context, *request) (any, *Failure) {
	return func(ctx context.Context, r *request) (any, *Failure) {
		args := r.only("limit", "since")
		var list map[string]any
		reply, err := r.do(ctx, primitive, args, &list)
		if err != nil {
			return nil, r.failed(err)
		}
		return r.about(reply, list), nil
	}
}

// only are some of the params as they came.
func (r *request) only(names ...string) map[string]any {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(r.params, &all) // the schema has been checked
	out := map[string]any{}
	for _, name := range names {
		if v, ok := all[name]; ok {
			out[name] = v
		}
	}
	return out
}

func cookies(ctx context.Context, r *request) (any, *Failure) {
	var list map[string]any
	reply, err := r.do(ctx, "cookie.list", r.only("urls"), &list)
	if err != nil {
		return nil, r.failed(err)
	}
	return r.about(reply, list), nil
}

// storage reads what the page's origin keeps in local storage.
func storage(ctx context.Context, r *request) (any, *Failure) {
	var in struct {
		Area string   `json:"area"`
		Keys []string `json:"keys"`
	}
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	if in.Area == "session" {
		return nil, newFailure(UnsupportedTarget, "this provider reads local storage only").with("member", "area")
	}
	origin := ""
	if u, err := url.Parse(r.page.URL); err == nil && u.Host != "" {
		origin = u.Scheme + "://" + u.Host
	}
	if origin == "" {
		return nil, newFailure(UnsupportedTarget, "the page has no origin, so it has no storage").
			with("page_id", pageID(r.page))
	}
	var state struct {
		Origins []struct {
			Origin string `json:"origin"`
			Items  []struct {
				Name  string `json:"name"`
				Value string `json:"value"`
			} `json:"localStorage"`
		} `json:"origins"`
	}
	reply, err := r.do(ctx, "storage_state.get", map[string]any{"origins": []string{origin}}, &state)
	if err != nil {
		return nil, r.failed(err)
	}
	items := map[string]string{}
	for _, o := range state.Origins {
		if o.Origin != origin {
			continue
		}
		for _, item := range o.Items {
			if in.Keys == nil || slices.Contains(in.Keys, item.Name) {
				items[item.Name] = item.Value
			}
		}
	}
	return r.about(reply, map[string]any{"area": "local", "origin": origin, "items": items}), nil
}
