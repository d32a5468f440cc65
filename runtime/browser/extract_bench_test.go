package browser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/projection"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime/browser"
)

// extractPage has n rows of four fields.
const extractPage = `<!doctype html><title>Rows</title><body><script>
const row = i => '<div class="row" data-id="' + i + '"><h3>Item ' + i + '</h3><a href="/items/' + i + '">open</a><span class="price">' + (i * 7 %% 1000) + ' EUR</span><p>Text that describes item ' + i + '</p></div>';
document.body.insertAdjacentHTML('beforeend', Array.from({length: %d}, (_, i) => row(i)).join(''));
</script>`

const extractProjection = `{"name":"bench","snapshot":{"version":1,"source":"dom","extract":[{"id":"rows","selector":".row","fields":{
	"id":{"attribute":"data-id"},"title":{"selector":"h3","property":"textContent"},
	"url":{"selector":"a","attribute":"href"},"price":{"selector":".price","property":"textContent"}}}],
	"projection":{"language":"jsonata","expression":"{'rows': records.rows.(title & ', ' & price)}"}}}`

const extractFloor = `JSON.stringify({rows: Array.from(document.querySelectorAll('.row'), e => ({id: e.getAttribute('data-id'),
	title: e.querySelector('h3').textContent, url: e.querySelector('a').getAttribute('href'), price: e.querySelector('.price').textContent}))})`

// BenchmarkExtract compares a projection with the least that reads the same
// records: one evaluate that gives them as a string. "extract" ends where that
// does, with the records as JSON text in this process; "read" continues to a state
// that uses all of them, with its hash. The two sides take turns.
func BenchmarkExtract(b *testing.B) {
	extract, read, _ := extractWays(b)
	besideExtract(b, "extract 1000 records of 4 fields", 1_000, extract)
	besideExtract(b, "extract 10000 records of 4 fields", 10_000, extract)
	besideExtract(b, "read 1000 records of 4 fields", 1_000, read)
}

// BenchmarkTable is BenchmarkExtract for a large table, and for a state that is all of it, with names and hash.
func BenchmarkTable(b *testing.B) {
	extract, _, whole := extractWays(b)
	besideExtract(b, "extract 100000 records of 4 fields", 100_000, extract)
	for _, rows := range []int{1_000, 10_000, 100_000} {
		besideExtract(b, fmt.Sprintf("read all %d records of 4 fields", rows), rows, whole)
	}
}

// way is one way to the rows of a page. It says how many bytes they have.
type way func(context.Context, *browser.Tab) (int, error)

// extractWays are those of a projection: the records, a state that is made of all of them, and one that has them all.
func extractWays(b *testing.B) (extract, read, whole way) {
	engine, err := expr.New("", nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = engine.Close() })
	compile := func(declaration string) *projection.Projection {
		p, problems := projection.Compile(json.RawMessage(declaration), engine)
		if len(problems) > 0 {
			b.Fatal(problems)
		}
		return p
	}
	p := compile(extractProjection)
	table := compile(strings.Replace(
		extractProjection, `{'rows': records.rows.(title & ', ' & price)}`, `{'rows': records.rows}`, 1,
	))
	most := projection.MostLimits(0)
	extract = func(ctx context.Context, tab *browser.Tab) (int, error) {
		records, _, err := p.Records(ctx, tab, most)
		if err != nil {
			return 0, err
		}
		return len(records), nil
	}
	read = func(ctx context.Context, tab *browser.Tab) (int, error) {
		s, err := p.Read(ctx, tab, projection.ReadOptions{})
		if err != nil {
			return 0, err
		}
		return len(s.Records), nil
	}
	whole = func(ctx context.Context, tab *browser.Tab) (int, error) {
		s, err := table.Read(ctx, tab, projection.ReadOptions{
			Limits:          most,
			ExpressionBytes: most.Bytes,
			MaxBytes:        most.Bytes,
		})
		if err != nil {
			return 0, err
		}
		return len(s.State), nil
	}
	return extract, read, whole
}

