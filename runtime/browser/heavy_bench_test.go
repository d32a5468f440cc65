package browser_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/launch"
)

// heavyPages are pages of testdata/drivers/heavy, each with a large library of npm.
var heavyPages = []struct{ file, name, library string }{
	{"aggrid", "AG Grid, 1,000 rows of 12 columns", "ag-grid-community"},
	{"handsontable", "Handsontable, 300 rows of 30 columns", "handsontable"},
	{"monaco", "Monaco, 5,000 lines", "monaco-editor"},
	{"swagger", "Swagger UI, 400 paths", "swagger-ui-dist"},
	{"grapesjs", "GrapesJS", "grapesjs"},
	{"three", "three.js, 15 meshes that turn", "three"},
}

// heavyOps are what is done on a page, in this order.
var heavyOps = []string{"navigate", "snapshot", "click", "fill"}

// left is what a page says when it is left.
type left struct {
	Clicks int
	Text   string
}

// heavyServer serves the pages, with the libraries that npm has installed in a folder. What a page says when it is left
// comes on the channel of the driver that had opened it.
func heavyServer(b *testing.B, packages string, heard map[string]chan left) string {
	pages := http.FileServer(http.Dir("../../testdata/drivers/heavy"))
	libraries := http.FileServer(http.Dir(filepath.Join(packages, "node_modules")))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/left":
			var said left
			if json.NewDecoder(r.Body).Decode(&said) == nil {
				heard[r.URL.Query().Get("by")] <- said
			}
		case r.URL.Path == "/blank":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><title>Blank</title><link rel=icon href=data:,>")
		case strings.Count(r.URL.Path, "/") == 1:
			pages.ServeHTTP(w, r)
		default:
			libraries.ServeHTTP(w, r)
		}
	}))
	b.Cleanup(server.Close)
	return server.URL
}

// heavyCell is what one server took for one thing on one page.
type heavyCell struct {
	times []time.Duration
	// counted is how often the page noted what the server had answered for, of how many.
	counted, of int
	failed      string
}

func (c *heavyCell) median() time.Duration {
	if len(c.times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(c.times))
	return sorted[len(sorted)/2]
}

// heavyRow is a page: a cell for each server and each of heavyOps, and how many characters a snapshot has.
type heavyRow struct {
	name  string
	cells [][]heavyCell
	sizes []string
}

// BenchmarkHeavy goes to heavy pages over MCP, looks, clicks and fills, with Outrider and with other servers, in turns
// that are shuffled in every round. Each server leaves the page at the end of its turn, and the page says then what
// was done on it. OUTRIDER_HEAVY names the page of Markdown that it writes; make bench-heavy sets that.
func BenchmarkHeavy(b *testing.B) {
	page, packages := os.Getenv("OUTRIDER_HEAVY"), os.Getenv("HEAVY_PACKAGES")
	if page == "" {
		b.Skip("OUTRIDER_HEAVY names no page to write: run make bench-heavy")
	}
	if packages == "" {
		b.Skip("npm is not there, or could not install the libraries of the pages")
	}
	servers := heavyServers(b, packages)
	heard := map[string]chan left{}
	for _, s := range servers {
		heard[s.name] = make(chan left, 1)
	}
	base := heavyServer(b, packages, heard)
	var rows []*heavyRow
	rounds := 0
	for _, p := range heavyPages {
		b.Run(p.name, func(b *testing.B) {
			row := &heavyRow{
				name:  p.name,
				cells: make([][]heavyCell, len(servers)),
				sizes: make([]string, len(servers)),
			}
			for i := range servers {
				row.cells[i] = make([]heavyCell, len(heavyOps))
			}
			warm := true // the first round fills the caches of browsers and servers
			rounds = 0
			turn := func() {
				for _, i := range rand.Perm(len(servers)) {
					s, address := servers[i], base+"/"+p.file+".html"
					if s.missing == "" {
						heavyTurn(b, s, address, row.cells[i], &row.sizes[i], heard[s.name], warm)
					}
				}
			}
			turn()
			warm = false
			for b.Loop() {
				turn()
				rounds++
			}
			b.ReportMetric(0, "ns/op")
			rows = append(rows, row)
			for i, s := range servers {
				for k, op := range heavyOps {
					b.ReportMetric(float64(row.cells[i][k].median().Microseconds())/1e3, "ms/"+op+"/"+s.name)
				}
			}
		})
	}
	if err := os.WriteFile(page, heavyMarkdown(b, servers, rows, rounds), 0o644); err != nil {
		b.Fatal(err)
	}
}

// heavyServers starts the servers, Outrider first.
func heavyServers(b *testing.B, packages string) []*driver {
	found, err := launch.Find("", "")
	if err != nil {
		b.Fatal(err)
	}
	modules := filepath.Join(packages, "node_modules")
	devTools := []string{
		"node", filepath.Join(modules, "chrome-devtools-mcp", "build", "src", "bin", "chrome-devtools-mcp.js"),
		"--headless", "--isolated", "--executablePath", found.Path, "--no-usage-statistics",
	}
	if os.Geteuid() == 0 {
		devTools = append(devTools, "--chromeArg=--no-sandbox")
	}
	absent := ""
	if os.Getenv("OUTRIDER_PROGRAM") == "" {
		absent = "its program was not built"
	}
	start := func(name, absent string, command ...string) *driver {
		return startDriver(b, name, absent, overMCP(command...)...)
	}
	servers := []*driver{
		start("Outrider", absent, os.Getenv("OUTRIDER_PROGRAM"), "mcp"),
		start("@playwright/mcp", "", playwrightMCP(b, packages)...),
		start("chrome-devtools-mcp", "", devTools...),
		start("agent-browser", "", "node", filepath.Join(modules, "agent-browser", "bin", "agent-browser.js"), "mcp"),
	}
	for _, s := range servers[1:] {
		s.version = packageVersion(packages, s.name)
	}
	return servers
}

