package plan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// BenchmarkTwoHundredPlans is 200 cases of five steps on four workers, 40 with -short.
// Beside them the same browser does the same work for the least CDP messages that any
// driver needs, four at once: ratio is the wall time of the plans to that of this work.
// peak-MB is the memory of this process, which has the site and the bare driver in it.
func BenchmarkTwoHundredPlans(b *testing.B) {
	cases, workers := 200, 4
	if testing.Short() {
		cases = 40
	}
	site := ownSite(b)
	var ours, bare time.Duration
	runs := 0
	for b.Loop() {
		// The machine may have become slower meanwhile, so half of the bare work is done
		// before the plans and half after them.
		bare += directWork(b, site, cases/2, workers)
		ours += time.Duration(runOwn(b, site, cases, workers).DurationMS) * time.Millisecond
		bare += directWork(b, site, cases/2, workers)
		runs++
	}
	done := float64(runs * cases)
	b.ReportMetric(float64(ours.Milliseconds())/done, "ms/case")
	b.ReportMetric(float64(bare.Milliseconds())/done, "bare-ms/case")
	b.ReportMetric(float64(ours)/float64(bare), "ratio")
	goruntime.GC()
	b.ReportMetric(peakMB(b), "peak-MB")
}

// directWork does the work of so many cases without anything of this project but the
// connection, and says how long it took.
func directWork(b *testing.B, site string, cases, workers int) time.Duration {
	b.Helper()
	d := &directDriver{happened: map[string]chan struct{}{}, names: map[string]string{}}
	client, _, stop := browsertest.Minimal(b, d.event)
	d.client = client
	downloads := b.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	next := make(chan int)
	failed := make(chan error, workers)
	var all sync.WaitGroup
	began := time.Now()
	for range workers {
		all.Go(func() {
			for i := range next {
				if err := d.work(ctx, site, fmt.Sprintf("w%03d", i), downloads); err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			}
		})
	}
	for i := range cases {
		next <- i
	}
	close(next)
	all.Wait()
	took := time.Since(began)
	stop()
	select {
	case err := <-failed:
		b.Error(err)
	default:
	}
	return took
}

// directDriver waits for two events: that a page is loaded, and that a file is.
type directDriver struct {
	client *cdp.Client

	mu       sync.Mutex
	happened map[string]chan struct{}
	names    map[string]string // of downloads, by guid
}

func (d *directDriver) wait(what string) chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.happened[what] == nil {
		d.happened[what] = make(chan struct{}, 8)
	}
	return d.happened[what]
}

func (d *directDriver) event(session, method, params []byte) {
	var in struct{ Guid, SuggestedFilename, State string }
	switch string(method) {
	case "Page.loadEventFired":
		d.wait("load " + string(session)) <- struct{}{}
	case "Browser.downloadWillBegin":
		if json.Unmarshal(params, &in) == nil {
			d.mu.Lock()
			d.names[in.Guid] = in.SuggestedFilename
			d.mu.Unlock()
		}
	case "Browser.downloadProgress":
		if json.Unmarshal(params, &in) == nil && in.State == "completed" {
			d.mu.Lock()
			name := d.names[in.Guid]
			d.mu.Unlock()
			d.wait("file " + name) <- struct{}{}
		}
	}
}

// work is one case of ownPlan.
func (d *directDriver) work(ctx context.Context, site, who, downloads string) error {
	var made struct{ BrowserContextID, TargetID, SessionID string }
	do := func(session, method string, params, out any) error {
		if err := d.client.Do(ctx, session, method, params, out); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		return nil
	}
	happens := func(what string) error {
		select {
		case <-d.wait(what):
			return nil
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		}
	}
	if err := do("", "Target.createBrowserContext", map[string]any{"disposeOnDetach": true}, &made); err != nil {
		return err
	}
	in := made.BrowserContextID
	if err := errors.Join(
		do("", "Browser.setDownloadBehavior", map[string]any{
			"behavior":         "allowAndName",
			"browserContextId": in,
			"downloadPath":     downloads,
			"eventsEnabled":    true,
		}, nil),
		do(
			"", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": in}, &made,
		)); err != nil {
		return err
	}
	if err := do(
		"", "Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &made,
	); err != nil {
		return err
	}
	page := made.SessionID
	says := func(expression, want string) error {
		var out struct{ Result struct{ Value string } }
		if err := do(
			page, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &out,
		); err != nil {
			return err
		}
		if out.Result.Value != want {
			return fmt.Errorf("%s: %s is %q, expected %q", who, expression, out.Result.Value, want)
		}
		return nil
	}
	opened := func() error {
		if err := do(
			page, "Page.navigate", map[string]any{"url": site + "?who=" + url.QueryEscape(who)}, nil,
		); err != nil {
			return err
		}
		return happens("load " + page)
	}
	const met = "document.querySelector('#met').textContent"
	for _, step := range []func() error{
		func() error { return do(page, "Page.enable", nil, nil) },
		opened,
		func() error { return says(met, "met [] []") },
		func() error { return says("document.cookie + ' ' + localStorage.who", "who="+who+" "+who) },
		opened,
		func() error { return says(met, "met [who="+who+"] ["+who+"]") },
		func() error { return says("document.querySelector('#get').click(), ''", "") },
		func() error { return happens("file own-" + who + ".txt") },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return do("", "Target.disposeBrowserContext", map[string]any{"browserContextId": in}, nil)
}

// peakMB is the memory that this process held at its most.
func peakMB(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		var m goruntime.MemStats
		goruntime.ReadMemStats(&m)
		return float64(m.Sys) / (1 << 20)
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	return 0
}
