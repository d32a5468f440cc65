package bridgekit_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/outrider-run/outrider/conformance/bridgekit"
	"github.com/outrider-run/outrider/internal/testing/peerstest"
)

// known is what fails with an upstream peer.
type known struct {
	Peer    string   `json:"peer"`
	Kind    string   `json:"kind"`
	Failed  []string `json:"failed"`
	Skipped []string `json:"skipped"`
}

func knownPeers(t *testing.T) (all []known) {
	t.Helper()
	text, err := os.ReadFile(peerstest.Data + "conformance.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// judge compares a report with what is known of the peer.
func judge(t *testing.T, peer string, r bridgekit.Report) {
	t.Helper()
	for _, k := range knownPeers(t) {
		if k.Peer != peer {
			continue
		}
		for _, c := range r.Results {
			want := bridgekit.Passed
			switch {
			case slices.Contains(k.Failed, c.ID):
				want = bridgekit.Failed
			case slices.Contains(k.Skipped, c.ID):
				want = bridgekit.Skipped
			}
			if c.Outcome != want {
				t.Errorf("known as %s: %s", want, c.Line())
			}
		}
		return
	}
	t.Fatalf("nothing is known of the %s", peer)
}

func TestPeersBridgeConformance(t *testing.T) {
	t.Parallel() // it waits most of its time
	bridge := peerstest.StartBridge(t)
	opts, err := bridgekit.BridgeAt("ws://"+bridge.Addr+"/extension", "", "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := bridgekit.Bridge(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	judge(t, "upstream bridge", r)
}

func TestPeersExtensionConformance(t *testing.T) {
	t.Parallel()
	schemes := []string{"https"}
	if peerstest.All() {
		schemes = append(schemes, "http")
	}
	for _, scheme := range schemes {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			extension := peerstest.StartExtension(t)
			site := peerstest.Site(t, scheme, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = io.WriteString(w, "<!doctype html><title>Cart</title><h1>Cart</h1>")
			}))
			kit, err := bridgekit.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer kit.Close()
			extension.Claim(t, site.URL+"/", kit.PairingURL())
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			r, err := bridgekit.Runtime(ctx, bridgekit.RuntimeOptions{Accept: kit.Accept, TextOnly: kit.Polled})
			if err != nil {
				t.Fatal(err)
			}
			judge(t, "upstream extension, "+scheme+" page", r)
		})
	}
}
