package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
)

// lines are requests that need no browser, then one that does.
const providerLines = `{"id":"1","method":"provider.describe"}
not a request
{"id":"2","method":"session.ensure","params":{"client_session_id":"me"}}
`

func TestProviderOnStandardStreams(t *testing.T) {
	requireBrowser(t)
	ctx, cancel := running(t)
	defer cancel()
	var out, said bytes.Buffer
	if code := execute(ctx, []string{"provider"}, strings.NewReader(providerLines), &out, &said); code != exitDone {
		t.Fatalf("exit %d: %s", code, said.String())
	}
	answered := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		var a struct {
			ID *string `json:"id"`
			OK bool    `json:"ok"`
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("stdout holds %q", line)
		}
		id := "null"
		if a.ID != nil {
			id = *a.ID
		}
		answered[id] = a.OK
	}
	if len(answered) != 3 || !answered["1"] || !answered["2"] || answered["null"] {
		t.Errorf("the input ended and the answers are %v: %s", answered, out.String())
	}
}

func TestProviderOnASocket(t *testing.T) {
	requireBrowser(t)
	dir, err := os.MkdirTemp("", "pv") // short: the path of a socket is bounded
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "provider.sock")
	ctx, cancel := running(t)
	defer cancel()
	said, tell := io.Pipe()
	var running sync.WaitGroup
	running.Go(func() {
		defer tell.Close()
		if code := execute(
			ctx, []string{"provider", "--json", "--socket", path}, strings.NewReader(""), tell, io.Discard,
		); code != exitInterrupted {
			t.Errorf("exit %d, want %d", code, exitInterrupted)
		}
	})
	defer running.Wait()
	defer cancel()
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil || !strings.Contains(line, path) {
		t.Fatalf("the first line is %q, %v", line, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v; want a file of its owner alone", err, info)
	}
	var another bytes.Buffer
	if code := execute(
		ctx, []string{"provider", "--socket", path}, strings.NewReader(""), io.Discard, &another,
	); code != exitEnvironment || !strings.Contains(another.String(), "in use") {
		t.Errorf("a second server on the socket: exit %d, %s", code, another.String())
	}
	ids := make([]string, 2)
	var clients sync.WaitGroup
	for i := range ids {
		clients.Go(func() {
			c, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			s := &providerSession{in: bufio.NewReader(c), out: c}
			ids[i], _ = s.call(t, "session.ensure", map[string]any{
				"client_session_id": "one for both",
				"persist":           true,
			})["session_id"].(string)
		})
	}
	clients.Wait()
	if ids[0] == "" || ids[0] != ids[1] {
		t.Errorf("two connections of one client got the sessions %q", ids)
	}
	cancel()
	running.Wait()
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is still there")
	}
}

func TestConformanceOfOtherCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no command", nil, exitUsage, "needs the command"},
		{"no such command", []string{"/nonexistent/provider"}, exitEnvironment, "starting the provider"},
		{"one that says nothing", []string{"true"}, exitFailed, "NONE"},
		{
			"one that speaks otherwise",
			[]string{"sh", "-c", `while read -r line; do echo '{"jsonrpc":"2.0","id":1,"result":{}}'; done`},
			exitFailed, "NONE",
		},
		{"one that only describes itself", []string{
			"sh", "-c", `while read -r line; do id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/'); ` +
				`case $line in *provider.describe*) r='"ok":true,"result":{"provider_id":"x","capabilities":{}},` +
				`"warnings":[]';; ` +
				`*) r='"ok":false,"error":{"code":"not_ready","message":"no","retryable":true,"details":{}}';; esac; ` +
				`printf '{"protocol_version":"0.1","id":"%s",%s}\n' "$id" "$r"; done`,
		}, exitFailed, "EXPERIMENTAL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := running(t)
			defer cancel()
			var out, said bytes.Buffer
			code := execute(
				ctx, append([]string{"provider", "--conformance", "--call-timeout", "10s", "--"}, c.args...),
				strings.NewReader(""), &out, &said,
			)
			if code != c.code || !strings.Contains(out.String()+said.String(), c.says) {
				t.Errorf("exit %d, want %d; it says\n%s%s\nwant %q", code, c.code, out.String(), said.String(), c.says)
			}
		})
	}
}

// The whole way: our own command, tested by our own command. That the provider is certified is tested with the kit.
func TestConformanceOfOurOwnCommand(t *testing.T) {
	browsertest.OnlyLong(t)
	t.Parallel()
	requireBrowser(t)
	bin := filepath.Join(t.TempDir(), "outrider")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("building: %v: %s", err, out)
	}
	var out, said bytes.Buffer
	code := execute(
		t.Context(), []string{"provider", "--conformance", "--json", "--", bin, "provider"},
		strings.NewReader(""), &out, &said,
	)
	var report struct {
		Tier    string
		Reasons []string
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil || code != exitDone || report.Tier != "certified" {
		t.Errorf("exit %d, %v: tier %s, %q\n%s", code, err, report.Tier, report.Reasons, said.String())
	}
}
