package browser_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/projection"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

// A driver is a program that does one operation for each line, see testdata/drivers.
type driver struct {
	name, version, missing string   // missing is why it does not take part
	does                   []string // the operations that it has; nil for one that says so itself
	in                     io.Writer
	out                    *bufio.Scanner
}

// startDriver starts the program of a driver. One that is not there, or does not start, is left out with a reason.
func startDriver(b *testing.B, name, absent string, command ...string) *driver {
	d := &driver{name: name}
	if absent != "" {
		d.missing = absent
		return d
	}
	cmd := exec.Command(command[0], command[1:]...)
	found, err := launch.Find("", "")
	if err != nil {
		b.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "OUTRIDER_BROWSER="+found.Path)
	cmd.Stderr = b.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.missing = err.Error()
		return d
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	d.in, d.out = in, bufio.NewScanner(out)
	d.version, err = d.ask("version")
	if err != nil {
		d.missing = err.Error()
	}
	return d
}

func (d *driver) ask(line string) (string, error) {
	fmt.Fprintln(d.in, line)
	if !d.out.Scan() {
		return "", errors.New("it ended")
	}
	answer := d.out.Text()
	if reason, ok := strings.CutPrefix(answer, "error: "); ok {
		return "", errors.New(reason)
	}
	return answer, nil
}

// errNoSuch says that a driver has nothing for an operation.
var errNoSuch = errors.New("none")

func (d *driver) time(line string) (time.Duration, error) {
	answer, err := d.ask(line)
	if err != nil {
		return 0, err
	}
	if answer == "none" {
		return 0, errNoSuch
	}
	ms, err := strconv.ParseFloat(answer, 64)
	return time.Duration(ms * float64(time.Millisecond)), err
}

