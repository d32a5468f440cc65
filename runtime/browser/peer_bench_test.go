package browser_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/launch"
	"github.com/outrider-run/outrider/workflow"
)

// peerServer serves the page of the other benchmarks, one with 20 frames, one
// that is 2,400 pixels high, one whose element comes late, and lists.
func peerServer(tb testing.TB) string {
	pages := map[string]string{
		"/": benchPage,
		"/frames": `<!doctype html><title>Frames</title>` +
			strings.Repeat(`<iframe src="/inner" width="100" height="60"></iframe>`, 20),
		"/inner": `<!doctype html><p>Inside</p><button>Press</button>`,
		"/form": `<!doctype html><title>Form</title><form onsubmit="return false">` +
			strings.Repeat(`<p>A line of text.</p>`, 20) +
			`<button id="go" type="button">Go</button><input id="name"></form><output id="out">0</output>
<script>let n = 0; document.getElementById('go').onclick = () => { document.getElementById('out').textContent = ++n };</script>`,
		"/goods":      snapshotPage,
		"/rows/1000":  fmt.Sprintf(extractPage, 1_000),
		"/rows/10000": fmt.Sprintf(extractPage, 10_000),
		"/high": `<!doctype html><title>High</title><body style="margin:0">` + strings.Repeat(
			`<div style="height:60px;background:linear-gradient(90deg,#fff,#89a)">A line of text, and some more of `+
				`it.</div>`,
			40,
		),
		"/late": `<!doctype html><title>Late</title><script>
function later() { document.getElementById('late')?.remove(); setTimeout(() => { const e = document.createElement('button'); e.id = 'late'; e.textContent = 'Late'; document.body.append(e); since = performance.timeOrigin + performance.now() }, 30); return '' }
let since = 0;</script><p>Wait</p>`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, pages[r.URL.Path])
	}))
	tb.Cleanup(server.Close)
	return server.URL
}

// beside times ours and the floor in turns, and who begins swaps. It reports
// medians, and the ratio of medians.
func beside(b *testing.B, ours, base func()) { besideFrom(b, func() {}, ours, base) }

// besideFrom is beside, with something that comes before each side and is not
// timed.
func besideFrom(b *testing.B, before, ours, base func()) {
	var times [2][]time.Duration
	var spent [2]time.Duration
	meter := newSpentMeter()
	round := 0
	for b.Loop() {
		order := []int{0, 1}
		if round++; round%2 == 0 {
			order = []int{1, 0}
		}
		for _, side := range order {
			before()
			earlier := meter.read()
			start := time.Now()
			if side == 0 {
				ours()
			} else {
				base()
			}
			times[side] = append(times[side], time.Since(start))
			spent[side] += meter.read() - earlier
		}
	}
	reportSides(b, times)
	reportSpent(b, spent)
}

func reportSides(b *testing.B, times [2][]time.Duration) {
	for _, t := range times {
		slices.Sort(t)
	}
	mid := [2]time.Duration{times[0][len(times[0])/2], times[1][len(times[1])/2]}
	b.ReportMetric(float64(mid[0].Microseconds())/1e3, "ms/ours")
	b.ReportMetric(float64(mid[1].Microseconds())/1e3, "ms/floor")
	b.ReportMetric(float64(mid[0])/float64(mid[1]), "ratio")
	b.ReportMetric(float64(times[0][len(times[0])/10])/float64(times[1][len(times[1])/10]), "ratio-of-fastest")
	b.ReportMetric(0, "ns/op")
}

// benchTab is a tab, with what both sides need to work on it.
type benchTab struct {
	b    *testing.B
	ctx  context.Context
	tab  *browser.Tab
	reg  *primitives.Registry
	base string
}

func (p *benchTab) at(path string) {
	p.b.Helper()
	_, err := p.tab.Navigate(p.ctx, primitives.NavigateOptions{URL: p.base + path, LoadTimeout: time.Minute})
	if err != nil {
		p.b.Fatal(err)
	}
}

