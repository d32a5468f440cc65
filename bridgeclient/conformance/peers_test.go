package conformance_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/bridgeclient/conformance"
)

const peersData = "../../testdata/peers/"

// known is what fails with an upstream peer.
type known struct {
	Peer    string   `json:"peer"`
	Kind    string   `json:"kind"`
	Failed  []string `json:"failed"`
	Skipped []string `json:"skipped"`
}

func knownPeers(t *testing.T) (all []known) {
	t.Helper()
	text, err := os.ReadFile(peersData + "conformance.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// judge compares a report with what is known of the peer.
func judge(t *testing.T, peer string, r conformance.Report) {
	t.Helper()
	for _, k := range knownPeers(t) {
		if k.Peer != peer {
			continue
		}
		for _, c := range r.Results {
			want := conformance.Passed
			switch {
			case slices.Contains(k.Failed, c.ID):
				want = conformance.Failed
			case slices.Contains(k.Skipped, c.ID):
				want = conformance.Skipped
			}
			if c.Outcome != want {
				t.Errorf("known as %s: %s", want, c.Line())
			}
		}
		return
	}
	t.Fatalf("nothing is known of the %s", peer)
}

// peersFolder has the upstream extension and bridge.
func peersFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("OUTRIDER_PEERS")
	if folder == "" {
		t.Skip("OUTRIDER_PEERS names no folder of the upstream extension and bridge: see make peers")
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "peers.mjs")); err != nil {
		t.Skipf("OUTRIDER_PEERS has no peers.mjs: %v", err)
	}
	return folder
}

func TestPeersBridgeConformance(t *testing.T) {
	folder := peersFolder(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	home := t.TempDir()
	cmd := exec.Command(filepath.Join(folder, "actions-json-mcp"), "serve", "--bind", address, "--actions", filepath.Join(folder, "extension/actions/overlay.actions.json"))
	cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home, "ACTIONS_JSON_OPENAI_API_KEY=")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	opts, err := conformance.BridgeAt("ws://"+address+"/extension", "", "")
	if err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if _, err = opts.Agent.Runtimes(t.Context()); err == nil {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("the bridge does not answer: %v", err)
		}
	}
	r, err := conformance.Bridge(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	judge(t, "upstream bridge", r)
}

func TestPeersExtensionConformance(t *testing.T) {
	folder := peersFolder(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skipf("no Node to run the extension's harness: %v", err)
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>Cart</title><h1>Cart</h1>")
	})
	for _, scheme := range []string{"https", "http"} {
		t.Run(scheme, func(t *testing.T) {
			site := httptest.NewUnstartedServer(handler)
			site.Config.ErrorLog = log.New(io.Discard, "", 0) // of sockets that browsers open and drop
			if scheme == "https" {
				site.StartTLS()
			} else {
				site.Start()
			}
			defer site.Close()
			kit, err := conformance.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer kit.Close()

			cmd := exec.Command(node, peersData+"extension.mjs")
			cmd.Env = append(os.Environ(), "OUTRIDER_PEERS="+folder)
			if browser := os.Getenv("OUTRIDER_BROWSER"); browser != "" {
				cmd.Env = append(cmd.Env, "CHROME="+browser)
			}
			cmd.Stderr = os.Stderr
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = in.Close()
				forced := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
				defer forced.Stop()
				_ = cmd.Wait()
			}()
			_, _ = fmt.Fprintf(in, `{"url":%q,"bridge":%q}`+"\n", site.URL+"/", kit.PairingURL())
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil || !strings.Contains(line, `"ok":true`) {
				t.Fatalf("claiming the page: %s %v", line, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			r, err := conformance.Runtime(ctx, conformance.RuntimeOptions{Accept: kit.Accept, TextOnly: kit.Polled})
			if err != nil {
				t.Fatal(err)
			}
			judge(t, "upstream extension, "+scheme+" page", r)
		})
	}
}
