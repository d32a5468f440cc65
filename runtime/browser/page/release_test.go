package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
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
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, `<button id=b onclick="alert('a')">x</button>
<script>var log=[];for(const n of ['keydown','keyup'])addEventListener(n,e=>log.push(n));b.focus()</script>`)
			}))
			t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
			ctx := browsertest.Within(t, 30*time.Second)
			if _, err := tab.Navigate(ctx, primitives.NavigateOptions{URL: srv.URL}); err != nil {
				t.Fatal(err)
			}
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
			browsertest.Eventually(t, 10*time.Second, "the release", func() bool {
				log, err := tab.Evaluate(ctx, "log.join()")
				if err != nil {
					t.Fatal(err)
				}
				return string(log) == `"keydown,keyup"`
			})
		})
	}
}
