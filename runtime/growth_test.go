package runtime_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// TestGrowth measures how time and memory grow, and writes a table of each curve to the
// folder that OUTRIDER_GROWTH names: see make bench-growth. OUTRIDER_GROWTH_CALLS,
// _NAVIGATIONS and _CYCLES make the long sessions longer. A long session is walked a second
// time by bare commands in a browser of their own. It judges nothing.
func TestGrowth(t *testing.T) {
	dir := os.Getenv("OUTRIDER_GROWTH")
	if dir == "" {
		t.Skip("writes tables to the folder that OUTRIDER_GROWTH names")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		n, _ := strconv.Atoi(r.URL.Query().Get("rows"))
		fmt.Fprintf(w, growthPage, n)
	}))
	t.Cleanup(server.Close)
	for _, c := range []struct {
		name  string
		curve func(g *growth)
	}{
		{"tabs", growTabs}, {"elements", growElements}, {"rows", growRows}, {"maps", growMaps}, {"steps", growSteps},
		{"calls", growCalls}, {"navigations", growNavigations}, {"cycles", growCycles},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := &growth{T: t, page: server.URL + "/?rows="}
			c.curve(g)
			g.write(filepath.Join(dir, c.name+".csv"))
		})
	}
}

// growthPage has so many rows of six elements and a button.
const growthPage = `<!doctype html><title>Rows</title><button id="go">Go</button><input id="name"><output id="out">0</output><main></main><script>
document.querySelector('main').innerHTML = Array.from({length: %d}, (_, i) => '<div class="row" data-id="' + i + '"><h3>Item ' + i + '</h3><a href="/items/' + i +
  '">open</a><span class="price">' + i * 7 %% 1000 + ' EUR</span><p>Text of <b>item</b> ' + i + '</p></div>').join('');
let n = 0; go.onclick = () => { out.textContent = ++n };
</script>`

type growth struct {
	*testing.T
	page    string
	host    *runtime.Host
	minimal *minimalBrowser
	table   [][]string
}

func (g *growth) open(rows int) {
	g.host = runtimetest.Open(g, runtime.Options{Open: []string{fmt.Sprint(g.page, rows)}})
}

// close ends the host and its browser, so that what is measured next has the machine.
func (g *growth) close() {
	if err := g.host.Close(context.WithoutCancel(g.Context())); err != nil {
		g.Fatal(err)
	}
}

func (g *growth) do(name, args string) json.RawMessage {
	g.Helper()
	r := g.host.Do(g.Context(), runtime.Call{
		ID:        runtimetest.NewID(),
		Name:      name,
		Arguments: json.RawMessage(args),
		Timeout:   2 * time.Minute,
		Target:    runtime.Target{RuntimeID: g.host.Tabs()[0].RuntimeID},
	})
	if r.Err != nil {
		g.Fatalf("%s: %v", name, r.Err)
	}
	return r.Output
}

// median is the median time of n runs, in milliseconds.
func (g *growth) median(n int, f func()) float64 {
	times := make([]float64, n)
	for i := range times {
		start := time.Now()
		f()
		times[i] = float64(time.Since(start).Microseconds()) / 1e3
	}
	slices.Sort(times)
	return times[n/2]
}

func (g *growth) columns(names ...string) { g.table = append(g.table, names) }

func (g *growth) row(n int, values ...float64) {
	line := []string{strconv.Itoa(n)}
	for _, v := range values {
		line = append(line, strconv.FormatFloat(v, 'f', 2, 64))
	}
	g.Log(line)
	g.table = append(g.table, line)
}

func (g *growth) write(file string) {
	f, err := os.Create(file)
	if err != nil {
		g.Fatal(err)
	}
	w := csv.NewWriter(f)
	if err := w.WriteAll(g.table); err != nil {
		g.Fatal(err)
	}
	if err := f.Close(); err != nil {
		g.Fatal(err)
	}
}

// times is how often something long is done, by a variable.
func (g *growth) times(variable string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil && n > 0 {
		return n
	}
	return usual
}

