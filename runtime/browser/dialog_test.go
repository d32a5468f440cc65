package browser_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

func awaitDialog(t *testing.T, tab *browser.Tab) primitives.Dialog {
	t.Helper()
	var d primitives.Dialog
	eventually(t, 5*time.Second, "a dialog", func() (ok bool) {
		d, ok = tab.Dialog()
		return ok
	})
	return d
}

func TestDialogBlocksThePage(t *testing.T) {
	tab := browsertest.Tab(t)
	s := newSite(t, map[string]string{"/": `<body style="margin:0"><button style="width:100px;` +
		`height:100px" onclick="r=prompt('` + strings.Repeat("é", 500) + `','dflt')">x</button>`})
	open(t, tab, s.origin+"/")
	ctx := within(t, 20*time.Second)

	start := time.Now()
	if err := tab.Mouse(ctx, clickEvents(50, 50)...); err != nil {
		t.Fatalf("a click that opens a dialog: %v", err)
	}
	d := awaitDialog(t, tab)
	if d.Type != "prompt" || d.DefaultPrompt != "dflt" || !strings.HasPrefix(d.Message, "éé") ||
		!strings.HasPrefix(d.URL, s.origin) || d.OpenedAt.Before(start) {
		t.Errorf("got %+v", d)
	}

	start = time.Now()
	for name, err := range map[string]error{
		"call":    tab.Call(ctx, "", "page_info", nil, nil),
		"mouse":   tab.Mouse(ctx, clickEvents(50, 50)...),
		"keys":    tab.Keys(ctx, primitives.KeyEvent{Type: primitives.KeyDown, Key: "a", Text: "a"}),
		"text":    tab.InsertText(ctx, "x"),
		"capture": func() error { _, err := tab.Capture(ctx, primitives.CaptureOptions{Format: "png"}); return err }(),
		"navigate": func() error {
			_, err := tab.Navigate(ctx, primitives.NavigateOptions{URL: s.origin})
			return err
		}(),
	} {
		if !errors.Is(err, fault.DialogOpen) {
			t.Errorf("%s while a dialog is open: got %v, want dialog_open", name, err)
			continue
		}
		f := fault.From(err)
		if m, _ := f.Evidence["message"].(string); f.Evidence["type"] != "prompt" || len([]rune(m)) != 203 {
			t.Errorf("%s: evidence %v", name, f.Evidence)
		}
		if strings.Contains(f.Message, "é") {
			t.Errorf("%s: the page's text is in the message", name)
		}
	}
	if d := time.Since(start); d > patience/3 {
		t.Errorf("calls under a dialog took %v, want them to fail at once", d)
	}

	answered, err := tab.AnswerDialog(ctx, true, `an "answer"`)
	if err != nil || answered.Type != "prompt" {
		t.Fatalf("answering: %+v %v", answered, err)
	}
	if got, err := tab.Eval(ctx, "", "r"); got != `an "answer"` {
		t.Errorf("the page got %s, %v", got, err)
	}
	_, err = tab.AnswerDialog(ctx, true, "")
	wantCode(t, err, fault.NoDialog)
}

func TestDialogEndsCallsInFlight(t *testing.T) {
	tab := browsertest.Tab(t)
	s := newSite(t, map[string]string{"/": `<iframe src="{{OTHER}}/in"></iframe>`, "/in": `in`})
	open(t, tab, s.origin+"/")
	ctx := within(t, 20*time.Second)
	for _, c := range []struct{ name, code, kind string }{
		{"alert", `alert('a')`, "alert"},
		{"confirm", `confirm('a')`, "confirm"},
	} {
		ended := make(chan error, 1)
		go func() { ended <- tab.Hang(ctx, "") }()
		awaitHang(t, tab)
		tab.PostEval(c.code)
		select {
		case err := <-ended:
			wantCode(t, err, fault.DialogOpen)
		case <-time.After(patience / 2):
			t.Fatalf("%s: the call is still waiting", c.name)
		}
		if d := awaitDialog(t, tab); d.Type != c.kind {
			t.Errorf("got %s, want %s", d.Type, c.kind)
		}
		if _, err := tab.AnswerDialog(ctx, false, ""); err != nil {
			t.Fatal(err)
		}
	}

	// A dialog of a frame in another process blocks the page too.
	tab.PostEvalIn(tab.Frames()[1].ID, `answer=confirm('from a frame')`)
	if d := awaitDialog(t, tab); d.Type != "confirm" || !strings.HasPrefix(d.URL, s.other) {
		t.Errorf("got %+v", d)
	}
	wantCode(t, tab.Call(ctx, "", "page_info", nil, nil), fault.DialogOpen)
	if _, err := tab.AnswerDialog(ctx, true, ""); err != nil {
		t.Fatal(err)
	}
	if got, _ := tab.Eval(ctx, tab.Frames()[1].ID, "answer"); got != "true" {
		t.Errorf("the frame got %s", got)
	}
}

