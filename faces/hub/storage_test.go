package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/internal/testing/hosttest"
)

// The log of the runtimes has a line for each that connects and goes, for its
// owner alone, and is no part of the bundle that runtimes get.
func TestRuntimesAreLogged(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "notes.md"), []byte("notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	inBubble(t, hub.Options{StorageRoot: root}, func(b *bubble) {
		c := b.connect()
		c.ready("rt-1", "tab:1")
		bundle := c.one("action_call").Arguments.Bundle
		if text, _ := json.Marshal(bundle["entries"]); !strings.Contains(string(text), `"notes.md"`) ||
			strings.Contains(string(text), "lifecycle") {
			t.Errorf("the bundle has %s", text)
		}
		c.ready("rt-2", "tab:2")
		c.reported()
		c.say(`{"type":"runtime_removed","runtime_id":"rt-1"}`)
		c.Cut()
		synctest.Wait()
	})
	file := filepath.Join(root, "logs", "bridge-lifecycle.jsonl")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const at = `"ts_ms":946684800000`
	want := `{` + at + `,"event":"connect","runtime_id":"rt-1","connection_id":1,"tab_url":"https://rt-1.example/"}
{` + at + `,"event":"connect","runtime_id":"rt-2","connection_id":1,"tab_url":"https://rt-2.example/"}
{` + at +
		`,"event":"disconnect","connection_id":1,"reason":"tab_closed","removed_active":true,` +
		`"remaining_runtimes":1,` +
		`"runtimes":[{"runtime_id":"rt-1","tab_url":"https://rt-1.example/","last_seen_ms":946684800000}]}
{` + at +
		`,"event":"disconnect","connection_id":1,"reason":"receive_loop_ended","removed_active":true,` +
		`"remaining_runtimes":0,` +
		`"runtimes":[{"runtime_id":"rt-2","tab_url":"https://rt-2.example/","last_seen_ms":946684800000}]}
`
	if string(text) != want {
		t.Errorf("the log is\n%swant\n%s", text, want)
	}
}

// A long result goes to a file that only its owner reads, with the hash upstream
// gives it; a picture does not, and a limit can be set while the hub runs.
func TestLongResultsGoToFiles(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "payloads")
	h, err := hub.New(hub.Options{Listen: hub.Nowhere, PayloadFolder: folder, PayloadLimit: 100})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = h.Run(ctx) }()

	long := json.RawMessage(`{"ok":true,"text":"` + strings.Repeat("ä", 1000) + `"}`)
	short := json.RawMessage(`{"ok":true}`)
	picture := json.RawMessage(`{"ok":true,"data_url":"data:image/png;base64,` + strings.Repeat("A", 1000) + `"}`)
	for _, kept := range []json.RawMessage{short, picture} {
		if r := h.Spill("page.info", hub.ToolResult{OK: true, Output: kept}); string(r.Output) != string(kept) {
			t.Errorf("%.40s became %s", kept, r.Output)
		}
	}
	r := h.Spill("../a b", hub.ToolResult{OK: true, Output: long})
	var got struct {
		Spilled bool   `json:"payload_spilled"`
		Tool    string `json:"tool"`
		Bytes   int    `json:"payload_bytes"`
		Limit   int    `json:"inline_limit_bytes"`
		Path    string `json:"payload_path"`
		Hash    string `json:"payload_hash"`
		Preview string `json:"preview"`
	}
	if err := json.Unmarshal(r.Output, &got); err != nil || !got.Spilled || got.Limit != 100 || got.Tool != "../a b" {
		t.Fatalf("%s, %v", r.Output, err)
	}
	text, err := os.ReadFile(got.Path)
	if err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(got.Path)
	if info.Mode().Perm() != 0o600 || filepath.Dir(got.Path) != folder || len(text) != got.Bytes {
		t.Errorf("%s has mode %s and %d bytes, said %d", got.Path, info.Mode(), len(text), got.Bytes)
	}
	hash := uint32(5381)
	for _, b := range text {
		hash = hash*33 ^ uint32(b)
	}
	want := fmt.Sprintf("djb2:%08x", hash)
	if got.Hash != want || len([]rune(got.Preview)) != 800 || !strings.HasPrefix(string(text), got.Preview) {
		t.Errorf("hash %s, want %s; preview of %d characters", got.Hash, want, len([]rune(got.Preview)))
	}

	set := func(args string) hub.ToolResult {
		return h.Call(t.Context(), hub.ToolCall{Name: "bridge.payloads.configure", Arguments: json.RawMessage(args)})
	}
	if r := set(`{"inline_limit_bytes":9000}`); r.Status != http.StatusOK ||
		!strings.Contains(string(r.Output), `"inline_limit_bytes":9000`) {
		t.Errorf("%s %s", r.Output, r.Error)
	}
	if r := h.Spill("x", hub.ToolResult{OK: true, Output: long}); string(r.Output) != string(long) {
		t.Errorf("the limit was not raised")
	}
	if r := set(`{"inline_limit_bytes":null}`); !strings.Contains(string(r.Output), `"inline_limit_bytes":100`) {
		t.Errorf("%s %s", r.Output, r.Error)
	}
	if r := set(`{"inline_limit_bytes":0}`); r.OK {
		t.Errorf("%s", r.Output)
	}
	cancel()
	<-done
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("%d files are left", len(left))
	}
}

// What the agent hung up on is cancelled in the runtime.
func TestAgentHangsUp(t *testing.T) {
	h := startHub(t, hub.Options{})
	host := hosttest.New(hosttest.Tab(1, "https://a.example/", "A"))
	connect(t, h.Addr(), host, nil)
	waitRuntimes(t, h, 1)
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan hub.ToolResult)
	go func() { answered <- h.Call(ctx, hub.ToolCall{Name: "block", TimeoutMS: 60_000}) }()
	for len(host.Order()) == 0 {
		waitRuntimes(t, h, 1)
	}
	cancel()
	if r := <-answered; r.OK {
		t.Errorf("%s", r.Output)
	}
	host.Wait() // block ends by nothing else
}
