package mcp_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Large answers take a way of their own through the SDK, several at a time. Both forms
// of each must say what a small answer would.
func TestLargeAnswersAreWhole(t *testing.T) {
	cs := stdioClient(t, open(t, serve(t, `<p>hello</p>`)), "page.evaluate")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			odd := fmt.Sprintf(`%d "quoted" \ </script> & é 😀 `+"\u2028\x01\n\t", i)
			script, _ := json.Marshal(
				"return Array(3000).fill(" + string(must(json.Marshal(odd))) + ").map((text, i) => ({i, text}))",
			)
			r, err := cs.CallTool(t.Context(), &sdk.CallToolParams{
				Name:      "page.evaluate",
				Arguments: json.RawMessage(`{"body":` + string(script) + `}`),
			})
			if err != nil || r.IsError {
				t.Errorf("%v %v", r, err)
				return
			}
			type result struct {
				Page  string
				Type  string
				Value []struct {
					I    int
					Text string
				}
			}
			check := func(form string, raw []byte) {
				var got result
				if err := json.Unmarshal(raw, &got); err != nil {
					t.Errorf("%s: %v in %.200s", form, err, raw)
					return
				}
				if len(got.Value) != 3000 || got.Page == "" || got.Type != "object" {
					t.Errorf("%s: %d rows of page %q, type %q", form, len(got.Value), got.Page, got.Type)
					return
				}
				for n, row := range got.Value {
					if row.I != n || row.Text != odd {
						t.Errorf("%s: row %d is %+v, want %q", form, n, row, odd)
						return
					}
				}
			}
			check("structured content", must(json.Marshal(r.StructuredContent)))
			text := r.Content[0].(*sdk.TextContent).Text
			check("text", []byte(text))
		})
	}
	all.Wait()
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
