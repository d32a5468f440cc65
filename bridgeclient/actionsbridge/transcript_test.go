package actionsbridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/bridgeclient/actionsbridge"
	"github.com/outrider-run/outrider/internal/testing/hosttest"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "rewrite the host sections of the transcripts")

const transcripts = "../../testdata/bridge/actions"

// TestTranscripts plays the bridge's side of testdata/bridge/actions/*.txtar
// and compares what the runtime sends. The clock is that of synctest, which
// starts at the turn of the year 2000.
//
// A peer section has one frame per line. A line that starts with ! is no frame:
//
//	!raw TEXT      a frame that is no JSON; TEXT is a quoted Go string
//	!wait 4s       let time pass
//	!cut           lose the connection, and let the client connect again
//	!tab {…}       add or change a tab
//	!gone ID       close a tab
//	!event {…}     the page reports an event
//
// A host section has what the runtime sent since the last one, "(nothing)" if
// nothing.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(transcripts, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts in %s: %v", transcripts, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { play(t, a) })
			if *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

type player struct {
	t     *testing.T
	host  *hosttest.Host
	conns chan *bridgeclient.Pipe
	conn  *bridgeclient.Pipe
}

func play(t *testing.T, a *txtar.Archive) {
	p := &player{t: t, conns: make(chan *bridgeclient.Pipe)}
	p.host = hosttest.New(hosttest.Tab(1, "https://Shop.example:8443/cart", "Cart"))
	p.host.ManifestValue = json.RawMessage(`{"protocol":"actions.json","version":1,"tools":[{"name":"actions.site"}]}`)
	p.host.Import = func(_ context.Context, bundle json.RawMessage) (json.RawMessage, *fault.Error) {
		var b struct {
			Entries []json.RawMessage `json:"entries"`
			Slow    bool              `json:"slow"`
		}
		if err := json.Unmarshal(bundle, &b); err != nil || b.Entries == nil {
			return nil, fault.New(fault.InvalidInput, "the bundle has no entries")
		}
		if b.Slow {
			time.Sleep(3 * time.Second)
		}
		return json.RawMessage(fmt.Sprintf(`{"ok":true,"entry_count":%d}`, len(b.Entries))), nil
	}
	client, err := bridgeclient.New(&bridgeclient.Options{
		Dialect: actionsbridge.New(nil), Host: p.host, Random: func() float64 { return 0 },
		NoEvents: bytes.Contains(a.Comment, []byte("option: no events")),
		Dial: func(ctx context.Context) (bridgeclient.Conn, error) {
			c := bridgeclient.NewPipe(bridgeclient.Traits{Confirms: true, Heartbeat: true})
			select {
			case p.conns <- c:
				return c, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = client.Run(ctx) }()
	defer func() { cancel(); <-done; p.host.Wait() }()

	p.conn = <-p.conns
	for i := range a.Files {
		f := &a.Files[i]
		switch f.Name {
		case "peer":
			for line := range strings.Lines(string(f.Data)) {
				line = strings.TrimSpace(line)
				if line != "" {
					p.do(line)
				}
			}
		case "host":
			got := p.received()
			if *update {
				f.Data = []byte(got)
			} else if got != string(f.Data) {
				t.Fatalf("section %d: the runtime sent\n%s\nwant\n%s", i, got, f.Data)
			}
		default:
			t.Fatalf("section %q; want peer or host", f.Name)
		}
	}
	if rest := p.received(); rest != "(nothing)\n" {
		t.Fatalf("after the last section the runtime sent\n%s", rest)
	}
}

func (p *player) do(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "!raw":
		var raw string
		if _, err := fmt.Sscanf(rest, "%q", &raw); err != nil {
			p.t.Fatalf("%s: %v", line, err)
		}
		p.send(raw)
	case "!wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			p.t.Fatal(err)
		}
		time.Sleep(d)
	case "!cut":
		p.conn.Cut()
		p.conn = <-p.conns
	case "!tab":
		var tab runtime.TabStatus
		p.parse(rest, &tab)
		p.host.Set(tab)
	case "!gone":
		p.host.Remove(rest)
	case "!event":
		var ev struct {
			ID, Name, Event, Call string
			Payload               json.RawMessage
		}
		p.parse(rest, &ev)
		p.host.Emit(runtime.Event{
			Kind:           runtime.DOMEvent,
			ID:             ev.ID,
			Tab:            p.host.Tabs()[0],
			Name:           ev.Name,
			PageEvent:      ev.Event,
			Payload:        ev.Payload,
			PreviousCallID: ev.Call,
			ObservedAt:     time.Now(),
		})
	default:
		p.send(line)
	}
	synctest.Wait()
}

func (p *player) parse(text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
}

func (p *player) send(frame string) {
	if err := p.conn.Send(p.t.Context(), []byte(frame)); err != nil {
		p.t.Fatalf("sending %s: %v", frame, err)
	}
}

// received returns what the runtime has sent, once it has nothing more to send.
func (p *player) received() string {
	var b strings.Builder
	for {
		synctest.Wait()
		ctx, cancel := context.WithCancel(p.t.Context())
		cancel()
		frame, err := p.conn.Receive(ctx)
		if err != nil {
			break
		}
		b.Write(frame)
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "(nothing)\n"
	}
	return b.String()
}
