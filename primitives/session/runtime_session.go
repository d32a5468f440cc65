package session

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/quirks"
)

type runtimeSessionNameIn struct {
	Name string `json:"name"`
}

type runtimeSessionNameOut struct {
	Named bool `json:"named"`
}

type runtimeSessionFinalizeTabsOut struct {
	Finalized    bool  `json:"finalized"`
	ClosedTabIDs []int `json:"closed_tab_ids"`
	KeptTabID    int   `json:"kept_tab_id"`
}

// sessionFor is Of, and a refusal where the extension refuses.
func sessionFor(p primitives.Page, primitive string) (Session, error) {
	if primitives.QuirksOf(p).Has(quirks.SessionRefused) {
		return nil, Unavailable(primitive, "runtime.session", "the extension declares it and has no handler")
	}
	return Of(p, primitive, "runtime.session")
}

var (
	// runtimeSessionName names the session for people who look at its log.
	runtimeSessionName = primitives.Define("runtime.session.name", func(
		_ context.Context, p primitives.Page, in runtimeSessionNameIn,
	) (runtimeSessionNameOut, error) {
		s, err := sessionFor(p, "runtime.session.name")
		if err != nil {
			return runtimeSessionNameOut{}, err
		}
		s.NameSession(in.Name)
		return runtimeSessionNameOut{true}, nil
	})

	// runtimeSessionFinalizeTabs closes the tabs that a session leaves behind:
	// all but the one that the call runs on.
	runtimeSessionFinalizeTabs = primitives.Define("runtime.session.finalize_tabs", func(
		ctx context.Context, p primitives.Page, _ struct{},
	) (runtimeSessionFinalizeTabsOut, error) {
		s, err := sessionFor(p, "runtime.session.finalize_tabs")
		if err != nil {
			return runtimeSessionFinalizeTabsOut{}, err
		}
		out := runtimeSessionFinalizeTabsOut{Finalized: true, ClosedTabIDs: []int{}, KeptTabID: p.Tab().ID}
		for _, t := range s.Tabs() {
			if t.ID == out.KeptTabID {
				continue
			}
			if err := s.CloseTab(ctx, t.ID); err != nil {
				return runtimeSessionFinalizeTabsOut{}, err
			}
			out.ClosedTabIDs = append(out.ClosedTabIDs, t.ID)
		}
		return out, nil
	})
)