func (p *benchTab) invoke(name, args string) json.RawMessage {
	r := p.reg.Invoke(p.ctx, p.tab, name, json.RawMessage(args))
	if r.Err != nil {
		p.b.Fatalf("%s: %v", name, r.Err)
	}
	return r.Payload
}

// Invoke makes a benchTab a workflow.Invoker.
func (p *benchTab) Invoke(ctx context.Context, name string, args json.RawMessage) primitives.Result {
	return p.reg.Invoke(ctx, p.tab, name, args)
}

func (p *benchTab) floor(commands ...browser.RawCommand) []byte {
	answer, err := p.tab.Floor(p.ctx, commands...)
	if err != nil {
		p.b.Fatal(err)
	}
	return answer
}

func (p *benchTab) ask(expression string) string {
	s, err := browser.StringResult(p.floor(browser.EvaluateString(expression)))
	if err != nil {
		p.b.Fatal(err)
	}
	return s
}

// promised is ask for a promise.
func (p *benchTab) promised(expression string) string {
	e, _ := json.Marshal(expression)
	s, err := browser.StringResult(p.floor(browser.RawCommand{
		Method: "Runtime.evaluate",
		Params: `{"expression":` + string(e) + `,"returnByValue":true,"awaitPromise":true}`,
	}))
	if err != nil {
		p.b.Fatal(err)
	}
	return s
}

func (p *benchTab) navigateFloor(path string) {
	p.floor(browser.RawCommand{Method: "Page.navigate", Params: `{"url":"` + p.base + path + `"}`})
	p.promised(
		`new Promise(done => document.readyState === 'complete' ? done('') : addEventListener('load', () => done('')))`,
	)
}

const peerGeometry = `(() => { const e = document.querySelector('#go'), r = e.getBoundingClientRect(), x = r.x + r.width / 2, y = r.y + r.height / 2;
	return JSON.stringify({x, y, text: e.textContent, hit: document.elementFromPoint(x, y) === e}) })()`

func (p *benchTab) point() (x, y float64) {
	var at struct{ X, Y float64 }
	if err := json.Unmarshal([]byte(p.ask(peerGeometry)), &at); err != nil {
		p.b.Fatal(err)
	}
	return at.X, at.Y
}

func (p *benchTab) clickFloor() {
	x, y := p.point()
	p.floor(browser.MousePress(x, y)...)
}

const peerText = "the quick brown fox jump"

const peerLate = `new Promise(done => { const look = () => { if (document.querySelector('#late')) { watch.disconnect(); done(String(since)) } };
	const watch = new MutationObserver(look); watch.observe(document, {childList: true, subtree: true}); later(); look() })`

