package tools

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// turnCall is one call of a case: the page that it names, "" for the active one.
type turnCall struct {
	scope string
	page  string
	found string
	reads bool
	tabs  bool
}

func (c turnCall) run(ctx context.Context, at *Turn) error {
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
		first  turnCall
		second turnCall
		waits  bool
	}{
		"one page":                      {turnCall{page: "p1"}, turnCall{page: "p1"}, true},
		"one page, read":                {turnCall{page: "p1", reads: true}, turnCall{page: "p1"}, true},
		"two pages":                     {turnCall{page: "p1"}, turnCall{page: "p2"}, false},
		"two sessions":                  {turnCall{scope: "a", page: "a/p1"}, turnCall{scope: "b"}, false},
		"no page after one that acts":   {turnCall{page: "p1"}, turnCall{found: "p2"}, true},
		"no page after one that reads":  {turnCall{page: "p1", reads: true}, turnCall{found: "p2"}, false},
		"the active page, which reads":  {turnCall{page: "p1", reads: true}, turnCall{found: "p1"}, true},
		"no page twice":                 {turnCall{found: "p1"}, turnCall{found: "p1"}, true},
		"a page after the active one":   {turnCall{found: "p1"}, turnCall{page: "p2"}, false},
		"no page after a page is there": {turnCall{tabs: true}, turnCall{found: "p1"}, true},
		"a page after tabs":             {turnCall{tabs: true}, turnCall{page: "p1"}, false},
		"tabs after a page":             {turnCall{page: "p1"}, turnCall{tabs: true}, false},
		"tabs after the active page":    {turnCall{found: "p1"}, turnCall{tabs: true}, false},
		"a tab after tabs":              {turnCall{tabs: true}, turnCall{tabs: true, page: "p1"}, true},
		"tabs after tabs":               {turnCall{tabs: true}, turnCall{tabs: true}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			var all turns
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
		var all turns
		busy := all.Take()
		looking := all.Take()
		opening := all.Take()
		closing := all.Take()
		if err := busy.Page(t.Context(), "", "p1", false); err != nil {
			t.Fatal(err)
		}
		found := make(chan error, 1)
		go func() { found <- turnCall{found: "p1"}.run(t.Context(), looking) }()
		opened := make(chan error, 1)
		go func() { opened <- turnCall{tabs: true}.run(t.Context(), opening) }()
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
		if err := (turnCall{tabs: true, page: "p1"}).run(t.Context(), closing); err != nil {
			t.Error(err)
		}
	})
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	var all turns
	all.Take()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the client has gone")
	cancel(why)
	if err := all.Take().Page(ctx, "", "p1", false); !errors.Is(err, why) {
		t.Errorf("ended with %v", err)
	}
}