// besideExtract times a way beside the floor.
func besideExtract(b *testing.B, name string, rows int, way way) {
	b.Run(name, func(b *testing.B) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, extractPage, rows)
		}))
		defer server.Close()
		tab := browsertest.Tab(b)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		if _, err := tab.Navigate(
			ctx, primitives.NavigateOptions{URL: server.URL, LoadTimeout: time.Minute},
		); err != nil {
			b.Fatal(err)
		}
		var ours, floor []time.Duration
		size, want := 0, 0
		sides := []func() error{
			func() error {
				start := time.Now()
				n, err := way(ctx, tab)
				ours, size = append(ours, time.Since(start)), n
				return err
			},
			func() error {
				start := time.Now()
				raw, err := tab.Floor(ctx, browser.EvaluateString(extractFloor))
				if err != nil {
					return err
				}
				text, err := browser.StringResult(raw)
				floor, want = append(floor, time.Since(start)), len(text)
				return err
			},
		}
		for b.Loop() {
			for _, side := range sides {
				if err := side(); err != nil {
					b.Fatal(err)
				}
			}
			if size != want {
				b.Fatalf("%d bytes were extracted, the floor has %d", size, want)
			}
			slices.Reverse(sides) // who comes second pays for the first one's garbage
		}
		sum := func(list []time.Duration) (total time.Duration) {
			for _, d := range list {
				total += d
			}
			return total
		}
		b.ReportMetric(float64(sum(ours).Microseconds())/float64(len(ours)), "µs/ours")
		b.ReportMetric(float64(sum(floor).Microseconds())/float64(len(floor)), "µs/floor")
		b.ReportMetric(float64(sum(ours))/float64(sum(floor)), "ratio")
		slices.Sort(ours)
		slices.Sort(floor)
		b.ReportMetric(float64(ours[len(ours)/2])/float64(floor[len(floor)/2]), "ratio-of-medians")
		b.ReportMetric(float64(ours[len(ours)/10])/float64(floor[len(floor)/10]), "ratio-of-fastest")
		b.ReportMetric(0, "ns/op")
	})
}

// BenchmarkRecords compares other ways to the same records with the same floor: a script
// that returns them as they are, and browser.extract_elements.
func BenchmarkRecords(b *testing.B) {
	const script = `return Array.from(document.querySelectorAll('.row'), e => ({id: e.getAttribute('data-id'),
		title: e.querySelector('h3').textContent, url: e.querySelector('a').getAttribute('href'), price: e.querySelector('.price').textContent}))`
	body, err := json.Marshal(map[string]string{"body": script})
	if err != nil {
		b.Fatal(err)
	}
	const elements = `{"item_selector":".row","include":"all","fields":[{"name":"id","attribute":"data-id"},` +
		`{"name":"title","selector":"h3"},` +
		`{"name":"url","selector":"a","attribute":"href"},{"name":"price","selector":".price"}]}`
	for _, rows := range []int{1_000, 10_000} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, extractPage, rows)
		}))
		defer server.Close()
		tab := browsertest.Tab(b)
		for _, c := range []struct{ name, primitive, args string }{
			{"evaluate by value", "page.evaluate", string(body)},
			{"extract_elements", "browser.extract_elements", elements},
		} {
			b.Run(fmt.Sprintf("%s %d", c.name, rows), func(b *testing.B) {
				p := &benchTab{b: b, ctx: b.Context(), reg: catalog.Standard(), base: server.URL, tab: tab}
				p.at("/")
				ours := func() {
					if out := p.invoke(c.primitive, c.args); bytes.Count(out, []byte(`"price"`)) != rows {
						b.Fatalf("not %d records: %.200s", rows, out)
					}
				}
				base := func() { p.ask(extractFloor) }
				ours()
				base()
				beside(b, ours, base)
			})
		}
	}
}

// BenchmarkAnswer measures how one answer of the page library grows with its
// size: whether a large one should be cut into pieces.
func BenchmarkAnswer(b *testing.B) {
	for _, kb := range []int{64, 1024, 8000} {
		b.Run(fmt.Sprintf("%d KB", kb), func(b *testing.B) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, `<!doctype html><p hidden></p><script>document.querySelector('p').textContent = 'a `+
					`"quoted" text of the page '.repeat(%d)</script>`, kb*1000/28)
			}))
			defer server.Close()
			tab := browsertest.Tab(b)
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
			defer cancel()
			if _, err := tab.Navigate(
				ctx, primitives.NavigateOptions{URL: server.URL, LoadTimeout: time.Minute},
			); err != nil {
				b.Fatal(err)
			}
			const plan = `{"extract":[[0,{"id":"p","selector":"p"}]],"limits":{"nodes":200000,"bytes":16777216,` +
				`"time_ms":60000,"diagnostics":1000}}`
			for b.Loop() {
				var answer json.RawMessage
				if err := tab.Call(ctx, "", "extract_plan", json.RawMessage(plan), &answer); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(answer)))
			}
		})
	}
}