// BenchmarkPeer has what other drivers are compared by, each beside its floor.
func BenchmarkPeer(b *testing.B) {
	p := &benchTab{ctx: context.Background(), reg: catalog.Standard(), base: peerServer(b), tab: browsertest.Tab(b)}
	run := func(name, path string, f func()) {
		b.Run(name, func(b *testing.B) {
			p.b = b
			p.at(path)
			f()
		})
	}
	pair := func(name, path string, ours, base func()) {
		run(name, path, func() { ours(); base(); beside(p.b, ours, base) })
	}
	// Ours goes on installing the page library when it has answered, so both sides
	// begin, untimed, when the page has nothing to do.
	navigate := func(name, path string) {
		run(name, path, func() {
			besideFrom(p.b, func() { p.ask(`''`) }, func() { p.at(path) }, func() { p.navigateFloor(path) })
		})
	}
	navigate("navigate warm", "/")
	navigate("navigate 20 iframes", "/frames")
	pair(
		"resolve geometry", "/", func() { p.invoke("locator.element_info", `{"locator":{"selector":"#go"}}`) },
		func() { p.ask(peerGeometry) },
	)
	pair(
		"click checked, by locator", "/",
		func() { p.invoke("pointer.click", `{"locator":{"selector":"#go"}}`) }, p.clickFloor,
	)
	run("click checked, by point", "/", func() {
		x, y := p.point()
		at := fmt.Sprintf(`{"x":%g,"y":%g}`, x, y)
		beside(p.b, func() { p.invoke("pointer.click", at) }, p.clickFloor)
	})
	pair("fill 24 characters, one text", "/", func() {
		p.invoke("text.insert", `{"target":{"selector":"#name"},"text":"`+peerText+`","mode":"replace"}`)
	}, func() {
		p.ask(`(() => { const e = document.querySelector('#name'); e.focus(); e.select(); return '' })()`)
		p.floor(browser.RawCommand{Method: "Input.insertText", Params: `{"text":"` + peerText + `"}`})
	})
	pair("fill 24 characters, trusted keys", "/", func() {
		p.invoke("text.type", `{"locator":{"selector":"#name"},"text":"`+peerText+`","trusted":true}`)
		p.ask(`document.querySelector('#name').value = ''`)
	}, func() {
		p.ask(`(() => { document.querySelector('#name').focus(); return '' })()`)
		p.floor(browser.TypeText(peerText)...)
		p.ask(`document.querySelector('#name').value = ''`)
	})
	pair("evaluate 1+1", "/", func() { p.invoke("page.evaluate", `{"body":"return 1+1"}`) }, func() {
		p.floor(browser.RawCommand{Method: "Runtime.evaluate", Params: `{"expression":"1+1","returnByValue":true}`})
	})
	pair("screenshot jpeg q80", "/high", func() {
		p.invoke("browser.screenshot", `{"format":"jpeg","quality":80}`)
	}, func() {
		p.floor(browser.RawCommand{Method: "Page.captureScreenshot", Params: `{"format":"jpeg","quality":80}`})
	})
	pair("full-page png", "/high", func() {
		p.invoke("browser.screenshot", `{"format":"png","full_page":true}`)
	}, func() {
		p.floor(browser.RawCommand{
			Method: "Page.captureScreenshot",
			Params: `{"format":"png","optimizeForSpeed":true,"captureBeyondViewport":true,"clip":{"x":0,"y":0,` +
				`"width":1280,"height":2400,"scale":1}}`,
		})
	})
	run("late element, delay after it appears", "/late", func() {
		var times [2][]time.Duration
		since := func(said string) time.Duration {
			ms, err := strconv.ParseFloat(said, 64)
			if err != nil {
				p.b.Fatal(err)
			}
			return time.Since(time.UnixMicro(int64(ms * 1e3)))
		}
		for p.b.Loop() {
			p.ask(`later()`)
			p.invoke("locator.wait_for", `{"locator":{"selector":"#late"},"timeout_ms":10000}`)
			now := time.Now()
			times[0] = append(times[0], since(p.ask(`String(since)`))-time.Since(now))
			times[1] = append(times[1], since(p.promised(peerLate)))
		}
		reportSides(p.b, times)
	})
	run("workflow of 25 steps", "/form", func() { p.workflow() })
	// Last, so that it is what is left after all of that; the test's own code is in it.
	b.Run("memory of this process", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(residentMiB(b), "MiB-resident")
		b.ReportMetric(0, "ns/op")
	})
}