// Chromium crashes when a tab is closed under a dialog of a frame in another
// process; see page.Page.Dismissal.
func TestClosingUnderADialog(t *testing.T) {
	s := newSite(t, map[string]string{"/": `<iframe src="{{OTHER}}/in"></iframe>`, "/in": `in`})
	b := browsertest.Browser(t)
	for _, frame := range []int{0, 1} {
		tab := browsertest.Tab(t)
		open(t, tab, s.origin+"/")
		tab.PostEvalIn(tab.Frames()[frame].ID, `for(;;)alert(1)`)
		awaitDialog(t, tab)
		if frame == 0 {
			if err := tab.Close(within(t, 20*time.Second)); err != nil {
				t.Error(err)
			}
		} else if err := b.DisposeContext(within(t, 20*time.Second), tab.Context()); err != nil {
			t.Error(err)
		}
		select {
		case <-tab.Done():
		case <-b.Done():
			t.Fatal("the browser crashed")
		case <-time.After(patience):
			t.Fatal("the tab is still there")
		}
		if _, err := b.NewContext(within(t, 20*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDialogsOneAfterTheOther(t *testing.T) {
	tab := browsertest.Tab(t)
	ctx := within(t, 20*time.Second)
	tab.PostEval(`setTimeout(()=>{a=confirm('1');b=prompt('2');alert('3');done=a+'|'+b})`)
	for i, want := range []string{"confirm", "prompt", "alert"} {
		eventually(t, 5*time.Second, want, func() bool {
			d, ok := tab.Dialog()
			return ok && d.Type == want
		})
		if _, err := tab.AnswerDialog(ctx, i != 1, ""); err != nil {
			t.Fatalf("answering %s: %v", want, err)
		}
	}
	if got, _ := tab.Eval(ctx, "", "done"); got != "true|null" {
		t.Errorf("got %s", got)
	}
}

func TestDialogBeforeUnload(t *testing.T) {
	tab := browsertest.Tab(t)
	s := newSite(t, map[string]string{
		"/": `<body style="margin:0"><button style="width:100px;height:100px">x</button>` +
			`<script>onbeforeunload=e=>e.preventDefault()</script>`,
		"/next": `<title>next</title>`,
	})
	open(t, tab, s.origin+"/")
	ctx := within(t, 20*time.Second)
	click(t, tab, 50, 50) // the dialog needs a gesture
	_, err := tab.Navigate(ctx, primitives.NavigateOptions{URL: s.origin + "/next"})
	wantCode(t, err, fault.DialogOpen)
	if d := awaitDialog(t, tab); d.Type != "beforeunload" {
		t.Fatalf("got %+v", d)
	}
	if _, err := tab.AnswerDialog(ctx, false, ""); err != nil {
		t.Fatal(err)
	}
	var out struct{ URL string }
	if err := tab.Call(ctx, "", "page_info", nil, &out); err != nil || out.URL != s.origin+"/" {
		t.Errorf("after refusing: %q %v", out.URL, err)
	}
	_, err = tab.Navigate(ctx, primitives.NavigateOptions{Reload: true})
	wantCode(t, err, fault.DialogOpen)
	if _, err := tab.AnswerDialog(ctx, true, ""); err != nil {
		t.Fatal(err)
	}
	if err := tab.Call(ctx, "", "page_info", nil, &out); err != nil && !errors.Is(err, fault.PageNavigated) {
		t.Errorf("after accepting: %v", err)
	}
	eventually(t, 5*time.Second, "the reloaded document", func() bool {
		got, _ := tab.Eval(ctx, "", "document.readyState")
		return got == "complete"
	})
	click(t, tab, 50, 50)
	if err := tab.Close(ctx); err != nil {
		t.Errorf("closing a tab that asks first: %v", err)
	}
}

// A navigation right after a page may be left goes where it is to go, also while the one
// that asked is still on its way.
func TestNavigatingAfterBeforeUnload(t *testing.T) {
	page := `<body style="margin:0"><button style="width:100px;height:100px">x</button>` +
		`<script>onbeforeunload=e=>e.preventDefault()</script>`
	tab := browsertest.Tab(t)
	s := newSite(t, map[string]string{"/": page, "/next": `<title>next</title>`, "/other": `<title>other</title>`})
	for _, to := range []string{"/next", "/other"} {
		open(t, tab, s.origin+"/")
		ctx := within(t, 20*time.Second)
		click(t, tab, 50, 50) // the dialog needs a gesture
		_, err := tab.Navigate(ctx, primitives.NavigateOptions{URL: s.origin + "/next"})
		wantCode(t, err, fault.DialogOpen)
		if _, err := tab.AnswerDialog(ctx, true, ""); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		nav, err := tab.Navigate(ctx, primitives.NavigateOptions{URL: s.origin + to})
		if err != nil || nav.URL != s.origin+to || !nav.Loaded {
			t.Errorf("to %s: %+v, %v after %v", to, nav, err, time.Since(start))
		}
	}
}

func TestNavigatingIntoADialog(t *testing.T) {
	tab := browsertest.Tab(t)
	s := newSite(t, map[string]string{"/": `<title>t</title><script>alert(1)</script>late`})
	start := time.Now()
	nav, err := tab.Navigate(
		within(t, 10*time.Second), primitives.NavigateOptions{URL: s.origin + "/", LoadTimeout: patience},
	)
	if err != nil || !nav.Replaced || nav.Loaded || nav.URL != s.origin+"/" {
		t.Errorf("got %+v, %v", nav, err)
	}
	if d := time.Since(start); d > patience/2 {
		t.Errorf("took %v", d)
	}
	if _, err := tab.AnswerDialog(context.Background(), true, ""); err != nil {
		t.Fatal(err)
	}
	if err := tab.Call(within(t, 20*time.Second), "", "page_info", nil, nil); err != nil {
		t.Error(err)
	}
}
