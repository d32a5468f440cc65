package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/bridgeclient/mcp"
	"github.com/outrider-run/outrider/runtime"
)

// stdioClient connects a client over pipes, as over standard input and output.
func stdioClient(b *testing.B, host mcp.Host, tools string) *sdk.ClientSession {
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
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
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
		if r, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "page.info", Arguments: json.RawMessage(`{}`)}); err != nil || r.IsError {
			b.Fatal(r, err)
		}
		mid := time.Now()
		if r := host.Do(ctx, runtime.Call{ID: "x", Name: "page.info"}); r.Err != nil {
			b.Fatal(r.Err)
		}
		end := time.Now()
		tool, primitive, over = append(tool, mid.Sub(at)), append(primitive, end.Sub(mid)), append(over, mid.Sub(at)-end.Sub(mid))
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

// What a large answer costs over the primitive that gives it: 190 kB of a page with
// 5,000 elements, call by call, as overhead-ms, the median of the differences.
func BenchmarkLargeAnswer(b *testing.B) {
	var page strings.Builder
	for i := range 620 {
		fmt.Fprintf(&page, `<li><h3>Item %d</h3><a href="/items/%d">open item %d</a><span>%d EUR</span><p>Text that describes <b>item</b> %d</p><input type="checkbox" aria-label="Take item %d"><button aria-expanded="false">More</button></li>`, i, i, i, i*7%1000, i, i)
	}
	host := open(b, serve(b, `<main><h1>Goods</h1><ul>`+page.String()+`</ul></main>`))
	cs := stdioClient(b, host, "page.snapshot")
	ctx := b.Context()
	args := json.RawMessage(`{"max_nodes":20000,"max_bytes":4000000}`)
	var tool, primitive, over []time.Duration
	for b.Loop() {
		at := time.Now()
		if r, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "page.snapshot", Arguments: args}); err != nil || r.IsError {
			b.Fatal(r, err)
		}
		mid := time.Now()
		if r := host.Do(ctx, runtime.Call{ID: "x", Name: "page.snapshot", Arguments: args}); r.Err != nil {
			b.Fatal(r.Err)
		}
		end := time.Now()
		tool, primitive, over = append(tool, mid.Sub(at)), append(primitive, end.Sub(mid)), append(over, mid.Sub(at)-end.Sub(mid))
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2].Nanoseconds()) / 1e6
	}
	b.ReportMetric(median(tool), "tool-ms")
	b.ReportMetric(median(primitive), "primitive-ms")
	b.ReportMetric(median(over), "overhead-ms")
	b.ReportMetric(0, "ns/op")
}