// workflow is five times resolve, click, fill, wait and read, as one program.
func (p *benchTab) workflow() {
	engine, err := expr.New("", nil)
	if err != nil {
		p.b.Fatal(err)
	}
	defer engine.Close()
	var steps []string
	for i := range 5 {
		steps = append(
			steps,
			fmt.Sprintf(`{"id":"r%[1]d","primitive":"locator.element_info","args":{"locator":{"selector":"#go"}}},
			{"id":"c%[1]d","primitive":"pointer.click","args":{"x":"{%% steps.r%[1]d.output.clickable_center.x %%}","y":"{%% steps.r%[1]d.output.clickable_center.y %%}"}},
			{"id":"f%[1]d","primitive":"text.insert","args":{"target":{"selector":"#name"},"text":"{%% input.text %%}","mode":"replace"}},
			{"id":"w%[1]d","primitive":"locator.wait_for","args":{"locator":{"selector":"#out"}}},
			{"id":"v%[1]d","primitive":"locator.value","args":{"locator":{"selector":"#name"}}}`, i),
		)
	}
	program, problems := workflow.Compile(json.RawMessage(`{"version":1,"expression_language":"jsonata","steps":[`+
		strings.Join(steps, ",")+`],"output":"{% steps.v4.output.value %}"}`),
		workflow.CompileOptions{Engine: engine})
	if program == nil {
		p.b.Fatal(problems)
	}
	input := json.RawMessage(`{"text":"` + peerText + `"}`)
	beside(p.b, func() {
		out := program.Run(p.ctx, p, workflow.RunOptions{Input: input})
		if out.Err != nil || !strings.Contains(string(out.Output), peerText) {
			p.b.Fatalf("%v: %s", out.Err, out.Output)
		}
	}, func() {
		for range 5 {
			p.clickFloor()
			p.ask(`(() => { const e = document.querySelector('#name'); e.focus(); e.select(); return '' })()`)
			p.floor(browser.RawCommand{Method: "Input.insertText", Params: `{"text":"` + peerText + `"}`})
			p.ask(`String(document.querySelector('#out').getBoundingClientRect().width > 0)`)
			if v := p.ask(`document.querySelector('#name').value`); v != peerText {
				p.b.Fatalf("value %q", v)
			}
		}
	})
}

func residentMiB(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("no /proc")
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kb / 1024
		}
	}
	return 0
}

