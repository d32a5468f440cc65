package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// app is one file of testdata/agents: what is installed, how it is served, and the tasks.
type app struct {
	file string

	App string   `json:"app"`
	NPM []string `json:"npm"`
	PIP []string `json:"pip"`
	// Files are written into the folder of the application.
	Files map[string]string `json:"files"`
	// Prepare are commands that run once in it, Start the one that serves. {PORT} is the
	// port, {BIN} where the programs of the packages are. Without Start the folder is served.
	Prepare [][]string `json:"prepare"`
	Start   []string   `json:"start"`
	Tasks   []task     `json:"tasks"`
}

type task struct {
	Name  string `json:"name"`
	Steps []step `json:"steps"`
}

// step is one thing that an agent does. A target is a role and a name, as expressions.
type step struct {
	Go     string    `json:"go,omitempty"`
	Click  [2]string `json:"click,omitzero"`
	Double [2]string `json:"double,omitzero"`
	Fill   [2]string `json:"fill,omitzero"`
	Choose [2]string `json:"choose,omitzero"`
	Text   string    `json:"text,omitempty"` // of fill, choose and type
	Type   bool      `json:"type,omitempty"` // into what has the focus
	Press  string    `json:"press,omitempty"`
	Dialog bool      `json:"dialog,omitempty"` // OK
	Expect string    `json:"expect,omitempty"` // an expression that a look fits
}

func apps(t *testing.T) []app {
	t.Helper()
	files, err := filepath.Glob("../../testdata/agents/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no applications: %v", err)
	}
	var out []app
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		a := app{file: strings.TrimSuffix(filepath.Base(f), ".json")}
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		if err := d.Decode(&a); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		out = append(out, a)
	}
	return out
}

// folder is where packages are kept between two runs.
func folder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("OUTRIDER_AGENTS_DIR")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skipf("no folder for the packages: %v; name one by OUTRIDER_AGENTS_DIR", err)
		}
		dir = filepath.Join(cache, "outrider", "agents")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func run(ctx context.Context, dir string, command ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, out[max(0, len(out)-600):])
	}
	return nil
}

// npm installs packages into a folder, once.
func npm(ctx context.Context, dir string, packages ...string) error {
	done := filepath.Join(dir, ".npm-"+strings.NewReplacer("/", "+", " ", "+").Replace(strings.Join(packages, " ")))
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if err := run(ctx, dir, append([]string{"npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", dir}, packages...)...); err != nil {
		return err
	}
	return os.WriteFile(done, nil, 0o644)
}

// pip installs packages into a virtual environment of a folder, once.
func pip(ctx context.Context, dir string, packages ...string) error {
	done := filepath.Join(dir, ".pip-"+strings.Join(packages, "+"))
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if err := run(ctx, dir, "python3", "-m", "venv", "venv"); err != nil {
		return err
	}
	if err := run(ctx, dir, append([]string{"venv/bin/pip", "install", "--quiet", "--disable-pip-version-check"}, packages...)...); err != nil {
		return err
	}
	return os.WriteFile(done, nil, 0o644)
}

// serve installs and starts an application and returns its address.
func (a app) serve(ctx context.Context, t *testing.T, root string) (string, error) {
	dir := filepath.Join(root, a.file)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if len(a.NPM) > 0 {
		if err := npm(ctx, dir, a.NPM...); err != nil {
			return "", err
		}
	}
	if len(a.PIP) > 0 {
		if err := pip(ctx, dir, a.PIP...); err != nil {
			return "", err
		}
	}
	for name, content := range a.Files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	if len(a.Start) == 0 {
		s := httptest.NewServer(http.FileServer(http.Dir(dir)))
		t.Cleanup(s.Close)
		return s.URL, nil
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "node_modules", ".bin")
	if len(a.PIP) > 0 {
		bin = filepath.Join(dir, "venv", "bin")
	}
	fill := func(words []string) []string {
		out := make([]string, len(words))
		for i, w := range words {
			out[i] = strings.NewReplacer("{PORT}", port, "{BIN}", bin).Replace(w)
		}
		return out
	}
	for _, c := range a.Prepare {
		if err := run(ctx, dir, fill(c)...); err != nil {
			return "", err
		}
	}
	command := fill(a.Start)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		return "", err
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address := "http://127.0.0.1:" + port
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		if r, err := http.Get(address + "/"); err == nil {
			_ = r.Body.Close()
			return address, nil
		}
		if time.Now().After(deadline) {
			return "", errors.New("it does not serve")
		}
	}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
