package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
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

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/npmtest"
)

// app is one file of testdata/agents: what is installed, how it is served, and the tasks.
type app struct {
	file string

	App string   `json:"app"`
	NPM []string `json:"npm"`
	PIP []string `json:"pip"`
	Deb []string `json:"deb"` // unpacked into the folder root
	// Files are written into the folder of the application.
	Files map[string]text `json:"files"`
	// Prepare are commands that run in it before Start, which serves. {PORT} and {PORT2} are
	// ports, {BIN} is where the programs of the packages are, {DIR} the folder.
	Prepare [][]string `json:"prepare"`
	Start   []string   `json:"start"`
	// Serve is the folder that is served where there is no Start.
	Serve string `json:"serve"`
	// Ready is an address that answers once the application does; "/" without it.
	Ready string `json:"ready"`
	Tasks []task `json:"tasks"`

	dir string
}

// text is a text, or its lines.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var lines []string
	if json.Unmarshal(b, &lines) == nil {
		*t = text(strings.Join(lines, "\n") + "\n")
		return nil
	}
	return json.Unmarshal(b, (*string)(t))
}

type task struct {
	Name  string `json:"name"`
	Steps []step `json:"steps"`
}

// target is a role and a name, as expressions.
type target [2]string

// step is one thing that an agent does. {WHO} in its texts differs for each server, because
// all work on one application.
type step struct {
	Go     string `json:"go,omitempty"`
	Click  target `json:"click,omitzero"`
	Double target `json:"double,omitzero"`
	Hover  target `json:"hover,omitzero"`
	Fill   target `json:"fill,omitzero"`
	Choose target `json:"choose,omitzero"`
	Upload target `json:"upload,omitzero"`
	Drag   target `json:"drag,omitzero"`
	To     target `json:"to,omitzero"`      // of drag
	Text   string `json:"text,omitempty"`   // of fill, choose and type
	File   string `json:"file,omitempty"`   // of upload, in the folder of the application
	Type   bool   `json:"type,omitempty"`   // into what has the focus
	Press  string `json:"press,omitempty"`  // a key, as Shift+Enter
	Dialog bool   `json:"dialog,omitempty"` // OK
	Expect string `json:"expect,omitempty"` // an expression that a look fits
}

// target is what the step acts on.
func (s step) target() target {
	for _, t := range []target{s.Click, s.Double, s.Hover, s.Fill, s.Choose, s.Upload, s.Drag} {
		if t != (target{}) {
			return t
		}
	}
	return target{}
}

// as is the step with the placeholders filled in.
func (s step) as(who, dir string) step {
	fill := strings.NewReplacer("{WHO}", who, "{DIR}", dir).Replace
	s.Go = fill(s.Go)
	s.Text = fill(s.Text)
	s.Expect = fill(s.Expect)
	for _, t := range []*target{&s.Click, &s.Double, &s.Hover, &s.Fill, &s.Choose, &s.Upload, &s.Drag, &s.To} {
		t[0], t[1] = fill(t[0]), fill(t[1])
	}
	if s.File != "" {
		s.File = filepath.Join(dir, s.File)
	}
	return s
}