// BenchmarkDrivers does what drivers are used for with raw CDP, with Outrider and with others, in turns that are
// shuffled in every round. The others have a browser of their own each, from the same program. OUTRIDER_DRIVERS names
// the page of Markdown that it writes; make bench-drivers sets that and prepares the others.
func BenchmarkDrivers(b *testing.B) {
	page := os.Getenv("OUTRIDER_DRIVERS")
	if page == "" {
		b.Skip("OUTRIDER_DRIVERS names no page to write: run make bench-drivers")
	}
	absent := func(variable, reason string) string {
		if os.Getenv(variable) != "" {
			return ""
		}
		return reason
	}
	others := []*driver{
		startDriver(
			b, "chromedp", absent("OUTRIDER_CHROMEDP", "its program was not built"), os.Getenv("OUTRIDER_CHROMEDP"),
		),
		startDriver(
			b,
			"Playwright", absent("PLAYWRIGHT_DIR", "npm is not there, or could not install it"),
			"node", "../../testdata/drivers/playwright.mjs",
		),
		startDriver(
			b, "Outrider over MCP", absent("OUTRIDER_PROGRAM", "its program was not built"),
			overMCP(os.Getenv("OUTRIDER_PROGRAM"), "mcp")...,
		),
		startDriver(
			b, "@playwright/mcp", absent("PLAYWRIGHT_DIR", "npm is not there, or could not install it"),
			overMCP(playwrightMCP(b, os.Getenv("PLAYWRIGHT_DIR"))...)...,
		),
	}
	others[3].version = packageVersion(os.Getenv("PLAYWRIGHT_DIR"), others[3].name)
	for _, server := range others[2:] {
		server.does = []string{"navigate", "first", "click", "fill", "snapshot", "cold"}
	}
	commands := []*driver{
		byCommand(b, "outrider by command", absent("OUTRIDER_PROGRAM", "its program was not built"), "outrider",
			os.Getenv("OUTRIDER_PROGRAM")),
	}
	for _, name := range []string{"playwright-cli", "agent-browser"} {
		commands = append(commands, byCommand(
			b, name, absent("PLAYWRIGHT_DIR", "npm is not there, or could not install it"), name,
			filepath.Join(os.Getenv("PLAYWRIGHT_DIR"), "node_modules", ".bin", name),
		))
	}
	others = append(others, commands...)
	base := peerServer(b)
	p := &benchTab{b: b, ctx: b.Context(), reg: catalog.Standard(), base: base, tab: browsertest.Tab(b)}
	table := &driverTable{}
	run := func(name, path, op string, ours, floor func() time.Duration) {
		b.Run(name, func(b *testing.B) {
			p.b = b
			row := driverRow{
				name:   name,
				times:  make([][]time.Duration, 2+len(others)),
				failed: make([]string, len(others)),
			}
			if path != "" {
				p.at(path)
				ours()
				floor()
			}
			for i, d := range others {
				operation, _, _ := strings.Cut(op, " ")
				if d.missing != "" || d.does != nil && !slices.Contains(d.does, operation) {
					row.failed[i] = "–"
					continue
				}
				var err error
				if path != "" {
					_, err = d.time("open " + base + path)
				}
				if err == nil {
					_, err = d.time(op)
				}
				if errors.Is(err, errNoSuch) {
					row.failed[i] = "–"
				} else if err != nil {
					b.Logf("%s: %s: %v", d.name, op, err)
					row.failed[i] = "failed"
				}
			}
			for b.Loop() {
				for _, side := range rand.Perm(len(row.times)) {
					var took time.Duration
					switch {
					case side == 0:
						took = floor()
					case side == 1:
						took = ours()
					case row.failed[side-2] != "":
						continue
					default:
						var err error
						took, err = others[side-2].time(op)
						if err != nil {
							b.Logf("%s: %s: %v", others[side-2].name, op, err)
							row.failed[side-2] = "failed"
							continue
						}
					}
					row.times[side] = append(row.times[side], took)
				}
			}
			b.ReportMetric(0, "ns/op")
			for i, name := range append([]string{"floor", "ours"}, names(others)...) {
				if len(row.times[i]) > 0 {
					b.ReportMetric(float64(row.median(i).Microseconds())/1e3, "ms/"+strings.ReplaceAll(name, " ", "-"))
				}
			}
			table.rounds = len(row.times[0])
			table.rows = append(table.rows, row)
		})
	}
	timed := func(f func()) func() time.Duration {
		return func() time.Duration {
			start := time.Now()
			f()
			return time.Since(start)
		}
	}
	// then is f, and what comes after it untimed.
	then := func(f, after func()) func() time.Duration {
		return func() time.Duration {
			took := timed(f)()
			after()
			return took
		}
	}
	idle := func() { p.ask(`''`) }
	run(
		"navigate until load", "/", "navigate "+base+"/",
		then(func() { p.at("/") }, idle), then(func() { p.navigateFloor("/") }, idle),
	)
	run(
		"navigate, 20 frames", "/frames", "navigate "+base+"/frames",
		then(func() { p.at("/frames") }, idle), then(func() { p.navigateFloor("/frames") }, idle),
	)
	snapshot := func() { p.invoke("page.snapshot", `{"max_nodes":20000,"max_bytes":4000000}`) }
	for _, c := range []struct{ name, path string }{
		{"first snapshot of a form", "/form"}, {"first snapshot of 20 frames", "/frames"},
	} {
		run(c.name, c.path, "first "+base+c.path, func() time.Duration {
			p.at(c.path)
			return timed(snapshot)()
		}, func() time.Duration {
			p.navigateFloor(c.path)
			return timed(func() { p.ask(snapshotFloor) })()
		})
	}
	run("click", "/", "click", timed(func() {
		p.invoke("pointer.click", `{"locator":{"selector":"#go"}}`)
	}), timed(p.clickFloor))
	filled := func() {
		v := p.ask(`(() => { const e = document.querySelector('#name'), v = e.value; e.value = ''; return v })()`)
		if v != peerText {
			p.b.Fatalf("the field has %q", v)
		}
	}
	run("fill 24 characters", "/", "fill", then(func() {
		p.invoke("text.insert", `{"target":{"selector":"#name"},"text":"`+peerText+`","mode":"replace"}`)
	}, filled), then(func() {
		p.ask(`(() => { const e = document.querySelector('#name'); e.focus(); e.select(); return '' })()`)
		p.floor(browser.RawCommand{Method: "Input.insertText", Params: `{"text":"` + peerText + `"}`})
	}, filled))
	run("type 24 characters, a key each", "/", "type", then(func() {
		p.invoke("text.type", `{"locator":{"selector":"#name"},"text":"`+peerText+`","trusted":true}`)
	}, filled), then(func() {
		p.ask(`(() => { document.querySelector('#name').focus(); return '' })()`)
		p.floor(browser.TypeText(peerText)...)
	}, filled))
	run("evaluate 1+1", "/", "evaluate", timed(func() {
		p.invoke("page.evaluate", `{"body":"return 1+1"}`)
	}), timed(func() {
		p.floor(browser.RawCommand{Method: "Runtime.evaluate", Params: `{"expression":"1+1","returnByValue":true}`})
	}))
	engine, err := expr.New("", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer engine.Close()
	extract, problems := projection.Compile(json.RawMessage(extractProjection), engine)
	if extract == nil {
		b.Fatal(problems)
	}
	for _, rows := range []int{1_000, 10_000} {
		run(fmt.Sprintf(
			"extract %d records", rows,
		), fmt.Sprintf("/rows/%d", rows), fmt.Sprintf("extract %d", rows), timed(func() {
			records, _, err := extract.Records(p.ctx, p.tab, projection.MostLimits(0))
			if err != nil || bytes.Count(records, []byte(`"price"`)) != rows {
				p.b.Fatalf("%v: %.200s", err, records)
			}
		}), timed(func() {
			if got := p.ask(extractFloor); strings.Count(got, `"price"`) != rows {
				p.b.Fatalf("%.200s", got)
			}
		}))
	}
	run(
		"snapshot of 5,000 elements", "/goods", "snapshot",
		timed(snapshot), timed(func() { p.ask(snapshotFloor) }),
	)
	run("picture, JPEG", "/high", "picture", timed(func() {
		p.invoke("browser.screenshot", `{"format":"jpeg","quality":80}`)
	}), timed(func() {
		p.floor(browser.RawCommand{Method: "Page.captureScreenshot", Params: `{"format":"jpeg","quality":80}`})
	}))
	since := func(end time.Time, said string) time.Duration {
		ms, err := strconv.ParseFloat(said, 64)
		if err != nil {
			p.b.Fatal(err)
		}
		return end.Sub(time.UnixMicro(int64(ms * 1e3)))
	}
	run("late element, after it appears", "/late", "late", func() time.Duration {
		p.ask(`later()`)
		p.invoke("locator.wait_for", `{"locator":{"selector":"#late"},"timeout_ms":10000}`)
		end := time.Now()
		return since(end, p.ask(`String(since)`))
	}, func() time.Duration {
		said := p.promised(peerLate)
		return since(time.Now(), said)
	})
	found, err := launch.Find("", "")
	if err != nil {
		b.Fatal(err)
	}
	run("start until a page has loaded", "", "cold "+base+"/", func() time.Duration {
		start := time.Now()
		br, err := browser.Launch(p.ctx, browsertest.Options())
		if err != nil {
			p.b.Fatal(err)
		}
		defer br.Close(p.ctx)
		if _, err := br.NewTab(p.ctx, base+"/", browser.TabOptions{}); err != nil {
			p.b.Fatal(err)
		}
		return time.Since(start)
	}, func() time.Duration {
		start := time.Now()
		end := rawColdStart(b, found.Path, base+"/")
		took := time.Since(start)
		end()
		return took
	})
	if err := os.WriteFile(page, table.markdown(found.Path, others), 0o644); err != nil {
		b.Fatal(err)
	}
}

// overMCP is the command of a driver that works with an MCP server.
func overMCP(server ...string) []string {
	return append([]string{"node", "../../testdata/drivers/mcp.mjs"}, server...)
}

// playwrightMCP is the command of Playwright's server, which npm has installed in a folder.
func playwrightMCP(b *testing.B, folder string) []string {
	found, err := launch.Find("", "")
	if err != nil {
		b.Fatal(err)
	}
	command := []string{
		"node", filepath.Join(folder, "node_modules", "@playwright", "mcp", "cli.js"),
		"--headless", "--isolated", "--executable-path", found.Path,
	}
	if os.Geteuid() == 0 {
		command = append(command, "--no-sandbox")
	}
	return command
}

// packageVersion is the version of a package that npm has installed in a folder: servers may tell that of what they are
// made of.
func packageVersion(folder, name string) string {
	var p struct{ Version string }
	text, err := os.ReadFile(filepath.Join(folder, "node_modules", filepath.FromSlash(name), "package.json"))
	if err != nil || json.Unmarshal(text, &p) != nil {
		return ""
	}
	return p.Version
}

// byCommand is a program that is run anew for each operation, and has a session that stays.
func byCommand(b *testing.B, name, absent, kind, program string) *driver {
	found, err := launch.Find("", "")
	if err != nil {
		b.Fatal(err)
	}
	d := startDriver(b, name, absent, "node", "../../testdata/drivers/shell.mjs", kind, program, found.Path)
	d.does = []string{"click"}
	return d
}

func names(drivers []*driver) []string {
	var out []string
	for _, d := range drivers {
		out = append(out, d.name)
	}
	return out
}

type driverRow struct {
	name   string
	times  [][]time.Duration // the floor, ours, the others
	failed []string          // of the others: what stands in place of a time
}

func (r *driverRow) median(side int) time.Duration {
	sorted := slices.Sorted(slices.Values(r.times[side]))
	return sorted[len(sorted)/2]
}

type driverTable struct {
	rows   []driverRow
	rounds int
}

func (t *driverTable) markdown(program string, others []*driver) []byte {
	var out bytes.Buffer
	version := programVersion(program)
	fmt.Fprintf(&out, "# Beside other drivers\n\nThe same work in raw CDP, with Outrider and with other drivers, in "+
		"one run whose turns are shuffled.\n"+
		"`make bench-drivers` measures and writes this page.\n\n%s\n\n",
		strings.TrimSpace(os.Getenv("OUTRIDER_DRIVERS_ABOUT")))
	fmt.Fprintf(&out, "%s, headless: one for raw CDP and Outrider, and one for each other. Times are medians of\n"+
		"%d rounds, in ms. In brackets is the ratio to raw CDP, which is the fewest messages that do the work, "+
		"without any\n"+
		"check.\n", version, t.rounds)
	for _, d := range others {
		if d.missing != "" {
			fmt.Fprintf(&out, "%s is left out: %s.\n", d.name, d.missing)
		}
	}
	fmt.Fprint(&out, "\n| | raw CDP | Outrider |")
	for _, d := range others {
		version, _, _ := strings.Cut(d.version, "-") // that of a build without a release is long
		fmt.Fprintf(&out, " %s |", strings.TrimSpace(d.name+" "+version))
	}
	fmt.Fprint(&out, "\n|---|---:|---:|"+strings.Repeat("---:|", len(others))+"\n")
	for _, r := range t.rows {
		fmt.Fprintf(&out, "| %s |", r.name)
		floor := r.median(0)
		for side := range r.times {
			switch {
			case side > 1 && r.failed[side-2] != "":
				fmt.Fprintf(&out, " %s |", r.failed[side-2])
			case side == 0:
				fmt.Fprintf(&out, " %s |", milliseconds(floor))
			default:
				fmt.Fprintf(&out, " %s (%.2f) |", milliseconds(r.median(side)), float64(r.median(side))/float64(floor))
			}
		}
		fmt.Fprintln(&out)
	}
	fmt.Fprint(&out, `
- *Extract* is a projection in Outrider, and an evaluate that gives a list of objects in the others. The raw one gives
  one text.
- *Fill* puts the text in at once, *type* sends a key for each character. chromedp has no fill.
- *Snapshot* is `+
		"`page.snapshot`, `ariaSnapshot` of Playwright and the browser's accessibility tree as chromedp gives it"+`.
  The raw one is a walk of the page in one evaluate.
- *First snapshot* is the first call in a document that a navigation has just brought.
- Over MCP a call goes to a server of its own process: `+"`outrider mcp`"+` and Playwright's. There a click says what
  followed, and Outrider waits for that; a snapshot is cut to what an agent can read.
- By command a click is one run of the program, from its start to its end, in a session that stays.
- *Late element* is the time from the insertion of an element to the answer of the call that waits for it.
- Playwright waits for `+"`load`"+
		` and for the actions that a click starts. Outrider does a hit test before and during it.
`)
	return out.Bytes()
}

// programVersion is the name and the version of a browser's program.
func programVersion(program string) string {
	said, err := exec.Command(program, "--version").Output()
	if err != nil {
		return "Chromium of an unknown version"
	}
	version := strings.TrimSpace(string(said))
	if name, number, ok := strings.Cut(version, " "); ok {
		number, _, _ = strings.Cut(number, " ")
		version = name + " " + number
	}
	return version
}

func milliseconds(d time.Duration) string {
	ms := float64(d.Microseconds()) / 1e3
	if ms < 10 {
		return fmt.Sprintf("%.2f", ms)
	}
	return fmt.Sprintf("%.0f", ms)
}
