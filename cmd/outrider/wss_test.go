package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/faces/hub"
)

// lines is a writer that reports when a text has been written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return l.text.Write(b)
}

func (l *lines) await(t *testing.T, want string) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		l.mu.Lock()
		text := l.text.String()
		l.mu.Unlock()
		if strings.Contains(text, want) {
			return
		}
		select {
		case <-l.more:
		case <-late:
			t.Fatalf("no %q within 30 s in:\n%s", want, text)
		}
	}
}

// A connection to a bridge behind TLS needs a certificate that is trusted.
func TestConnectOverTLS(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	connected := make(chan struct{}, 8)
	bridge, err := hub.New(hub.Options{Listen: "127.0.0.1:0", Version: "test", OnRuntime: func(c hub.RuntimeChange) {
		if c.Kind == "connected" {
			connected <- struct{}{}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := bridge.Listen(); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = bridge.Run(ctx) })
	defer running.Wait()
	defer stop()
	front := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: bridge.Addr()}))
	front.Config.ErrorLog = log.New(io.Discard, "", 0) // the refusal is what is tested
	defer front.Close()
	trusted := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(
		trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw}), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	connect := func(env ...string) (*lines, *exec.Cmd) {
		out := &lines{more: make(chan struct{}, 1)}
		cmd := exec.CommandContext(
			t.Context(), "outrider", "connect", "wss"+strings.TrimPrefix(front.URL, "https")+"/extension",
		)
		cmd.Stdout = out
		cmd.Stderr = out
		cmd.Env = append(os.Environ(), env...)
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 10 * time.Second
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return out, cmd
	}
	interrupt := func(cmd *exec.Cmd, out *lines) {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
			t.Errorf("an interrupted connect ended with %d, want %d:\n%s", code, exitInterrupted, &out.text)
		}
	}

	out, cmd := connect("SSL_CERT_FILE=" + trusted)
	out.await(t, "ready: announced 1 tab(s)")
	select {
	case <-connected:
	case <-time.After(time.Minute):
		t.Fatal("the bridge does not know the runtime within 30 s")
	}
	r := bridge.Call(ctx, hub.ToolCall{Name: "page.info", Arguments: json.RawMessage(`{}`)})
	if !r.OK {
		t.Errorf("page.info over wss: %s", r.Error)
	}
	interrupt(cmd, out)

	out, cmd = connect("SSL_CERT_FILE=/dev/null", "SSL_CERT_DIR="+t.TempDir())
	out.await(t, "certificate")
	interrupt(cmd, out)
}