func apps(t *testing.T) []app {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/agents/*.json")
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
	return npmtest.Folder(t, "OUTRIDER_AGENTS_DIR", "agents")
}

func run(ctx context.Context, dir string, command ...string) error {
	return npmtest.Run(ctx, dir, command...)
}

// served calls do with each application that OUTRIDER_AGENTS_ONLY names, all without it, where it can be installed and
// served, and counts those. all reports whether none was left out.
func served(
	ctx context.Context, t *testing.T, root string, do func(t *testing.T, a app, address string),
) (n int, all bool) {
	t.Helper()
	only := os.Getenv("OUTRIDER_AGENTS_ONLY")
	for _, a := range apps(t) {
		if only != "" && !strings.Contains(","+only+",", ","+a.file+",") {
			continue
		}
		t.Run(a.file, func(t *testing.T) {
			if err := a.install(ctx, root); err != nil {
				t.Skipf("%s cannot be installed: %v", a.App, err)
			}
			address, err := a.serve(ctx, t)
			if err != nil {
				t.Skipf("%s cannot be served: %v", a.App, err)
			}
			n++
			do(t, a, address)
		})
	}
	return n, only == ""
}

// everyTask does each task of each application with every driver. The first of them has to succeed.
func everyTask(ctx context.Context, t *testing.T, root string, drivers []*driver) (done []result, n int, all bool) {
	t.Helper()
	n, all = served(ctx, t, root, func(t *testing.T, a app, address string) {
		for _, one := range a.Tasks {
			r := result{name: a.App + ": " + one.Name}
			for _, d := range drivers {
				d.note("=== %s: %s", a.App, one.Name)
				err := d.do(ctx, address, a.dir, one)
				r.spent, r.failed = append(r.spent, d.spent), append(r.failed, err)
				if err != nil {
					t.Logf("%s: %s: %v", d.name, one.Name, err)
				}
			}
			if r.failed[0] != nil {
				t.Errorf("%s: %v", one.Name, r.failed[0])
			}
			done = append(done, r)
			t.Log(r.line())
		}
	})
	return done, n, all
}

// npm installs packages into a folder, once.
func npm(ctx context.Context, dir string, packages ...string) error {
	done := filepath.Join(dir, ".npm-"+strings.NewReplacer("/", "+", " ", "+").Replace(strings.Join(packages, " ")))
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if err := run(
		ctx, dir,
		append([]string{"npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", dir}, packages...)...,
	); err != nil {
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
	if err := run(
		ctx, dir, append([]string{"venv/bin/pip", "install", "--quiet", "--disable-pip-version-check"}, packages...)...,
	); err != nil {
		return err
	}
	return os.WriteFile(done, nil, 0o644)
}

// deb unpacks packages of Debian into the folder root of a folder, once.
func deb(ctx context.Context, dir string, packages ...string) error {
	done := filepath.Join(dir, ".deb-"+strings.Join(packages, "+"))
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if err := run(ctx, dir, append([]string{"apt-get", "download", "-q"}, packages...)...); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := run(ctx, dir, "dpkg", "-x", f, "root"); err != nil {
			return err
		}
	}
	return os.WriteFile(done, nil, 0o644)
}

// install brings the packages of an application into its folder.
func (a *app) install(ctx context.Context, root string) error {
	a.dir = filepath.Join(root, a.file)
	if err := os.MkdirAll(a.dir, 0o755); err != nil {
		return err
	}
	if len(a.NPM) > 0 {
		if err := npm(ctx, a.dir, a.NPM...); err != nil {
			return err
		}
	}
	if len(a.PIP) > 0 {
		if err := pip(ctx, a.dir, a.PIP...); err != nil {
			return err
		}
	}
	if len(a.Deb) > 0 {
		return deb(ctx, a.dir, a.Deb...)
	}
	return nil
}

// serve starts an installed application and returns its address.
func (a *app) serve(ctx context.Context, t *testing.T) (string, error) {
	dir := a.dir
	for name, content := range a.Files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	_, port, _ := net.SplitHostPort(browsertest.Address(t))
	_, other, _ := net.SplitHostPort(browsertest.Address(t))
	bin := filepath.Join(dir, "node_modules", ".bin")
	if len(a.PIP) > 0 {
		bin = filepath.Join(dir, "venv", "bin")
	}
	fill := func(words []string) []string {
		out := make([]string, len(words))
		for i, w := range words {
			out[i] = strings.NewReplacer("{PORT}", port, "{PORT2}", other, "{BIN}", bin, "{DIR}", dir).Replace(w)
		}
		return out
	}
	for _, c := range a.Prepare {
		if err := run(ctx, dir, fill(c)...); err != nil {
			return "", err
		}
	}
	if len(a.Start) == 0 {
		s := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, a.Serve))))
		t.Cleanup(s.Close)
		return s.URL, nil
	}
	command := fill(a.Start)
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		cancel()
		return "", err
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		cancel()
		return "", err
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
		_ = log.Close()
	})
	address := "http://127.0.0.1:" + port
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		if r, err := http.Get(address + "/" + strings.TrimPrefix(a.Ready, "/")); err == nil {
			_ = r.Body.Close()
			return address, nil
		}
		if time.Now().After(deadline) {
			return "", fmt.Errorf("it does not serve: see %s", log.Name())
		}
	}
}
