package browser_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/fault"
)

// What a page may have in the way of functions, and what of it a map may name.
const pageFunctions = `
  window.top1 = (a) => ({got: a, n: a.n + 1});
  window.app = {
    name: "app", count: 0,
    save(a) { this.count += a.n; return {count: this.count}; },
    later: async (a) => { await new Promise((r) => setTimeout(r, 20)); return a.n * 2; },
    boom() { throw new Error("no such card"); },
    refuse: () => Promise.reject("not now"),
    nothing() {},
    node: () => document,
    circle() { const o = {}; o.o = o; return o; },
    huge: () => "x".repeat(2 << 20),
    endless() { for (;;); },
    never: () => new Promise(() => {}),
    get shy() { window.peeked = true; return () => 1; },
    self: window, fetch: 5,
  };
  class Model { run() { return 1; } }
  window.model = new Model();
  globalThis.globalThis = {};
  JSON.stringify = ((f) => (v) => f(v))(JSON.stringify);
`

func TestPageFunction(t *testing.T) {
	tab := browsertest.Tab(t)
	if _, err := tab.Evaluate(within(t, 10*time.Second), "(() => {"+pageFunctions+"})()"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path, want string
		code             fault.Code
		reason           string
	}{
		{name: "a function of the page", path: "top1", want: `{"got":{"n":2},"n":3}`},
		{name: "a method, with its object", path: "app.save", want: `{"count":2}`},
		{name: "a promise is awaited", path: "app.later", want: `4`},
		{name: "no result is null", path: "app.nothing", want: `null`},
		{name: "an exception", path: "app.boom", code: fault.HandlerFailed, reason: "threw"},
		{name: "a rejection", path: "app.refuse", code: fault.HandlerFailed, reason: "threw"},
		{name: "a result that is not JSON", path: "app.circle", code: fault.HandlerFailed, reason: "not_json"},
		{name: "a result that is too large", path: "app.huge", code: fault.PayloadTooLarge},
		{name: "not there", path: "app.load", code: fault.MissingHandler, reason: "not_an_own_property"},
		{name: "no such global", path: "shop.load", code: fault.MissingHandler, reason: "not_an_own_property"},
		{name: "not a function", path: "app.name", code: fault.MissingHandler, reason: "not_a_function"},
		{name: "below what is no object", path: "app.name.length", code: fault.MissingHandler, reason: "not_an_object"},
		{name: "an accessor is not run", path: "app.shy", code: fault.MissingHandler, reason: "accessor"},
		{name: "inherited", path: "model.run", code: fault.MissingHandler, reason: "not_an_own_property"},
		{
			name:   "inherited from Object",
			path:   "app.toString",
			code:   fault.MissingHandler,
			reason: "not_an_own_property",
		},
		{name: "the platform's eval", path: "eval", code: fault.MissingHandler, reason: "platform_function"},
		{name: "the platform's fetch", path: "fetch", code: fault.MissingHandler, reason: "platform_function"},
		{name: "below a platform object", path: "JSON.parse", code: fault.MissingHandler, reason: "platform_function"},
		{name: "through the window", path: "window.eval", code: fault.MissingHandler, reason: "platform_function"},
		{
			name:   "through another name of the window",
			path:   "app.self.eval",
			code:   fault.MissingHandler,
			reason: "global_object",
		},
		{name: "the constructor", path: "app.constructor", code: fault.MissingHandler, reason: "forbidden_name"},
		{
			name:   "source text is a name like any other",
			path:   "alert(1)//",
			code:   fault.MissingHandler,
			reason: "not_an_own_property",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := tab.PageFunction(
				within(t, 10*time.Second), strings.Split(c.path, "."), json.RawMessage(`{"n":2}`),
			)
			if fault.CodeOf(err) != c.code && (c.code != "" || err != nil) {
				t.Fatalf("%s gave %s, %v; want code %q", c.path, got, err, c.code)
			}
			if err != nil {
				if reason := fault.From(err).Evidence["reason"]; c.reason != "" && reason != c.reason {
					t.Errorf("%s: reason %v, want %s", c.path, reason, c.reason)
				}
				return
			}
			if string(got) != c.want {
				t.Errorf("%s gave %s, want %s", c.path, got, c.want)
			}
		})
	}
	if v, err := tab.Evaluate(
		within(t, 10*time.Second), "window.peeked === undefined && app.count === 2",
	); err != nil || string(v) != "true" {
		t.Errorf("an accessor ran, or a function more than once: %s, %v", v, err)
	}
}

// A function that does not end in time ends with its call, so that the page can
// be used again; one that only waits is left alone.
func TestPageFunctionEndsInTime(t *testing.T) {
	tab := browsertest.Tab(t)
	if _, err := tab.Evaluate(within(t, 10*time.Second), "(() => {"+pageFunctions+"})()"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"endless", "never"} {
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
		_, err := tab.PageFunction(ctx, []string{"app", name}, json.RawMessage(`{}`))
		cancel()
		if fault.CodeOf(err) != fault.HandlerTimeout {
			t.Errorf("app.%s gave %v, want handler_timeout", name, err)
		}
		v, err := tab.PageFunction(within(t, 10*time.Second), []string{"top1"}, json.RawMessage(`{"n":1}`))
		if err != nil || string(v) != `{"got":{"n":1},"n":2}` {
			t.Errorf("after app.%s the page answers %s, %v", name, v, err)
		}
	}
}
