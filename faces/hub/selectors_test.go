package hub_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/internal/testing/hosttest"
)

func TestACallReachesTheRuntimeThatItNames(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/bridge/hub/selectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Calls []struct {
			Body          json.RawMessage
			Answers, Code string
		}
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	h := startHub(t, hub.Options{Strict: true})
	connect(t, h.Addr(), hosttest.New(
		hosttest.Tab(1, "https://shop.example/cart", "Cart"),
		hosttest.Tab(2, "https://shop.example/help", "Help desk"),
		hosttest.Tab(3, "https://xn--bcher-kva.example/%C3%BC", "Books"),
	), nil)
	waitRuntimes(t, h, 3)
	for _, c := range table.Calls {
		_, out := post(t, h.Addr(), "/mcp/tools/call", string(c.Body))
		if by, _ := out["runtime_id"].(string); by != c.Answers || code(out) != c.Code {
			t.Errorf("%s: answered by %q with code %q, want %q, %q", c.Body, by, code(out), c.Answers, c.Code)
		}
	}
	// A client that has chosen the active one has a selector.
	post(t, h.Addr(), "/mcp/tools/call", `{"name":"browser.active_tab.set","arguments":{"runtime_id":"rt-2"}}`)
	if _, out := post(t, h.Addr(), "/mcp/tools/call", `{"name":"echo"}`); out["runtime_id"] != "rt-2" {
		t.Errorf("after a choice: %v, want the one that was chosen", out)
	}
}
