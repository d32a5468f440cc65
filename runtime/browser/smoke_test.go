package browser_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/browsertest"
)

func TestSmoke(t *testing.T) {
	start := time.Now()
	tab := browsertest.Tab(t)
	t.Log("launch", time.Since(start))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(`<title>hi</title><button id=b onclick="this.textContent='clicked'">go</button><input autofocus id=i>`))
	}))
	defer srv.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	start = time.Now()
	nav, err := tab.Navigate(ctx, primitives.NavigateOptions{URL: srv.URL})
	t.Logf("%+v %v %v", nav, err, time.Since(start))
	t.Logf("%+v", tab.Frames())
	for range 3 {
		start = time.Now()
		var out json.RawMessage
		err = tab.Call(ctx, "", "page_info", nil, &out)
		t.Logf("%s %v %v", out, err, time.Since(start))
	}
	start = time.Now()
	err = tab.Mouse(ctx, primitives.MouseEvent{Type: primitives.MouseMoved, X: 20, Y: 20},
		primitives.MouseEvent{Type: primitives.MousePressed, X: 20, Y: 20, Button: "left", Buttons: 1, ClickCount: 1},
		primitives.MouseEvent{Type: primitives.MouseReleased, X: 20, Y: 20, Button: "left", ClickCount: 1})
	t.Log(err, time.Since(start))
	start = time.Now()
	img, err := tab.Capture(ctx, primitives.CaptureOptions{Format: "png"})
	t.Log(len(img), err, time.Since(start))
}
