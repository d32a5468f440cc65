package primitives

import "context"

// No host implements these two; upstream declares them. They answer what a
// caller can act on instead of being unknown.

type runtimeSessionNameIn struct {
	Name string `json:"name"`
}

type runtimeSessionNameOut struct {
	Named bool `json:"named"`
}

type runtimeSessionFinalizeTabsOut struct {
	Finalized bool `json:"finalized"`
}

var (
	runtimeSessionName = Define("runtime.session.name", func(context.Context, Page, runtimeSessionNameIn) (runtimeSessionNameOut, error) {
		return runtimeSessionNameOut{}, unavailable("runtime.session.name", "runtime.session", "nothing shows a session's name here")
	})
	runtimeSessionFinalizeTabs = Define("runtime.session.finalize_tabs", func(context.Context, Page, struct{}) (runtimeSessionFinalizeTabsOut, error) {
		return runtimeSessionFinalizeTabsOut{}, unavailable("runtime.session.finalize_tabs", "runtime.session", "tabs are closed one by one with browser.close_tab")
	})
)
