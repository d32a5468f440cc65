package siteaction

import (
	"encoding/json"
	"net/url"

	"github.com/outrider-run/outrider/primitives/fault"
)

// navigate loads an address; a relative one is one of the page's site.
func (r *executionRun) navigate(s *plannedStep) (json.RawMessage, *fault.Error) {
	address := s.URL
	if s.URLFrom != "" {
		v, ok := r.argument(s.URLFrom)
		if !ok {
			return nil, fault.New(
				fault.InvalidInput, "the call gives no %s, which step %s needs", fault.Clip(s.URLFrom, 60), s.id,
			).With("missing_required", []string{s.URLFrom})
		}
		address = plainText(v)
	} else if address == "" {
		v, err := r.value(s)
		if err != nil {
			return nil, err
		}
		address = plainText(v)
	}
	page, e := r.a.LivePage(r.work)
	if e != nil {
		return nil, fault.From(e)
	}
	base, e := url.Parse(page.Tab().URL)
	ref, e2 := url.Parse(address)
	if e == nil && e2 == nil {
		address = base.ResolveReference(ref).String()
	}
	return r.invoke("browser.navigate", map[string]any{"url": address})
}

func (r *executionRun) reload(*plannedStep) (json.RawMessage, *fault.Error) {
	return r.invoke("browser.navigate", map[string]any{"reload": true})
}

func (r *executionRun) screenshot(*plannedStep) (json.RawMessage, *fault.Error) {
	return r.invoke("browser.screenshot", map[string]any{"format": "jpeg"})
}
