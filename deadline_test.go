package outrider_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
)

// The deadline of the context is the deadline of the call, whatever it waits for.
func TestDeadlinesOfLocators(t *testing.T) {
	tab := locatorTab(t, `<button disabled>Off</button>`)
	none := tab.ByRole("button", "None")
	for name, c := range map[string]struct {
		call  func(context.Context) error
		waits string // a part of what the error says of what was waited for
	}{
		"text":  {func(ctx context.Context) error { _, err := none.Text(ctx); return err }, `"name":"None"`},
		"click": {none.Click, `"name":"None"`},
		"off":   {tab.ByRole("button", "Off").Click, `"name":"Off"`},
		"fill":  {func(ctx context.Context) error { return none.Fill(ctx, "x") }, `"name":"None"`},
		"wait":  {func(ctx context.Context) error { return none.Wait(ctx, "visible") }, `"name":"None"`},
		"url":   {func(ctx context.Context) error { return tab.WaitURL(ctx, "/none") }, `/none`},
		"script": {func(ctx context.Context) error {
			_, err := outrider.Evaluate[int](ctx, tab, "new Promise(() => {})")
			return err
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
			defer cancel()
			err := c.call(ctx)
			deadline, _ := ctx.Deadline()
			t.Logf("%v after the deadline: %v", time.Since(deadline).Round(time.Millisecond), err)
			var e *outrider.Error
			if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &e) || e.Code == "" {
				t.Fatalf("the error is %v", err)
			}
			if said, err := json.Marshal(e.Evidence); err != nil || !strings.Contains(string(said), c.waits) {
				t.Errorf("the evidence lacks %s: %s, %v", c.waits, said, err)
			}
		})
	}
}

// counted is a page that counts what is done to it.
const counted = `<body onload="window.acts = 0;
	for (const name of ['mousedown', 'mouseup', 'click', 'keydown', 'keyup', 'input', 'change', 'focusin', 'scroll'])
		addEventListener(name, () => acts++, true)">
<button>Count</button><input aria-label=In><textarea aria-label=Long></textarea>
<select aria-label=Size><option>S<option>M<option>L</select><input type=checkbox aria-label=Gift>
<div contenteditable aria-label=Note role=textbox>x</div>
<p style="height: 3000px">Far</p><button disabled>Off</button>`

// randomly runs calls whose contexts are cancelled at random moments. It returns how late after that each came back.
func randomly(t *testing.T, calls int) (late []time.Duration) {
	t.Helper()
	tab := locatorTab(t, counted)
	page, err := tab.OpenCDP(t.Context()) // its commands do not wait for the calls of the tab
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	acts := func(expression string) (n int) {
		t.Helper()
		var answer struct {
			Result struct {
				Value int `json:"value"`
			} `json:"result"`
		}
		err := page.Call(t.Context(), "Runtime.evaluate", map[string]any{
			"expression": expression, "awaitPromise": true, "returnByValue": true,
		}, &answer)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Result.Value
	}
	button, input := tab.ByRole("button", "Count"), tab.ByLabel("In")
	none := tab.ByRole("button", "None")
	size := tab.ByLabel("Size")
	kinds := []struct {
		name string
		call func(context.Context) error
		ends bool // without a cancel it succeeds
	}{
		{"click", button.Click, true},
		{"fill", func(ctx context.Context) error { return input.Fill(ctx, "text") }, true},
		{"text", func(ctx context.Context) error { _, err := button.Text(ctx); return err }, true},
		{"none", func(ctx context.Context) error { _, err := none.Text(ctx); return err }, false},
		{"type", func(ctx context.Context) error { return tab.ByLabel("Long").Type(ctx, "ab") }, true},
		{"press", func(ctx context.Context) error { return input.Press(ctx, "End") }, true},
		{"select", func(ctx context.Context) error { return size.Select(ctx, "L") }, true},
		{"editor", func(ctx context.Context) error { return tab.ByLabel("Note").Fill(ctx, "a note") }, true},
		{"check", tab.ByLabel("Gift").Check, true},
		{"hover", button.Hover, true},
		{"double", button.DoubleClick, true},
		{"off", tab.ByRole("button", "Off").Click, false},
		{"late", func(ctx context.Context) error { return tab.ByRole("textbox", "None").Fill(ctx, "x") }, false},
	}
	const quiet = "new Promise(done => setTimeout(() => requestAnimationFrame(() => done(acts)), 40))"
	for i := range calls {
		kind := kinds[i%len(kinds)]
		ctx, cancel := context.WithCancel(t.Context())
		moment := make(chan time.Time, 1)
		timer := time.AfterFunc(rand.N(12*time.Millisecond), func() { moment <- time.Now(); cancel() })
		err := kind.call(ctx)
		back := time.Now()
		before := acts("acts")
		cancelled := !timer.Stop()
		cancel()
		switch {
		case cancelled && err != nil:
			late = append(late, back.Sub(<-moment))
			if last := late[len(late)-1]; last > 50*time.Millisecond {
				t.Logf("call %d, %s, came back after %v: %v", i, kind.name, last.Round(time.Millisecond), err)
			}
			if !errors.Is(err, context.Canceled) || !errors.Is(err, outrider.Code("cancelled")) {
				t.Errorf("call %d, %s: %v", i, kind.name, err)
			}
		case err != nil:
			t.Errorf("call %d, %s, was not cancelled: %v", i, kind.name, err)
		}
		if after := acts(quiet); err != nil && after != before {
			t.Errorf("call %d, %s: %d acts, then %d", i, kind.name, before, after)
		}
	}
	for _, kind := range kinds {
		if !kind.ends {
			continue
		}
		if err := kind.call(t.Context()); err != nil {
			t.Errorf("%s, after all: %v", kind.name, err)
		}
	}
	return late
}

// What is cancelled says so, the tab works on, and nothing acts after the return.
func TestCancelledAtRandom(t *testing.T) { randomly(t, 65) }

// TestCancelledAtRandomLong says how long after their cancel calls return.
func TestCancelledAtRandomLong(t *testing.T) {
	browsertest.OnlyLong(t)
	late := randomly(t, 2000)
	slices.Sort(late)
	over := len(late) - func() int { i, _ := slices.BinarySearch(late, 50*time.Millisecond); return i }()
	at := func(q float64) time.Duration { return late[int(q*float64(len(late)-1))].Round(10 * time.Microsecond) }
	t.Logf("%d were cancelled: median %v, 99 %% %v, 99.9 %% %v, last %v; %d later than 50 ms",
		len(late), at(0.5), at(0.99), at(0.999), at(1), over)
}

// A context that has a deadline and is cancelled before it ends its call then.
func TestCancelledBeforeItsDeadline(t *testing.T) {
	tab := locatorTab(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	time.AfterFunc(300*time.Millisecond, cancel)
	began := time.Now()
	_, err := tab.ByRole("button", "None").Text(ctx)
	if !errors.Is(err, context.Canceled) || time.Since(began) > 10*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}
