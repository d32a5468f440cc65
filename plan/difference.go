package plan

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/runtime"
)

// mostStates is how many states of a page are compared.
const mostStates = 3

// states are the states of the page that its maps project, by name. They are read before
// a step that can change them, for a report that shows what a failed one changed.
func (r *run) states(ctx context.Context, at place) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, name := range r.projections(ctx, at) {
		var read struct {
			State json.RawMessage `json:"state"`
		}
		raw := r.siteEvidence(ctx, at, runtime.Site{Mode: runtime.SiteStateRead, Projection: name})
		if json.Unmarshal(raw, &read) == nil && len(read.State) > 0 {
			out[name] = read.State
		}
	}
	return out
}

// projections are the names of the projections for the page of a tab, asked once for each
// address without its query.
func (r *run) projections(ctx context.Context, at place) []string {
	address := ""
	for _, tab := range at.session.Tabs() {
		if tab.RuntimeID == at.target.RuntimeID {
			address = tab.URL
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" && u.Scheme != "file" {
		return nil
	}
	key := u.Scheme + "://" + u.Host + u.Path
	if names, ok := at.session.projections[key]; ok {
		return names
	}
	var listed struct {
		Projections []struct {
			Name string `json:"name"`
		} `json:"state_projections"`
	}
	raw := r.siteEvidence(ctx, at, runtime.Site{Mode: runtime.SiteList})
	if json.Unmarshal(raw, &listed) != nil {
		return nil
	}
	var names []string
	for _, p := range listed.Projections[:min(len(listed.Projections), mostStates)] {
		names = append(names, p.Name)
	}
	if at.session.projections == nil {
		at.session.projections = map[string][]string{}
	}
	at.session.projections[key] = names
	return names
}

// changed is what a step changed of the states that were read before it.
func (r *run) changed(ctx context.Context, at place, before map[string]json.RawMessage) []report.Text {
	var out []report.Text
	for _, name := range r.projections(ctx, at) {
		state, ok := before[name]
		if !ok {
			continue
		}
		raw := r.siteEvidence(ctx, at, runtime.Site{
			Mode:       runtime.SiteStateDiff,
			Projection: name,
			Baseline:   state,
		})
		var b strings.Builder
		if len(raw) > 0 && report.Diff(&b, raw) == nil {
			out = append(out, report.Text{Title: "change of " + name, Body: strings.TrimRight(b.String(), "\n")})
		}
	}
	return out
}
