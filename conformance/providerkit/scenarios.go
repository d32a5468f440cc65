package providerkit

// Scenarios lists every scenario in the order in which they are run. The first
// ten are those of the draft, "Conformance"; the others follow from its criteria.
func Scenarios() []Scenario {
	return []Scenario{
		{ID: "describe", Essential: true, Title: "provider.describe names the provider, protocol version 0.1, all " +
			"core methods, and each custom method with its three members", run: describe},
		{ID: "status", Essential: true, Title: "provider.status is coherent: legal values, ready only with setup " +
			"complete, unavailable only with a diagnostic", run: status},
		{ID: "session", Essential: true, Title: "session.ensure gives the same session_id for the same client and " +
			"another for another, with string ids and a default page", run: session},
		{ID: "open", Essential: true, Title: "page.open reaches a page, follows a redirect, and reports the final " +
			"url, the title and a page_id", run: open},
		{ID: "snapshot", Essential: true, Title: "page.snapshot reports text and a coherent tree: the format's name, " +
			"children that exist, unique refs, elements that are the actionable nodes", run: snapshot},
		{
			ID:        "click",
			Essential: true,
			Title:     "page.click clicks by element_ref, selector, text_query and position, and the page feels it",
			run:       click,
		},
		{
			ID:        "type",
			Essential: true,
			Title:     "page.type fills an input, by selector and by element_ref; replace and submit are honoured",
			run:       typeText,
		},
		{ID: "wait", Title: "page.wait sees a change that comes later, text and selector, present and absent, and a " +
			"timeout is satisfied false", run: wait},
		{
			ID:    "screenshot",
			Title: "page.screenshot gives an image that decodes, has the size it says and shows the page",
			run:   screenshot,
		},
		{ID: "close", Title: "session.close ends a session: later requests fail with session_not_found, and what " +
			"becomes of its pages is said", run: closeSession},

		{ID: "click-refused",
			Title: "page.click refuses: no target is invalid_request, a missing element " +
				"element_not_found, a hidden one element_not_actionable, a broken selector invalid_selector",
			run: clickRefused},
		{ID: "unknown-method", Title: "a method that is not there fails with unsupported_method", run: unknownMethod},
		{
			ID:    "unknown-ids",
			Title: "an unknown session fails with session_not_found, an unknown page with page_not_found",
			run:   unknownIDs,
		},
		{ID: "malformed", Title: "a line that is no request gets a failure, params of the wrong type " +
			"invalid_request, and the provider goes on", run: malformed},
		{
			ID:    "one-answer",
			Title: "requests sent at once are answered exactly once each, with the id they came with",
			run:   oneAnswer,
		},
		{
			ID:    "stale-ref",
			Title: "an element_ref of a replaced document fails with element_not_found",
			Claim: "element_refs",
			run:   staleRef,
		},
		{
			ID:    "repeat",
			Title: "the same requests give the same answers: description, page ids, refs and forms",
			run:   repeat,
		},
		{
			ID:    "isolation",
			Title: "two sessions with isolated contexts do not share cookies",
			Claim: "isolated_contexts",
			run:   isolation,
		},
		{ID: "claims", Title: "no optional method that is claimed answers unsupported_method", run: claims},

		{
			ID:    "history",
			Title: "page.go_back, page.go_forward and page.reload move through the history",
			Claim: "page.go_back",
			run:   history,
		},
		{ID: "press", Title: "page.press sends a key to an element", Claim: "page.press", run: press},
		{ID: "select", Title: "page.select chooses an option", Claim: "page.select", run: selectOption},
		{ID: "hover", Title: "page.hover moves the pointer onto an element", Claim: "page.hover", run: hover},
		{ID: "scroll", Title: "page.scroll moves the viewport", Claim: "page.scroll", run: scroll},
		{ID: "eval", Title: "page.eval gives values of every JSON type", Claim: "page.eval", run: eval},
		{
			ID:    "tabs",
			Title: "tab.list, tab.new, tab.activate and tab.close keep the list true",
			Claim: "tab.new",
			run:   tabs,
		},
		{ID: "console", Title: "console.list reports what the page logged", Claim: "console.list", run: console},
		{ID: "network", Title: "network.list reports the requests of the page", Claim: "network.list", run: network},
		{ID: "cookies", Title: "cookie.list reports the page's cookies", Claim: "cookie.list", run: cookies},
		{ID: "storage", Title: "storage.get reports the page's local storage", Claim: "storage.get", run: storage},
		{
			ID:    "full-page",
			Title: "page.screenshot with full_page shows more than the viewport",
			Claim: "full_page_screenshot",
			run:   fullPage,
		},
		{ID: "setup", Title: "provider.setup_guide and provider.verify answer", Claim: "provider.verify", run: setup},
	}
}