// memory is the resident memory of this process and the proportional one of the browser,
// in MB.
func (g *growth) memory() (own, browser float64) {
	return kilobytes(fmt.Sprintf("/proc/%d/status", os.Getpid()), "VmRSS:") / 1e3, below(os.Getpid()) / 1e3
}

// below adds up what the processes below this one keep.
func below(root int) (kb float64) {
	parents := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		raw, _ := os.ReadFile(file)
		fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	for pid := range parents {
		for at := pid; at > 1; at = parents[at] {
			if parents[at] == root {
				kb += kilobytes(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:")
				break
			}
		}
	}
	return kb
}

func kilobytes(file, member string) float64 {
	raw, _ := os.ReadFile(file)
	_, rest, _ := strings.Cut(string(raw), member)
	if fields := strings.Fields(rest); len(fields) > 0 {
		kb, _ := strconv.ParseFloat(fields[0], 64)
		return kb
	}
	return 0
}

func growTabs(g *growth) {
	g.columns(
		"tabs", "open a tab, ms", "page.info, ms", "element_info, ms",
		"runtime, MB", "browser, MB", "browser of bare commands, MB",
	)
	g.open(100)
	tabs, counts := 1, []int{1, 2, 4, 8, 16, 32}
	rows := make([][]float64, len(counts))
	for i, want := range counts {
		start, opened := time.Now(), want-tabs
		for ; tabs < want; tabs++ {
			g.do("browser.open_tab", `{"url":"`+g.page+`100"}`)
		}
		each := float64(time.Since(start).Milliseconds()) / float64(max(1, opened))
		info := g.median(20, func() { g.do("page.info", `{}`) })
		element := g.median(20, func() { g.do("locator.element_info", `{"locator":{"selector":"#go"}}`) })
		own, browser := g.memory()
		rows[i] = []float64{each, info, element, own, browser}
	}
	g.close()
	b := openMinimal(g, g.page+"100")
	tabs = 1
	for i, want := range counts {
		for ; tabs < want; tabs++ {
			b.open(g.page + "100")
		}
		g.median(20, func() { b.evaluate(`document.title`) })
		g.row(want, append(rows[i], b.memory())...)
	}
	b.stop()
}

func growElements(g *growth) {
	g.columns("elements", "snapshot, ms", "since, ms", "interactive only, ms", "within 4,000 rows, ms", "runtime, MB")
	g.open(1)
	for _, elements := range []int{600, 3_000, 10_000, 30_000, 100_000} {
		g.do("browser.navigate", fmt.Sprintf(`{"url":"%s%d"}`, g.page, elements/6))
		const all = `"max_nodes":100000,"max_bytes":8000000`
		var first struct {
			Value struct {
				ID string `json:"snapshot_id"`
			} `json:"value"`
		}
		if err := json.Unmarshal(g.do("page.snapshot", `{`+all+`}`), &first); err != nil {
			g.Fatal(err)
		}
		full := g.median(5, func() { g.do("page.snapshot", `{`+all+`}`) })
		since := g.median(5, func() {
			if err := json.Unmarshal(g.do("page.snapshot", `{`+all+`}`), &first); err != nil {
				g.Fatal(err)
			}
			g.do("page.snapshot", `{`+all+`,"since":"`+first.Value.ID+`"}`)
		}) - full
		interactive := g.median(5, func() { g.do("page.snapshot", `{`+all+`,"interactive_only":true}`) })
		bounded := g.median(5, func() { g.do("page.snapshot", `{"max_nodes":4000,"max_bytes":200000}`) })
		own, _ := g.memory()
		g.row(elements, full, since, interactive, bounded, own)
	}
}

func growRows(g *growth) {
	g.columns("rows", "page.evaluate, ms", "extract_elements, ms", "runtime, MB")
	g.open(1)
	for _, rows := range []int{100, 300, 1_000, 3_000, 10_000, 30_000} {
		g.do("browser.navigate", fmt.Sprintf(`{"url":"%s%d"}`, g.page, rows))
		evaluate := g.median(5, func() {
			g.do("page.evaluate", `{"timeout_ms":60000,"body":"return Array.from(document.querySelectorAll('.row'), `+
				`e => ({id: e.dataset.id, title: e.querySelector('h3').textContent, url: `+
				`e.querySelector('a').getAttribute('href'), price: e.querySelector('.price').textContent}))"}`)
		})
		extract := g.median(5, func() {
			g.do("browser.extract_elements", `{"item_selector":".row","include":"all","fields":[{"name":"id",`+
				`"attribute":"data-id"},{"name":"title","selector":"h3"},{"name":"url","selector":"a",`+
				`"attribute":"href"},{"name":"price","selector":".price"}]}`)
		})
		own, _ := g.memory()
		g.row(rows, evaluate, extract, own)
	}
}

func growMaps(g *growth) {
	g.columns("maps", "load, ms", "a map, ms", "runtime, MB")
	engine, registry := runtimetest.Engine(g), catalog.Standard()
	data := largeMap(5, 5*2600)
	for _, n := range []int{1, 10, 100, 300, 1_000} {
		dir := g.TempDir()
		for i := range n {
			site := filepath.Join(dir, "sites", fmt.Sprintf("site-%d.example", i))
			if err := os.MkdirAll(site, 0o755); err != nil {
				g.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(site, "actions.json"), data, 0o644); err != nil {
				g.Fatal(err)
			}
		}
		load := g.median(3, func() {
			_, reports := runtime.LoadMaps([]string{dir}, registry, engine, runtime.MapOptions{})
			if len(reports) != n || !reports[0].OK {
				g.Fatal(len(reports), reports[0].Errors)
			}
		})
		own, _ := g.memory()
		g.row(n, load, load/float64(n), own)
	}
}

func growSteps(g *growth) {
	g.columns("steps", "workflow, ms", "a step, ms", "the same calls, ms")
	g.open(10)
	for _, steps := range []int{1, 2, 5, 10, 25} {
		var text strings.Builder
		for i := range steps {
			if i > 0 {
				text.WriteByte(',')
			}
			fmt.Fprintf(
				&text, `{"id":"s%d","primitive":"locator.element_info","args":{"locator":{"selector":"#go"}}}`, i,
			)
		}
		m := `{"protocol":"actions.json","version":1,"tools":[{"name":"grow.run","description":"Runs steps.",` +
			`"input_schema":{"type":"object"},` +
			`"workflow":{"version":1,"expression_language":"jsonata","steps":[` + text.String() +
			`],"output":"{% {'n': 1} %}"}}]}`
		run := func() {
			r := g.host.Do(g.Context(), runtime.Call{
				ID:        runtimetest.NewID(),
				Name:      "grow.run",
				Arguments: json.RawMessage(`{}`),
				Timeout:   time.Minute,
				Map:       &runtime.SuppliedMap{Path: "grow/actions.json", JSON: json.RawMessage(m)},
			})
			if r.Err != nil {
				g.Fatal(r.Err)
			}
		}
		run()
		whole := g.median(30, run)
		calls := g.median(30, func() {
			for range steps {
				g.do("locator.element_info", `{"locator":{"selector":"#go"}}`)
			}
		})
		g.row(steps, whole, whole/float64(steps), calls)
	}
}

// session walks total steps in ten parts, first ours and then the same by bare commands in
// a browser of its own.
func (g *growth) session(what, step string, total int, ours func(i int), bare func(b *minimalBrowser, i int)) {
	g.columns(what, step+", ms", "runtime, MB", "browser, MB", "bare commands, ms", "browser of bare commands, MB")
	g.open(100)
	var rows [10][]float64
	at := 0
	for part := range rows {
		each := g.median(total/10, func() { at++; ours(at) })
		own, browser := g.memory()
		rows[part] = []float64{each, own, browser}
	}
	g.close()
	b := openMinimal(g, g.page+"100")
	at = 0
	for part := range rows {
		each := g.median(total/10, func() { at++; bare(b, at) })
		rows[part] = append(rows[part], each, b.memory())
	}
	b.stop()
	for part, values := range rows {
		g.row((part+1)*total/10, values...)
	}
}

func growCalls(g *growth) {
	g.session("calls", "a call", g.times("OUTRIDER_GROWTH_CALLS", 10_000),
		func(int) { g.do("locator.element_info", `{"locator":{"selector":"#go"}}`) },
		func(b *minimalBrowser, _ int) {
			b.evaluate(`JSON.stringify(document.querySelector('#go').getBoundingClientRect())`)
		})
}

func growNavigations(g *growth) {
	address := func(i int) string { return fmt.Sprint(g.page, 100+i%4) }
	g.session("navigations", "navigate, snapshot", g.times("OUTRIDER_GROWTH_NAVIGATIONS", 100),
		func(i int) {
			g.do("browser.navigate", `{"url":"`+address(i)+`"}`)
			g.do("page.snapshot", `{}`)
		},
		func(b *minimalBrowser, i int) {
			b.do(b.session, "Page.navigate", map[string]any{"url": address(i)}, nil)
			<-b.loaded
			b.evaluate(`document.body.innerText`)
		})
}

func growCycles(g *growth) {
	g.session("cycles", "open and close a tab", g.times("OUTRIDER_GROWTH_CYCLES", 50),
		func(int) {
			var opened struct {
				Value struct {
					TabID int `json:"tab_id"`
				} `json:"value"`
				TabID int `json:"tab_id"`
			}
			if err := json.Unmarshal(g.do("browser.open_tab", `{"url":"`+g.page+`100"}`), &opened); err != nil {
				g.Fatal(err)
			}
			g.do("browser.close_tab", fmt.Sprintf(`{"tab_id":%d}`, max(opened.TabID, opened.Value.TabID)))
		},
		func(b *minimalBrowser, _ int) {
			target := b.open(g.page + "100")
			b.do("", "Target.closeTarget", map[string]any{"targetId": target}, nil)
			<-b.closed
		})
}

// minimalBrowser is a browser with a tab and nothing between its connection and the walk.
type minimalBrowser struct {
	*growth
	client         *cdp.Client
	pid            int
	session        string // of the newest tab
	loaded, closed chan struct{}
	stop           func()
}

func openMinimal(g *growth, url string) *minimalBrowser {
	b := &minimalBrowser{growth: g, loaded: make(chan struct{}, 16), closed: make(chan struct{}, 16)}
	b.client, b.pid, b.stop = browsertest.Minimal(g, func(_, method, _ []byte) {
		heard := map[string]chan struct{}{
			"Page.loadEventFired":    b.loaded,
			"Target.targetDestroyed": b.closed,
		}[string(method)]
		select {
		case heard <- struct{}{}:
		default: // no event, or tabs that end with the browser
		}
	})
	b.do(
		"", "Target.setDiscoverTargets",
		map[string]any{"discover": true, "filter": []map[string]any{{"type": "page"}}}, nil,
	)
	b.open(url)
	return b
}

// memory is the proportional memory of the browser, in MB.
func (b *minimalBrowser) memory() float64 {
	return (kilobytes(fmt.Sprintf("/proc/%d/smaps_rollup", b.pid), "Pss:") + below(b.pid)) / 1e3
}

// open opens a tab and waits until its page has loaded.
func (b *minimalBrowser) open(url string) (target string) {
	b.Helper()
	var made struct{ TargetID, SessionID string }
	b.do("", "Target.createTarget", map[string]any{"url": "about:blank", "newWindow": true}, &made)
	b.do("", "Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &made)
	b.session = made.SessionID
	b.do(b.session, "Page.enable", nil, nil)
	b.do(b.session, "Page.navigate", map[string]any{"url": url}, nil)
	<-b.loaded
	return made.TargetID
}

func (b *minimalBrowser) evaluate(expression string) {
	b.Helper()
	b.do(b.session, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, nil)
}

func (b *minimalBrowser) do(session, method string, params, out any) {
	b.Helper()
	if err := b.client.Do(b.Context(), session, method, params, out); err != nil {
		b.Fatalf("%s: %v", method, err)
	}
}
