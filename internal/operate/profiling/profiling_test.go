package profiling_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/internal/operate/profiling"
)

func TestProfilesAreServedToThisMachine(t *testing.T) {
	at, stop, err := profiling.Serve("0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	get := func(host string) (int, string) {
		req, err := http.NewRequestWithContext(
			t.Context(), http.MethodGet, "http://"+at+"/debug/pprof/goroutine?debug=1", nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	if code, body := get(at); code != http.StatusOK || !strings.Contains(body, "goroutine profile:") {
		t.Errorf("got %d %.100q", code, body)
	}
	if code, _ := get("rebound.example"); code != http.StatusForbidden {
		t.Errorf("under another name: got %d, want 403", code)
	}
}

func TestOnlyLoopbackIsServed(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "example.org:80", "[::]:0", "a:b:c"} {
		if _, stop, err := profiling.Serve(address); err == nil {
			stop()
			t.Errorf("%s was served", address)
		}
	}
}
