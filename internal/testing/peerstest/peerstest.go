// Package peerstest starts the upstream extension, the upstream bridge and this
// program for tests that compare with them. It does not judge what they answer.
// Tests two folders below the root of the repository call it; they are skipped
// where Node or the folder of the peers is missing.
package peerstest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
)

// Data is the folder with the calls, the maps and the scripts of the peers.
var Data = filepath.Join(root, "testdata", "peers") + "/"

// root is the folder of the module, above the folder of the package whose tests run.
var root = func() string {
	for folder := "."; ; folder = filepath.Join("..", folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil || len(folder) > 60 {
			return folder
		}
	}
}()

// All reports whether a test is to do everything it has, as make peers asks, and
// not a sample.
func All() bool { return os.Getenv("OUTRIDER_PEERS_ALL") != "" }

// Folder is the folder with the upstream extension, the upstream bridge and the
// harness peers.mjs.
func Folder(t testing.TB) string {
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

var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "peers-")
	if err != nil {
		return "", err
	}
	name := filepath.Join(folder, "outrider")
	build := exec.Command("go", "build", "-o", name, "./cmd/outrider")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return name, fmt.Errorf("build: %w\n%s", err, out)
	}
	return name, nil
})

// Program builds this program once and returns its path. The TestMain of its
// callers is Main.
func Program(t testing.TB) string {
	t.Helper()
	name, err := program()
	if err != nil {
		t.Fatal(err)
	}
	built.Store(name)
	return name
}

// built is the program, if there is one.
var built atomic.Value

// Main runs the tests and removes what they built.
func Main(m *testing.M) (code int) {
	code = m.Run()
	if name, ok := built.Load().(string); ok {
		_ = os.RemoveAll(filepath.Dir(name))
	}
	return code
}

// Site serves pages over http or https. Browsers open sockets and drop them, which
// is not logged.
func Site(t testing.TB, scheme string, pages http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(pages)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if scheme == "https" {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// Driver is a script of Data that Node runs. It answers one line of JSON with one
// line, and ends with its standard input.
type Driver struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// Drive starts a script with the folder of the peers and more variables.
func Drive(t testing.TB, script string, more ...string) *Driver {
	t.Helper()
	folder := Folder(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skipf("no Node to run the extension's harness: %v", err)
	}
	d := &Driver{cmd: exec.Command(node, Data+script)}
	d.cmd.Env = append(append(os.Environ(), "OUTRIDER_PEERS="+folder), more...)
	// The extension needs Chromium.
	for _, variable := range browsertest.Environment(t) {
		if path, ok := strings.CutPrefix(variable, "OUTRIDER_CHROMIUM="); ok {
			d.cmd.Env = append(d.cmd.Env, "CHROME="+path)
		}
	}
	d.cmd.Stderr = os.Stderr
	d.in, err = d.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.out = bufio.NewReader(out)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	return d
}

// Stop ends the script and what it started.
func (d *Driver) Stop() {
	_ = d.in.Close()
	forced := time.AfterFunc(30*time.Second, func() { _ = d.cmd.Process.Kill() })
	defer forced.Stop()
	_ = d.cmd.Wait()
}

// Kill ends the script without a word; its browser goes with it.
func (d *Driver) Kill() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
}

// Ask sends a request and decodes its answer.
func (d *Driver) Ask(t testing.TB, request, answer any) {
	t.Helper()
	line, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	back, err := d.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("the driver of the peers ended: %v", err)
	}
	if err := json.Unmarshal(back, answer); err != nil {
		t.Fatalf("%s: %v", back, err)
	}
}

// Extension is a browser with the upstream extension.
type Extension struct{ *Driver }

// StartExtension starts it.
func StartExtension(t testing.TB) Extension { return Extension{Drive(t, "extension.mjs")} }

// Claim opens a page and gives it to a bridge, as the popup's button does.
func (x Extension) Claim(t testing.TB, url, bridge string) {
	t.Helper()
	var answer map[string]any
	x.Ask(t, map[string]string{"url": url, "bridge": bridge}, &answer)
	if answer["ok"] != true {
		t.Fatalf("claiming %s: %v", url, answer)
	}
}

// Bridge is the upstream bridge as an HTTP server.
type Bridge struct {
	Addr string // host:port, the same after a Restart
	cmd  *exec.Cmd
	home string
	dir  string
	log  bytes.Buffer
}

// StartBridge starts it on a free port and waits until it listens.
func StartBridge(t testing.TB) *Bridge {
	t.Helper()
	b := &Bridge{Addr: browsertest.Address(t), home: t.TempDir(), dir: Folder(t)}
	t.Cleanup(b.Kill)
	b.Restart(t)
	return b
}

// Kill ends it without a word.
func (b *Bridge) Kill() {
	if b.cmd != nil {
		_ = b.cmd.Process.Kill()
		_ = b.cmd.Wait()
		b.cmd = nil
	}
}

// Restart kills it and starts another one at the same address.
func (b *Bridge) Restart(t testing.TB) {
	t.Helper()
	b.Kill()
	b.log.Reset()
	b.cmd = exec.Command(filepath.Join(b.dir, "actions-json-mcp"), "serve", "--bind", b.Addr,
		"--actions", filepath.Join(b.dir, "extension/actions/overlay.actions.json"))
	b.cmd.Dir = b.home
	b.cmd.Env = append(os.Environ(), "HOME="+b.home, "ACTIONS_JSON_OPENAI_API_KEY=")
	b.cmd.Stderr = &b.log
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", b.Addr)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(late) {
			b.Kill()
			t.Fatalf("the bridge does not listen: %v\n%s", err, b.log.String())
		}
	}
}
