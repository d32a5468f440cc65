package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/outrider-run/outrider/runtime"
)

// What an agent waits for over MCP, in turns with the fewest messages of the browser's own protocol that do the same on
// the same tab. The page answers nothing to what is done, so an act has nothing to wait for.
func BenchmarkPeerMCP(b *testing.B) {
	address := serve(b, `<button id=b>Idle</button><label>Name <input id=i></label>`)
	host := open(b, address)
	call := lineClient(b, host, "core")
	raw := func(method, params string) []byte {
		out, err := host.Protocol(b.Context(), runtime.Target{}, method, []byte(params))
		if err != nil {
			b.Fatal(method, err)
		}
		return out
	}
	tool := func(name, args string) {
		if line := call(name, args); bytes.Contains(line, []byte(`"isError":true`)) {
			b.Fatalf("%.600s", line)
		}
	}
	press := func() {
		var at struct{ Result struct{ Value [2]float64 } }
		box := raw("Runtime.evaluate", `{"expression":"r=b.getBoundingClientRect();[r.x+r.width/2,`+
			`r.y+r.height/2]","returnByValue":true}`)
		if err := json.Unmarshal(box, &at); err != nil {
			b.Fatal(err)
		}
		x, y := at.Result.Value[0], at.Result.Value[1]
		for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
			raw("Input.dispatchMouseEvent", fmt.Sprintf(
				`{"type":%q,"x":%g,"y":%g,"button":"left","clickCount":1}`, kind, x, y,
			))
		}
	}
	write := func() {
		raw("Runtime.evaluate", `{"expression":"i.focus();i.select()"}`)
		raw("Input.insertText", `{"text":"twenty-four characters !"}`)
		raw("Runtime.evaluate", `{"expression":"i.value"}`)
	}
	visit := func() {
		raw("Page.navigate", fmt.Sprintf(`{"url":%q}`, address))
		raw("Runtime.evaluate", `{"expression":"new Promise(done=>document.readyState==='complete'?done():`+
			`addEventListener('load',()=>done()))","awaitPromise":true}`)
	}
	const (
		click = `{"action":"click","locator":{"role":"button","name":"Idle"}}`
		fill  = `{"action":"fill","locator":{"label":"Name"},"text":"twenty-four characters !"}`
	)
	steps := "["
	for i := range 25 {
		steps += `{"act":` + []string{click, fill}[i%2] + `}` + []string{",", ""}[i/24]
	}
	steps += "]"
	for _, row := range []struct {
		name  string
		ours  func()
		floor func()
	}{
		{"navigate", func() { tool("tabs", fmt.Sprintf(`{"action":"navigate","url":%q}`, address)) }, visit},
		{"act click", func() { tool("act", click) }, press},
		{"act fill", func() { tool("act", fill) }, write},
		{"25 steps", func() { tool("act", `{"steps":`+steps+`}`) }, func() {
			for i := range 25 {
				[]func(){press, write}[i%2]()
			}
		}},
	} {
		b.Run(row.name, func(b *testing.B) {
			var ours, floor []time.Duration
			row.ours()
			row.floor()
			for b.Loop() {
				began := time.Now()
				row.ours()
				middle := time.Now()
				row.floor()
				ours = append(ours, middle.Sub(began))
				floor = append(floor, time.Since(middle))
			}
			slices.Sort(ours)
			slices.Sort(floor)
			ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
			b.ReportMetric(ms(ours[len(ours)/2]), "ms/ours")
			b.ReportMetric(ms(floor[len(floor)/2]), "ms/floor")
			b.ReportMetric(float64(ours[len(ours)/2])/float64(floor[len(floor)/2]), "ratio")
			b.ReportMetric(float64(ours[len(ours)/10])/float64(floor[len(floor)/10]), "ratio-of-fastest")
			b.ReportMetric(0, "ns/op")
		})
	}
}
