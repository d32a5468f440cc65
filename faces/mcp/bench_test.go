package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/runtime"
)

// stdioClient connects a client over pipes, as over standard input and output.
func stdioClient(b testing.TB, host mcp.Host, tools string) *sdk.ClientSession {
	b.Helper()
	ctx := context.WithoutCancel(b.Context())
	server, err := mcp.New(ctx, mcp.Options{Host: host, NewID: newID, Version: "test", Tools: tools})
	if err != nil {
		b.Fatal(err)
	}
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.ServeStdio(ctx, toServer, fromServer)
	}()
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).
		Connect(ctx, &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cs.Close()
		_ = fromClient.Close()
		<-served
		_ = server.Close(ctx)
	})
	return cs
}

// What a tool costs over the primitive that it runs, call by call on the same
// page: the metric overhead-µs is the median of the differences.
func BenchmarkToolOverPrimitive(b *testing.B) {
	host := open(b, serve(b, `<p>hello</p>`))
	cs := stdioClient(b, host, "page.info")
	ctx := b.Context()
	var tool, primitive, over []time.Duration
	for b.Loop() {
		at := time.Now()
		if r, err := cs.CallTool(ctx, &sdk.CallToolParams{
			Name:      "page.info",
			Arguments: json.RawMessage(`{}`),
		}); err != nil || r.IsError {
			b.Fatal(r, err)
		}
		mid := time.Now()
		if r := host.Do(ctx, runtime.Call{ID: "x", Name: "page.info"}); r.Err != nil {
			b.Fatal(r.Err)
		}
		end := time.Now()
		tool = append(tool, mid.Sub(at))
		primitive = append(primitive, end.Sub(mid))
		over = append(over, mid.Sub(at)-end.Sub(mid))
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2].Nanoseconds()) / 1000
	}
	b.ReportMetric(median(tool), "tool-µs")
	b.ReportMetric(median(primitive), "primitive-µs")
	b.ReportMetric(median(over), "overhead-µs")
	b.ReportMetric(0, "ns/op")
}

// From the first byte of initialize to the last of tools/list.
func BenchmarkInitializeAndList(b *testing.B) {
	for b.Loop() {
		cs := stdioClient(b, dictionary{}, "core")
		if _, err := cs.ListTools(b.Context(), &sdk.ListToolsParams{}); err != nil {
			b.Fatal(err)
		}
	}
}

// What a large answer costs over the primitive that gives it: the outline of a page with
// 5,000 elements, and 1,000 records of a script, call by call, as overhead-ms, the median
// of the differences. The client reads lines and decodes nothing.
func BenchmarkLargeAnswer(b *testing.B) {
	var page strings.Builder
	for i := range 620 {
		fmt.Fprintf(&page, `<li><h3>Item %d</h3><a href="/items/%d">open item %d</a><span>%d EUR</span>`+
			`<p>Text that describes <b>item</b> %d</p><input type="checkbox" aria-label="Take item %d">`+
			`<button aria-expanded="false">More</button></li>`, i, i, i, i*7%1000, i, i)
	}
	host := open(b, serve(b, `<main><h1>Goods</h1><ul>`+page.String()+`</ul></main>`))
	for _, c := range []struct{ name, args string }{
		{"page.snapshot", `{"max_nodes":20000,"max_bytes":4000000}`},
		{"page.evaluate", `{"body":"return Array.from({length: 1000}, (_, i) => ({id: String(i), title: 'Item ' + i, ` +
			`url: 'https://shop.example/items/' + i, price: i * 7 % 1000 + ' EUR', about: 'Text that describes item ` +
			`' + i}))"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			call := lineClient(b, host, c.name)
			ctx := b.Context()
			size := len(call(c.name, c.args))
			var tool, primitive, over []time.Duration
			for b.Loop() {
				at := time.Now()
				if line := call(c.name, c.args); len(line) < size/2 || bytes.Contains(line, []byte(`"isError":true`)) {
					b.Fatalf("%.300s", line)
				}
				mid := time.Now()
				r := host.Do(ctx, runtime.Call{ID: "x", Name: c.name, Arguments: json.RawMessage(c.args)})
				if r.Err != nil {
					b.Fatal(r.Err)
				}
				end := time.Now()
				tool = append(tool, mid.Sub(at))
				primitive = append(primitive, end.Sub(mid))
				over = append(over, mid.Sub(at)-end.Sub(mid))
			}
			median := func(d []time.Duration) float64 {
				slices.Sort(d)
				return float64(d[len(d)/2].Nanoseconds()) / 1e6
			}
			b.ReportMetric(median(tool), "tool-ms")
			b.ReportMetric(median(primitive), "primitive-ms")
			b.ReportMetric(median(over), "overhead-ms")
			b.ReportMetric(float64(size)/1e3, "kB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// A page of 100,000 elements, whose outline would have 3 MB, within the default budget of
// an agent: the aim is 100 ms. flat has them side by side, nested in 2,000 parts.
func BenchmarkHugePage(b *testing.B) {
	row := `<h3>Item</h3><a href="/items">open item</a><span>7 EUR</span><p>Text that describes <b>an</b> item</p>` +
		`<input type="checkbox" aria-label="Take item"><button aria-expanded="false">More</button>`
	for _, c := range []struct{ name, page string }{
		{"flat", `<ul>` + strings.Repeat(`<li>`+row+`</li>`, 12_500) + `</ul>`},
		{"nested", strings.Repeat(`<section><ul>`+strings.Repeat(`<li>`+row+`</li>`, 6)+`</ul></section>`, 2_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			call := lineClient(b, open(b, serve(b, `<main><h1>Goods</h1>`+c.page+`</main>`)), "core")
			call("snapshot", `{}`) // the first one installs the page library
			var times []time.Duration
			for b.Loop() {
				at := time.Now()
				if line := call("snapshot", `{}`); !bytes.Contains(line, []byte(`"elements":9`)) {
					b.Fatalf("it does not say what is left: %.600s", line)
				}
				times = append(times, time.Since(at))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1e3, "ms")
			b.ReportMetric(float64(times[0].Microseconds())/1e3, "ms/fastest")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// lineClient is a client that speaks lines, as over standard input and output. call
// returns the line that answers a call of a tool, until the next one.
func lineClient(tb testing.TB, host mcp.Host, tools string) (call func(tool, args string) []byte) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	server, err := mcp.New(ctx, mcp.Options{Host: host, NewID: newID, Version: "test", Tools: tools})
	if err != nil {
		tb.Fatal(err)
	}
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.ServeStdio(ctx, toServer, fromServer)
	}()
	tb.Cleanup(func() {
		_ = fromClient.Close()
		_ = toClient.Close()
		<-served
		_ = server.Close(ctx)
	})
	lines := bufio.NewReaderSize(toClient, 4<<20)
	id := 0
	ask := func(method, params string) []byte {
		id++
		want := fmt.Appendf(nil, `"id":%d`, id)
		fmt.Fprintf(fromClient, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		for {
			line, err := lines.ReadSlice('\n')
			if err != nil {
				tb.Fatal(err)
			}
			if bytes.Contains(line[:min(len(line), 60)], want) {
				return line
			}
		}
	}
	ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"lines","version":"1"}}`)
	fmt.Fprintln(fromClient, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return func(tool, args string) []byte {
		return ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	}
}