// BenchmarkSixteenTabs resolves and clicks in 16 tabs at once: with a window for
// each tab, as a headless browser has them here, and with all in one.
func BenchmarkSixteenTabs(b *testing.B) {
	base := peerServer(b)
	for _, c := range []struct {
		name string
		one  bool
	}{{"windows", false}, {"one window", true}} {
		b.Run(c.name, func(b *testing.B) {
			browsertest.Require(b)
			ctx := b.Context()
			opts := browsertest.Options()
			opts.OneWindow = c.one
			br, err := browser.Launch(ctx, opts)
			if err != nil {
				b.Fatal(err)
			}
			defer br.Close(context.Background())
			peers := make([]*benchTab, 16)
			for i := range peers {
				tab, err := br.NewTab(ctx, base+"/", browser.TabOptions{Background: c.one && i > 0})
				if err != nil {
					b.Fatal(err)
				}
				peers[i] = &benchTab{b: b, ctx: ctx, tab: tab, reg: catalog.Standard(), base: base}
			}
			const pairs = 10
			var took [2]time.Duration
			all := func(side int, f func(p *benchTab)) {
				start := time.Now()
				var wg sync.WaitGroup
				for _, p := range peers {
					wg.Go(func() {
						for range pairs {
							f(p)
						}
					})
				}
				wg.Wait()
				took[side] += time.Since(start)
			}
			ours := func(p *benchTab) {
				var info struct {
					Center json.RawMessage `json:"clickable_center"`
				}
				r := p.reg.Invoke(ctx, p.tab, "locator.element_info", json.RawMessage(`{"locator":{"selector":"#go"}}`))
				if r.Err == nil {
					_ = json.Unmarshal(r.Payload, &info)
					r = p.reg.Invoke(ctx, p.tab, "pointer.click", info.Center)
				}
				if r.Err != nil {
					b.Error(r.Err)
				}
			}
			raw := func(p *benchTab) {
				answer, err := p.tab.Floor(ctx, browser.EvaluateString(peerGeometry))
				var at struct{ X, Y float64 }
				if err == nil {
					var s string
					s, err = browser.StringResult(answer)
					if err == nil {
						err = json.Unmarshal([]byte(s), &at)
					}
				}
				if err == nil {
					_, err = p.tab.Floor(ctx, browser.MousePress(at.X, at.Y)...)
				}
				if err != nil {
					b.Error(err)
				}
			}
			for b.Loop() {
				all(0, ours)
				all(1, raw)
			}
			n := float64(b.N * pairs * len(peers))
			b.ReportMetric(n/took[0].Seconds(), "pairs/s-ours")
			b.ReportMetric(n/took[1].Seconds(), "pairs/s-floor")
			b.ReportMetric(float64(took[1])/float64(took[0]), "of-floor")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkColdStart is from nothing to a loaded page. The floor is Chromium with
// a pipe and a new profile, and the commands that load a page, one after the
// other, as they need each other's answers.
func BenchmarkColdStart(b *testing.B) {
	browsertest.Require(b)
	base := peerServer(b)
	found, err := launch.Find("", "")
	if err != nil {
		b.Fatal(err)
	}
	var end []func()
	defer func() {
		for _, f := range end {
			f()
		}
	}()
	closeAll := func() {
		for _, f := range end {
			f()
		}
		end = nil
	}
	var times [2][]time.Duration
	for b.Loop() {
		start := time.Now()
		br, err := browser.Launch(b.Context(), browsertest.Options())
		if err != nil {
			b.Fatal(err)
		}
		end = append(end, func() { br.Close(context.Background()) })
		if _, err := br.NewTab(b.Context(), base+"/", browser.TabOptions{}); err != nil {
			b.Fatal(err)
		}
		times[0] = append(times[0], time.Since(start))
		closeAll()
		start = time.Now()
		end = append(end, rawColdStart(b, found.Path, base+"/"))
		times[1] = append(times[1], time.Since(start))
		closeAll()
	}
	reportSides(b, times)
}

// rawColdStart returns when the page has loaded, with what ends the browser.
func rawColdStart(b *testing.B, path, url string) func() {
	dir := b.TempDir()
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	args := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + dir,
		"--no-first-run", "--no-startup-window", "about:blank",
	}
	if os.Geteuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...)
	}
	cmd := exec.Command(path, args...)
	cmd.ExtraFiles = []*os.File{inR, outW}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	inR.Close()
	outW.Close()
	frames := bufio.NewReaderSize(outR, 1<<20)
	id := 0
	// do sends a command and waits for its answer, or for an event.
	do := func(session, method, params, event string) json.RawMessage {
		id++
		s := ""
		if session != "" {
			s = `,"sessionId":"` + session + `"`
		}
		if _, err := fmt.Fprintf(inW, `{"id":%d,"method":%q,"params":%s%s}`+"\x00", id, method, params, s); err != nil {
			b.Fatal(err)
		}
		for {
			frame, err := frames.ReadBytes(0)
			if err != nil {
				b.Fatal(err)
			}
			var m struct {
				ID     int
				Method string
				Result json.RawMessage
			}
			if err := json.Unmarshal(frame[:len(frame)-1], &m); err != nil {
				b.Fatal(err)
			}
			if event == "" && m.ID == id || event != "" && m.Method == event {
				return m.Result
			}
		}
	}
	var target struct{ TargetID string }
	json.Unmarshal(do("", "Target.createTarget", `{"url":"about:blank"}`, ""), &target)
	var session struct{ SessionID string }
	json.Unmarshal(do("", "Target.attachToTarget", `{"targetId":"`+target.TargetID+`","flatten":true}`, ""), &session)
	do(session.SessionID, "Page.enable", `{}`, "")
	do(session.SessionID, "Page.navigate", `{"url":"`+url+`"}`, "Page.loadEventFired")
	return func() {
		fmt.Fprint(inW, `{"id":999,"method":"Browser.close"}`+"\x00")
		done := make(chan struct{})
		go func() { cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			cmd.Process.Kill()
			<-done
		}
		inW.Close()
		outR.Close()
	}
}
