package effect_test

import (
	"testing"

	"github.com/outrider-run/outrider/primitives/effect"
)

func TestOutcomes(t *testing.T) {
	navigated := effect.Report{URL: &effect.URL{To: "http://127.0.0.1/next"}}
	gone := effect.Request{Type: "document", Error: effect.Aborted}
	downloaded := effect.Report{Downloads: []effect.Download{{ID: "d1"}}}
	for name, c := range map[string]struct {
		report  effect.Report
		request effect.Request
		want    effect.Outcome
	}{
		"under way":          {request: effect.Request{Type: "fetch"}},
		"answered":           {request: effect.Request{Type: "document", Status: 200}},
		"no content":         {request: effect.Request{Type: "document", Status: 204}, want: effect.NoContent},
		"reset content":      {request: effect.Request{Type: "document", Status: 205}, want: effect.NoContent},
		"fetch of nothing":   {request: effect.Request{Type: "fetch", Status: 204}},
		"no document":        {request: gone, want: effect.NoDocument},
		"another came":       {navigated, gone, effect.Answered},
		"became a download":  {downloaded, gone, effect.Answered},
		"fetch was given up": {request: effect.Request{Type: "fetch", Error: effect.Aborted}},
		"refused": {
			request: effect.Request{Type: "fetch", Error: "net::ERR_CONNECTION_REFUSED"}, want: effect.Failed,
		},
		"not found": {request: effect.Request{Type: "document", Status: 404}, want: effect.BadStatus},
	} {
		if got := c.report.OutcomeOf(c.request); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}
