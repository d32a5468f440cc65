package hub_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/outrider-run/outrider/faces/hub"
)

var update = flag.Bool("update", false, "rewrite the hub sections of the transcripts")

// TestTranscripts plays runtimes and agents of testdata/bridge/hub/*.txtar and
// compares what the hub sends to them. The clock is that of synctest, which
// starts at the turn of the year 2000.
//
// A peer section has one line per event:
//
//	A> {…}         runtime connection A sends an item; its first line connects it
//	A. cut         connection A is lost
//	1> {…}         agent call 1, as POST /mcp/tools/call takes it
//	wait 4s        time passes
//
// A section storage/PATH is a file of the hub's storage folder. A hub section has what came since the last one, sorted
// by who got it: items to a connection (A<), "A. closed: why", and the results of calls (1<), with failure where a
// client over MCP sees one. Polls are left out. "(nothing)" stands for nothing.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("../../testdata/bridge/hub/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			opts := hub.Options{}
			if bytes.Contains(a.Comment, []byte("option: token")) {
				opts.Token = "secret"
			}
			for _, f := range a.Files {
				if name, ok := strings.CutPrefix(f.Name, "storage/"); ok {
					if opts.StorageRoot == "" {
						opts.StorageRoot = t.TempDir()
						opts.Bundle = func() (json.RawMessage, error) { return json.RawMessage(`{"entries":[]}`), nil }
					}
					file := filepath.Join(opts.StorageRoot, filepath.FromSlash(name))
					if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(file, f.Data, 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			inBubble(t, opts, func(b *bubble) { (&script{bubble: b, conns: map[string]*runtimeConn{}}).play(a) })
			if *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

type script struct {
	*bubble
	conns   map[string]*runtimeConn
	results []string
}

func (s *script) play(a *txtar.Archive) {
	for i, f := range a.Files {
		switch f.Name {
		case "peer":
			for line := range strings.Lines(string(f.Data)) {
				s.line(strings.TrimSpace(line))
			}
		case "hub":
			got := s.received()
			if *update {
				a.Files[i].Data = []byte(got)
			} else if got != string(f.Data) {
				s.t.Errorf("section %d: the hub sent\n%swant\n%s", i+1, got, f.Data)
			}
		default:
			if strings.HasPrefix(f.Name, "storage/") {
				continue
			}
			s.t.Fatalf("unknown section %q", f.Name)
		}
	}
}

func (s *script) line(line string) {
	if d, ok := strings.CutPrefix(line, "wait "); ok {
		length, err := time.ParseDuration(d)
		if err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(length)
		synctest.Wait()
		return
	}
	if name, ok := strings.CutSuffix(line, ". cut"); ok {
		s.conns[name].Cut()
		synctest.Wait()
		return
	}
	name, body, ok := strings.Cut(line, "> ")
	switch {
	case !ok:
		s.t.Fatalf("not a line of a transcript: %s", line)
	case name >= "A":
		if s.conns[name] == nil {
			s.conns[name] = s.connect()
		}
		s.conns[name].say("%s", body)
	default:
		var call hub.ToolCall
		if err := json.Unmarshal([]byte(body), &call); err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		go func() { s.results = append(s.results, s.result(name, s.hub.Call(context.Background(), call))) }()
		synctest.Wait()
	}
}

func (s *script) result(name string, r hub.ToolResult) string {
	line := name + "< " + string(encode(s.t, r))
	if err := r.Err(); err != nil {
		line += "\n" + name + ". failure " + string(encode(s.t, err))
	}
	return line
}

// encode is what encoding/json gives, with <, > and & as they are.
func encode(t *testing.T, v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

func (s *script) received() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s.conns)) {
		c := s.conns[name]
		if c == nil {
			continue
		}
		for {
			synctest.Wait()
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			raw, err := c.Receive(ctx)
			if err != nil {
				break
			}
			if !bytes.Equal(raw, []byte(`{"type":"runtime_status"}`)) {
				out = append(out, name+"< "+string(raw))
			}
		}
		select {
		case <-c.Closed():
			if why := c.Reason(); why != "" {
				out = append(out, name+". closed: "+why)
			}
			s.conns[name] = nil // the next line of it connects again
		default:
		}
	}
	out = append(out, s.results...)
	s.results = nil
	if len(out) == 0 {
		out = []string{"(nothing)"}
	}
	return strings.Join(out, "\n") + "\n"
}
