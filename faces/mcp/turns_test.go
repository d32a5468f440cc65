package mcp

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// is one call of a case: the page that it names, "" for the active one.
type call struct {
	scope string
	page  string
	found string
	reads bool
	tabs  bool
}

func (c call) run(ctx context.Context, at *callTurn) error {
	if c.tabs {
		return at.Tabs(ctx, c.scope, c.page)
	}
	if err := at.Page(ctx, c.scope, c.page, c.reads); err != nil || c.page != "" {
		return err
	}
	return at.Found(ctx, c.found)
}

func TestWhichCallsWait(t *testing.T) {
	for name, c := range map[string]struct {
		first  call
		second call
		waits  bool
	}{
		"one page":                      {call{page: "p1"}, call{page: "p1"}, true},
		"one page, read":                {call{page: "p1", reads: true}, call{page: "p1"}, true},
		"two pages":                     {call{page: "p1"}, call{page: "p2"}, false},
		"two sessions":                  {call{scope: "a", page: "a/p1"}, call{scope: "b"}, false},
		"no page after one that acts":   {call{page: "p1"}, call{found: "p2"}, true},
		"no page after one that reads":  {call{page: "p1", reads: true}, call{found: "p2"}, false},
		"the active page, which reads":  {call{page: "p1", reads: true}, call{found: "p1"}, true},
		"no page twice":                 {call{found: "p1"}, call{found: "p1"}, true},
		"a page after the active one":   {call{found: "p1"}, call{page: "p2"}, false},
		"no page after a page is there": {call{tabs: true}, call{found: "p1"}, true},
		"a page after tabs":             {call{tabs: true}, call{page: "p1"}, false},
		"tabs after a page":             {call{page: "p1"}, call{tabs: true}, false},
		"tabs after the active page":    {call{found: "p1"}, call{tabs: true}, false},
		"a tab after tabs":              {call{tabs: true}, call{tabs: true, page: "p1"}, true},
		"tabs after tabs":               {call{tabs: true}, call{tabs: true}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			var all callTurns
			first := all.Take()
			second := all.Take()
			done := make(chan error, 1)
			go func() { done <- c.second.run(t.Context(), second) }()
			synctest.Wait()
			select {
			case <-done:
				t.Fatalf("%s: the second passed a call of which nothing is known", name)
			default:
			}
			if err := c.first.run(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			select {
			case err := <-done:
				if c.waits || err != nil {
					t.Errorf("%s: the second did not wait: %v", name, err)
				}
				done <- nil
			default:
				if !c.waits {
					t.Errorf("%s: the second waits", name)
				}
			}
			first.End()
			first.End()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// A call that changes which page is active comes after those that still have to find out which it is.
func TestTabsWaitForWhoGoesByTheActivePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all callTurns
		busy := all.Take()
		looking := all.Take()
		opening := all.Take()
		closing := all.Take()
		if err := busy.Page(t.Context(), "", "p1", false); err != nil {
			t.Fatal(err)
		}
		found := make(chan error, 1)
		go func() { found <- call{found: "p1"}.run(t.Context(), looking) }()
		opened := make(chan error, 1)
		go func() { opened <- call{tabs: true}.run(t.Context(), opening) }()
		synctest.Wait()
		select {
		case <-opened:
			t.Error("a page is opened before the active one was found")
		default:
		}
		busy.End()
		if err := <-found; err != nil {
			t.Error(err)
		}
		if err := <-opened; err != nil {
			t.Error(err)
		}
		opening.End()
		if err := (call{tabs: true, page: "p1"}).run(t.Context(), closing); err != nil {
			t.Error(err)
		}
	})
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	var all callTurns
	all.Take()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the client has gone")
	cancel(why)
	if err := all.Take().Page(ctx, "", "p1", false); !errors.Is(err, why) {
		t.Errorf("ended with %v", err)
	}
}
