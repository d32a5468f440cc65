package browser_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
)

// A page that holds its thread costs a call its own time and no more, whatever holds
// it; and the tab answers the next call.
func TestATabAnswersAfterACallRanOutOfItsTime(t *testing.T) {
	browsertest.Browser(t)
	origin := servePages(t)
	registry := catalog.Standard()
	for name, script := range map[string]string{
		"a loop":             `for(;;);`,
		"endless microtasks": `(function again(){Promise.resolve().then(again)})()`,
		"an expression":      `/^(a+)+$/.test("a".repeat(60)+"!")`,
		"endless text":       `let s="";for(;;)s=s.slice(0,10)+"x".repeat(9)`,
	} {
		t.Run(name, func(t *testing.T) {
			tab := browsertest.Tab(t)
			open(t, tab, origin+"/locator/patterns.html")
			invoke := func(d time.Duration, name, args string) (primitives.Result, time.Duration) {
				ctx, cancel := context.WithTimeout(t.Context(), d)
				defer cancel()
				began := time.Now()
				r := registry.Invoke(ctx, tab, name, json.RawMessage(args))
				return r, time.Since(began)
			}
			start, _ := json.Marshal(map[string]string{"source": "setTimeout(()=>{" + script + "},0)"})
			if r, _ := invoke(20*time.Second, "debug.run_javascript", string(start)); r.Err != nil {
				t.Fatal(r.Err)
			}
			var r primitives.Result
			var took time.Duration
			for n := 0; r.Err == nil; n++ { // until the timer has come
				if n == 100 {
					t.Fatal("the page does not block its thread")
				}
				r, took = invoke(30*time.Second, "locator.wait_for", `{"locator":{"selector":"li"},"timeout_ms":1500}`)
			}
			if fault.CodeOf(r.Err) != fault.PageUnresponsive {
				t.Fatalf("the call ended with %v %s", r.Err, r.Payload)
			}
			if took > 10*time.Second { // far from the call's own 30 s, whatever the machine does
				t.Errorf("a call with timeout_ms 1500 took %s", took)
			}
			if r, took := invoke(10*time.Second, "page.info", `{}`); r.Err != nil {
				t.Errorf("the tab does not answer after that: %v (%s)", r.Err, took)
			}
		})
	}
}

// A thread that is blocked for a moment is left alone: the script of the page continues.
func TestAShortHoldIsLeftAlone(t *testing.T) {
	tab := browsertest.Tab(t)
	open(t, tab, servePages(t)+"/locator/patterns.html")
	ctx := within(t, 30*time.Second)
	if _, err := tab.Evaluate(
		ctx,
		`setTimeout(()=>{const end=performance.now()+600;while(performance.now()<end);document.title="went on"},0)`,
	); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	_ = tab.Call(short, "", "page_info", nil, nil)
	r := catalog.Standard().Invoke(
		ctx, tab, "page.wait",
		json.RawMessage(`{"conditions":[{"locator":{"selector":"title"},"state":"attached"}],"timeout_ms":5000}`),
	)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	title, err := tab.Evaluate(ctx, `new Promise((resolve)=>setTimeout(()=>resolve(document.title),0))`)
	if err != nil || string(title) != `"went on"` {
		t.Errorf("the script of the page was ended: %s %v", title, err)
	}
}

// answeredBeside answers a call once its page is being probed.
type answeredBeside struct {
	primitives.Page
	probing chan struct{}
}

func (p answeredBeside) Call(ctx context.Context, frame primitives.FrameID, fn string, args, out any) error {
	if fn == "answered" {
		<-p.probing
		primitives.Pause(ctx, 300*time.Millisecond) // the probe is on its way, and the page answers nothing
		return nil
	}
	close(p.probing)
	return p.Page.Call(ctx, frame, fn, args, out)
}

// A call that was answered while its page was probed says that no script is in the way. What a script of the page,
// such as the handler of a click that was sent meanwhile, does after that is not ended, however long it takes.
func TestAProbeOfAnAnsweredCallEndsNoScript(t *testing.T) {
	tab := browsertest.Tab(t)
	open(t, tab, servePages(t)+"/locator/patterns.html")
	ctx := within(t, time.Minute)
	if err := tab.Call(ctx, "", "page_info", nil, nil); err != nil { // the library is there
		t.Fatal(err)
	}
	blocking := `{const end=performance.now()+4000;while(performance.now()<end);document.title="went on"}`
	tab.PostEval(blocking)
	p := answeredBeside{tab, make(chan struct{})}
	if err := primitives.CallWithin(ctx, p, "", "answered", nil, nil, time.Second); err != nil {
		t.Fatal(err)
	}
	title, err := tab.Evaluate(ctx, "document.title")
	if err != nil || string(title) != `"went on"` {
		t.Errorf("the page's script came to %s, %v", title, err)
	}
}
