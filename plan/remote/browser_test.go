package remote

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
)

// browsers opens browsers for a runner, and counts them.
type browsers struct {
	tb testing.TB

	mu     sync.Mutex
	opened []*runtime.Host
}

func (b *browsers) open(context.Context, Request) (Host, error) {
	h := runtimetest.Open(b.tb, runtime.Options{})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened = append(b.opened, h)
	return Host{Host: h}, nil
}

func (b *browsers) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.opened)
}

// carry makes the job of a case of one plan, as a submission does, and its files.
func carry(t *testing.T, text string, s Settings) (fleet.Job, carried) {
	t.Helper()
	archive := newPacker()
	if err := archive.file("plans/plan.yaml", []byte(text)); err != nil {
		t.Fatal(err)
	}
	data, err := archive.close()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(payload{
		Case:     &testCase{Plan: "plans/plan.yaml", Given: "plan.yaml", ID: "x", Name: "x"},
		Settings: s,
		Single:   true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return fleet.Job{Payload: raw}, carried{plansArchive: data}
}

// TestJobsShareABrowser: the browser of a job is there for the next one that asks for the
// same, which sees nothing of the first. Another request, a browser that died and a step
// that failed for its sake get a new one.
func TestJobsShareABrowser(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><link rel="icon" href="data:,"><p id="met"></p>`+
			`<script>met.textContent = 'met [' + document.cookie + localStorage.who + ']'; document.cookie = `+
			`'who=me'; localStorage.who = 'me'</script>`)
	}))
	t.Cleanup(site.Close)
	all := &browsers{tb: t}
	r, err := NewRunner(Options{Temp: t.TempDir(), NewID: uuid.NewString, Browsers: 2, Open: all.open})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	run := func(what, expect string, s Settings, browsers int) {
		t.Helper()
		j, files := carry(t, "open: "+site.URL+"\nsteps:\n  - {expect: {target: \"#met\", text_equals: \""+expect+
			"\"}, timeout: 30s}\n", s)
		got := r.Run(t.Context(), j, files)
		if got.Err != nil || !got.OK {
			t.Errorf("%s: %v, %s", what, got.Err, got.JSON)
		}
		if n := all.count(); n != browsers {
			t.Errorf("%s: %d browsers were opened, want %d", what, n, browsers)
		}
	}
	empty := "met [undefined]"
	run("the first", empty, Settings{CallTimeout: time.Minute}, 1)
	run("the second", empty, Settings{CallTimeout: time.Minute}, 1)
	run("another locale", empty, Settings{CallTimeout: time.Minute, Locale: "de-DE"}, 2)
	run("the third", empty, Settings{CallTimeout: time.Minute}, 2)
	for _, h := range all.opened { // they end while nobody looks
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	run("after it died", empty, Settings{CallTimeout: time.Minute}, 3)
	left, err := filepath.Glob(filepath.Join(r.opts.Temp, "outrider-job-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("folders of jobs are left: %v, %v", left, err)
	}
	r.Close()
	if _, err := os.Stat(r.opts.Temp); err == nil {
		t.Error("the runner left its folder")
	}
}