// heavyTurn is the turn of one server on one page.
func heavyTurn(
	b *testing.B, s *driver, address string, cells []heavyCell, size *string, heard chan left, warm bool,
) {
	text := fmt.Sprintf("x%d", rand.IntN(1_000_000))
	done := map[string]bool{}
	lines := []string{"navigate " + address + "?by=" + url.QueryEscape(s.name), "look", "press", "write " + text}
	for i, line := range lines {
		took, err := s.time(line)
		if err != nil {
			b.Logf("%s: %s: %v", s.name, line, err)
			if !warm {
				cells[i].failed = "failed"
			}
			break
		}
		done[heavyOps[i]] = true
		if !warm {
			cells[i].times = append(cells[i].times, took)
		}
	}
	if done["snapshot"] {
		*size, _ = s.ask("size")
	}
	origin, _, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	if _, err := s.time("navigate http://" + origin + "/blank"); err != nil {
		b.Fatalf("%s: leaving the page: %v", s.name, err)
	}
	var said left
	if done["navigate"] {
		select {
		case said = <-heard:
		case <-time.After(time.Minute):
			b.Fatalf("%s: the page did not say that it was left", s.name)
		}
	}
	if warm {
		return
	}
	note := func(op string, happened bool) {
		c := &cells[slices.Index(heavyOps, op)]
		if done[op] {
			c.of++
			if happened {
				c.counted++
			}
		}
	}
	note("click", said.Clicks == 1)
	note("fill", said.Text == text)
}

// heavyMarkdown is the page of documentation.
func heavyMarkdown(b *testing.B, servers []*driver, rows []*heavyRow, rounds int) []byte {
	var out bytes.Buffer
	found, err := launch.Find("", "")
	if err != nil {
		b.Fatal(err)
	}
	fmt.Fprintf(&out, "# Heavy pages beside other servers\n\nPages with large libraries of npm, over MCP: go there, "+
		"take a snapshot, click a button and fill a field by the refs\nthat the snapshot has. The servers take turns, "+
		"and the turns are shuffled. `make bench-heavy` measures and writes this\npage.\n\n%s\n\n",
		strings.TrimSpace(os.Getenv("OUTRIDER_DRIVERS_ABOUT")))
	fmt.Fprintf(&out, "%s, headless, one for each server. Times are medians of %d rounds, in ms; the least is "+
		"bold.\nEach page counts the clicks and keeps the text: behind a time is how often the page had noted what "+
		"the server\nhad answered for, where that was not always. The servers have the settings that they begin "+
		"with.\n", programVersion(found.Path), rounds)
	for _, s := range servers {
		if s.missing != "" {
			fmt.Fprintf(&out, "%s is left out: %s.\n", s.name, s.missing)
		}
	}
	fmt.Fprint(&out, "\n| | |")
	for _, s := range servers {
		version, _, _ := strings.Cut(s.version, "-")
		fmt.Fprintf(&out, " %s |", strings.TrimSpace(s.name+" "+version))
	}
	fmt.Fprint(&out, "\n|---|---|"+strings.Repeat("---:|", len(servers))+"\n")
	for _, r := range rows {
		for k, op := range heavyOps {
			name := ""
			if k == 0 {
				name = r.name
			}
			fmt.Fprintf(&out, "| %s | %s |%s\n", name, op, r.line(k))
		}
		fmt.Fprint(&out, "| | characters of the snapshot |")
		for _, size := range r.sizes {
			if size == "" {
				size = "–"
			}
			fmt.Fprintf(&out, " %s |", size)
		}
		fmt.Fprintln(&out)
	}
	fmt.Fprint(&out, `
- A click of Outrider says what followed. The button changes an attribute of itself, so the answer waits until the page
  has not changed for 30 ms. agent-browser answers when the browser has taken the input.
- The field of AG Grid filters the grid, which takes the page 0.3 s. Outrider tells what is shown then.
- Outrider's navigation ends when nothing has been asked of the network for 120 ms, where scripts came last: an
  application fetches what it shows after its load.
- Before an act, large documents are looked through for shadow roots and layers, which takes 5 to 20 ms in those of the
  grids.
- Snapshots of Outrider are cut to what an agent can read, and say what is left out.
`)
	return out.Bytes()
}

// line are the cells of a row for one thing that is done.
func (r *heavyRow) line(op int) string {
	var least time.Duration
	for i := range r.cells {
		if m := r.cells[i][op].median(); m > 0 && (least == 0 || m < least) {
			least = m
		}
	}
	var out strings.Builder
	for i := range r.cells {
		c := &r.cells[i][op]
		text := "–"
		switch m := c.median(); {
		case m == 0 && c.failed != "":
			text = c.failed
		case m == least && m > 0:
			text = "**" + milliseconds(m) + "**"
		case m > 0:
			text = milliseconds(m)
		}
		if c.counted < c.of {
			text += fmt.Sprintf(" (%d of %d)", c.counted, c.of)
		}
		out.WriteString(" " + text + " |")
	}
	return out.String()
}
