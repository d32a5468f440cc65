package browser_test

import (
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/browsertest"
)

// The browser drops input while a dialog is open: a key that opens one is released
// when it has closed, and once only where the release came in time.
func TestAKeyIsReleasedBehindItsDialog(t *testing.T) {
	for _, c := range []struct {
		name string
		late bool // the release comes when the dialog is open
	}{{"release dropped", true}, {"release in time", false}} {
		t.Run(c.name, func(t *testing.T) {
			tab := browsertest.Tab(t)
			s := newSite(t, map[string]string{"/": `<button id=b onclick="alert('a')">x</button>
<script>var log=[];for(const n of ['keydown','keyup'])addEventListener(n,e=>log.push(n));b.focus()</script>`})
			open(t, tab, s.origin+"/")
			ctx := within(t, 30*time.Second)
			down := primitives.KeyEvent{Type: primitives.KeyDown, Key: "Enter", Code: "Enter", KeyCode: 13, Text: "\r"}
			up := primitives.KeyEvent{Type: primitives.KeyUp, Key: "Enter", Code: "Enter", KeyCode: 13}
			if !c.late {
				if err := tab.Keys(ctx, down, up); err != nil {
					t.Fatal(err)
				}
			} else {
				if err := tab.Keys(ctx, down); err != nil {
					t.Fatal(err)
				}
				if err := tab.ReleaseBlindly(ctx, up); err != nil {
					t.Fatal(err)
				}
			}
			if _, ok := tab.Dialog(); !ok {
				t.Fatal("no dialog is open")
			}
			if _, err := tab.AnswerDialog(ctx, true, ""); err != nil {
				t.Fatal(err)
			}
			eventually(t, 10*time.Second, "the release", func() bool {
				out, err := tab.Floor(ctx, browser.EvaluateString("log.join()"))
				if err != nil {
					t.Fatal(err)
				}
				text, _ := browser.StringResult(out)
				return text == "keydown,keyup"
			})
		})
	}
}
