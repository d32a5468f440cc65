package providerkit

import (
	"strings"
	"time"
)

func clickRefused(r *run) {
	s, _ := r.opened()
	click := func(target object, codes ...string) {
		target["session_id"], target["timeout_ms"] = s, 500
		r.refused("page.click", target, codes...)
	}
	click(object{}, "invalid_request")
	click(object{"selector": "#missing"}, "element_not_found")
	click(object{"text_query": "No such words on the page"}, "element_not_found")
	click(object{"selector": "#hidden"}, "element_not_actionable")
	click(object{"selector": "#disabled"}, "element_not_actionable")
	click(object{"selector": "##"}, "invalid_selector")
	if n := r.site.happened(r.visit, "hidden", 50*time.Millisecond); n > 0 {
		r.wrong("a hidden element was clicked")
	}
}

func unknownMethod(r *run) {
	r.refused("page.no_such_method", object{}, "unsupported_method")
	r.refused("nonsense", object{}, "unsupported_method")
}

func unknownIDs(r *run) {
	r.refused("page.snapshot", object{"session_id": "no-such-session"}, "session_not_found")
	s := r.session("")
	r.refused("page.snapshot", object{"session_id": s, "page_id": "no-such-page"}, "page_not_found")
	r.refused("page.snapshot", object{}, "invalid_request")
}

func malformed(r *run) {
	for _, line := range []string{
		`this is not json`, `{"id":"x"`, `[1,2,3]`, `{"method":"provider.describe","params":{}}`,
	} {
		for len(r.peer.nobody) > 0 {
			<-r.peer.nobody
		}
		if err := r.peer.raw(line); err != nil {
			r.fail("the provider ended")
		}
		timer := time.NewTimer(r.opts.CallLimit)
		select {
		case a := <-r.peer.nobody:
			timer.Stop()
			if a.OK == nil || *a.OK || a.Error == nil || a.Error.Code != "invalid_request" {
				r.wrong("a line that is no request did not get a failure with invalid_request")
			}
		case <-r.peer.ended:
			timer.Stop()
			r.fail("the provider ended on a line that is no request")
		case <-timer.C:
			r.fail("a line that is no request got no answer")
		}
	}
	r.refused("session.ensure", object{"client_session_id": []int{1}}, "invalid_request")
	r.call("provider.describe", object{"unknown_member": true})
}

func oneAnswer(r *run) {
	s, page := r.opened()
	const many = 24
	type sent struct {
		method string
		came   <-chan answer
	}
	var all []sent
	for i := range many {
		method, params := "provider.status", object{}
		switch i % 3 {
		case 1:
			method, params = "page.snapshot", object{"session_id": s, "page_id": page}
		case 2:
			method, params = "page.no_such_method", object{}
		}
		_, came, err := r.peer.send(method, params)
		if err != nil {
			r.fail("the provider ended")
		}
		all = append(all, sent{method, came})
	}
	for _, one := range all {
		a, err := r.peer.await(r.ctx, r.opts.CallLimit, one.method, one.came)
		if err != nil {
			r.fail("%v", err)
		}
		r.checkForm(one.method, a)
		if *a.OK != (one.method != "page.no_such_method") {
			r.wrong("%s, sent with others, was answered with ok %t", one.method, *a.OK)
		}
	}
	// A second answer would come before the answer to this one.
	r.call("provider.describe", object{})
}

func staleRef(r *run) {
	s, _ := r.opened()
	ref := r.ref(s, "button", "Activate me")
	r.call("page.open", object{"session_id": s, "url": r.site.URL + "/second"})
	r.refused("page.click", object{"session_id": s, "element_ref": ref, "timeout_ms": 500}, "element_not_found")
}

func isolation(r *run) {
	a, b := r.session("a"), r.session("b")
	visit := func(session, query string) string {
		r.call("page.open", object{"session_id": session, "url": r.site.URL + "/who" + query})
		return r.pageText(session)
	}
	visit(a, "?set")
	if text := visit(a, ""); !strings.Contains(text, "visitor known") {
		r.wrong("a session does not keep its own cookies")
	}
	if text := visit(b, ""); !strings.Contains(text, "visitor nobody") {
		r.wrong("a session has the cookies of another")
	}
}

func claims(r *run) {
	capabilities, _ := r.description["capabilities"].(map[string]any)
	for _, method := range names(capabilities["optional_methods"]) {
		if strings.HasPrefix(method, "provider.") {
			continue // run by the scenario setup
		}
		a := r.ask(method, object{"session_id": "no-such-session"})
		if !*a.OK && a.Error.Code == "unsupported_method" {
			r.wrong("%s is claimed and answers unsupported_method", method)
		}
	}
}
