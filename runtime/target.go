package runtime

import (
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
)

// pick returns the one tab that target selects. Several or none is an error
// with the candidates as evidence, never a guess (Actions Bridge Protocol,
// "Routing Rules").
func (h *Host) pick(target Target) (*Tab, *fault.Error) {
	tabs := slices.DeleteFunc(h.tabList(), func(t *Tab) bool { return t.Status().Workspace != target.Workspace })
	var found []*Tab
	for _, t := range tabs {
		if matches(target, t.Status()) {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if len(tabs) == 0 {
			return nil, fault.New(fault.RuntimeNotReady, "this runtime has no open tab").Next("open a tab first")
		}
		return nil, fault.New(fault.RuntimeNotFound, "no tab matches the selector").
			With("selector", selectorOf(target)).With("candidates", candidates(tabs))
	}
	return nil, fault.New(fault.AmbiguousRuntime, "%d tabs match the selector; the call was sent nowhere", len(found)).
		With("selector", selectorOf(target)).With("candidates", candidates(found)).
		Next("repeat the call with the runtime_id of one candidate")
}

func matches(t Target, s TabStatus) bool {
	switch {
	case t.RuntimeID != "" && t.RuntimeID != s.RuntimeID:
		return false
	case t.RuntimeKey != "" && t.RuntimeKey != s.RuntimeKey:
		return false
	case t.TabID != 0 && t.TabID != s.TabID:
		return false
	case t.URLContains != "" && !address.Contains(s.URL, t.URLContains):
		return false
	}
	return t.TitleContains == "" || strings.Contains(strings.ToLower(s.Title), strings.ToLower(t.TitleContains))
}

func selectorOf(t Target) map[string]any {
	m := map[string]any{}
	for k, v := range map[string]string{
		"runtime_id": t.RuntimeID, "runtime_key": t.RuntimeKey,
		"target_url_contains": t.URLContains, "target_title_contains": t.TitleContains,
	} {
		if v != "" {
			m[k] = v
		}
	}
	if t.TabID != 0 {
		m["tab_id"] = t.TabID
	}
	return m
}

func candidates(tabs []*Tab) []map[string]any {
	out := make([]map[string]any, 0, len(tabs))
	for _, t := range tabs[:min(len(tabs), 10)] {
		s := t.Status()
		out = append(out, map[string]any{"runtime_id": s.RuntimeID, "url": fault.Clip(s.URL, 200), "tab_id": s.TabID})
	}
	return out
}
