package actionsbridge_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/bridgeclient/actionsbridge"
	"github.com/outrider-run/outrider/internal/testing/hosttest"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Every declared code reaches the wire as it is; one that is not declared
// becomes internal.
func TestEveryCodeOnTheWire(t *testing.T) {
	d := actionsbridge.New(nil)
	call := &bridgeclient.Call{ID: "c", RuntimeID: "r"}
	code := func(e *fault.Error) string {
		var out struct {
			Error struct {
				Code, Message, Severity string
				Recoverable             *bool
			}
		}
		if err := json.Unmarshal(d.Reply(call, runtime.Reply{Err: e}), &out); err != nil {
			t.Fatalf("%s: %v", e.Code, err)
		}
		if out.Error.Message == "" || out.Error.Severity == "" || out.Error.Recoverable == nil {
			t.Errorf("%s is incomplete on the wire: %+v", e.Code, out.Error)
		}
		return out.Error.Code
	}
	for _, s := range fault.All() {
		if got := code(fault.New(s.Code, "m")); got != string(s.Code) {
			t.Errorf("%s goes out as %s", s.Code, got)
		}
	}
	if got := code(fault.New("made_up", "m")); got != "internal" {
		t.Errorf("an undeclared code goes out as %s, want internal", got)
	}
}

func TestReplyIsNeverEmpty(t *testing.T) {
	d := actionsbridge.New(nil)
	call := &bridgeclient.Call{ID: "c", RuntimeID: "r"}
	for _, tc := range []struct {
		name  string
		reply runtime.Reply
		want  string
	}{
		{"nothing at all", runtime.Reply{}, `"code":"internal"`},
		{"output that is not JSON", runtime.Reply{Output: json.RawMessage(`{"a":`)}, `"code":"invalid_result"`},
		{"output of one line", runtime.Reply{Output: json.RawMessage("{\n \"a\": 1\n}")}, `"output":{"a":1}`},
		{
			"evidence that cannot be encoded",
			runtime.Reply{Err: fault.New(fault.Internal, "m").With("f", func() {})}, `"code":"internal"`,
		},
	} {
		got := string(d.Reply(call, tc.reply))
		if !strings.Contains(got, tc.want) || !strings.Contains(got, `"call_id":"c"`) || strings.Contains(got, "\n") {
			t.Errorf("%s: %s, want it to hold %s", tc.name, got, tc.want)
		}
	}
}

func TestManifestModes(t *testing.T) {
	host := hosttest.New(hosttest.Tab(1, "https://a.example/", "A"))
	const head = `"manifest":{"protocol":"actions.json","version":1}`
	for _, tc := range []struct {
		name  string
		mode  actionsbridge.ManifestMode
		first bool
		want  func(string) bool
	}{
		{"first announcement", actionsbridge.ManifestFirst, true, func(s string) bool {
			return strings.Contains(s, `"primitive_dictionary"`)
		}},
		{"later announcement", actionsbridge.ManifestFirst, false, func(s string) bool {
			return strings.Contains(s, head)
		}},
		{"head only", actionsbridge.ManifestHead, true, func(s string) bool { return strings.Contains(s, head) }},
		{"none", actionsbridge.ManifestNone, true, func(s string) bool { return !strings.Contains(s, `"manifest"`) }},
	} {
		d := actionsbridge.New(&actionsbridge.Options{Manifest: tc.mode})
		if got := string(d.Ready(host, host.Tabs()[0], tc.first)); !tc.want(got) {
			t.Errorf("%s: %s", tc.name, got)
		}
	}
	host.ManifestValue = json.RawMessage(`{"broken`)
	if got := string(actionsbridge.New(nil).Ready(host, host.Tabs()[0], true)); !strings.Contains(got, head) {
		t.Errorf("broken manifest: %s", got)
	}
}

// FuzzDecode: no frame panics, every call has what an answer needs, and what is
// refused can be encoded.
func FuzzDecode(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join(transcripts, "*.txtar"))
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range txtar.Parse(raw).Files {
			for line := range strings.Lines(string(s.Data)) {
				f.Add([]byte(strings.TrimSpace(line)))
			}
		}
	}
	d := actionsbridge.New(nil)
	f.Fuzz(func(t *testing.T, frame []byte) {
		switch m := d.Decode(frame).(type) {
		case *bridgeclient.Call:
			if m.ID == "" || m.Run.Name == "" || !json.Valid(m.Run.Arguments) || m.Run.Timeout < 0 || m.Digest == 0 {
				t.Fatalf("%q decodes to %+v", frame, m)
			}
			if m.Run.Timeout > 24*time.Hour {
				t.Fatalf("%q asks for %s", frame, m.Run.Timeout)
			}
			if m.Run.Map != nil && !json.Valid(m.Run.Map.JSON) {
				t.Fatalf("%q has the map %q", frame, m.Run.Map.JSON)
			}
		case bridgeclient.Refused:
			if out := d.Reply(m.Call, runtime.Reply{Err: m.Err}); !json.Valid(out) || len(out) > 20_000 {
				t.Fatalf("%q is refused with %q", frame, out)
			}
		case bridgeclient.Notice:
			if !json.Valid(m.Reply) {
				t.Fatalf("%q is answered with %q", frame, m.Reply)
			}
		case bridgeclient.Probe:
			if m.ID == "" {
				t.Fatalf("%q is a probe without an id", frame)
			}
		case nil:
			t.Fatalf("%q means nothing", frame)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	d := actionsbridge.New(nil)
	for _, bc := range []struct{ name, frame string }{
		{"small", `{"type":"action_call","call_id":"c-1","runtime_id":"rt-1","name":"pointer.click",` +
			`"arguments":{"x":1,"y":2}}`},
		{"bundle of 1 MB", `{"type":"action_call","call_id":"c-1","runtime_id":"rt-1","name":"storage.import_bundle",` +
			`"arguments":{"bundle":{"entries":[{"content":"` + strings.Repeat("x", 1<<20) + `"}]}}}`},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.SetBytes(int64(len(bc.frame)))
			for b.Loop() {
				d.Decode([]byte(bc.frame))
			}
		})
	}
}
