package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime/browser/launch"
	"github.com/outrider-run/outrider/sites/demo"
)

func TestMain(m *testing.M) {
	launch.MaybeSupervise()
	expr.MaybeWorker()
	testscript.Main(m, map[string]func(){
		"outrider": func() { main() },
		"testapp":  testApp,
	})
}

// contactPage is a page no map here was tuned for: the example of the README.
const contactPage = `<!doctype html><title>Contact</title>
<form><input name="name" value="old"><button type="submit">Send</button></form>
<script>document.forms[0].addEventListener('submit', event => {
  event.preventDefault();
  const name = event.target.elements.name.value;
  setTimeout(() => {
    const p = document.createElement('p');
    p.dataset.thanks = '';
    p.textContent = 'Thanks, ' + name;
    document.body.append(p);
  }, 120);
});</script>`

// selfSigned serves one document with a certificate that no browser trusts.
func selfSigned(t *testing.T, html string) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, html)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // refusals are what is tested
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// asking serves over TLS to clients that have a certificate, of which the browser has none.
func asking(t *testing.T) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // refusals are what is tested
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// tickingPage counts, so that something on it changes. What it has come to stays.
const tickingPage = `<!doctype html><title>Clock</title><p id="clock">0</p><ol></ol>
<script>let n = 0; setInterval(() => {
  document.querySelector('#clock').textContent = ++n;
  if (n < 9) document.querySelector('ol').appendChild(document.createElement('li')).textContent = n;
}, 700);</script>`

// page serves one document.
func page(t *testing.T, html string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, html)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// shop is a site with a list for who has signed in, and pages that fail.
func shop(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	html := func(path string, status int, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		})
	}
	list := `<!doctype html><title>Items</title><h1>Items</h1><ul id="list"><li class="item">Tea <b class="price">3</b></li>
<li class="item">Milk <b class="price">2</b></li></ul><a id="next" href="?page=2">More</a><input id="agree" type="checkbox"><input id="code" value="A1">
<button disabled>Buy</button><p id="note" hidden>Sold out</p>`
	html("/{$}", http.StatusOK, list)
	html(
		"/login", http.StatusOK,
		`<!doctype html><title>Sign in</title><h1>Sign in</h1><form><input name="user"><button>Log in</button></form>`,
	)
	html("/gone", http.StatusNotFound, list)
	// The same list as the next release has it: without the id of the link, and without the note.
	html("/v2", http.StatusOK, strings.NewReplacer(
		`id="next"`, `class="css-9x8y7z"`, `<p id="note" hidden>Sold out</p>`, `<a href="/help">Help</a>`,
	).Replace(list))
	html("/broken", http.StatusInternalServerError, `<!doctype html><title>Error</title><h1>Internal server error</h1>`)
	mux.Handle("/items", http.RedirectHandler("/login", http.StatusFound))
	s := httptest.NewServer(browsertest.Faulty(mux))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// TestScripts runs the command line through the real binary. In a script $SITE
// is the contact page, $TLS the same with a certificate that is not valid, $ASKING wants one of its client, $SHOP a
// list with prices, $DEMO the demo board and $TICK a page that counts.
// $APP is an address for the program testapp, at which nobody listens yet. $RUNNING is the address of a browser. A
// script whose commands attach to it, each in a browser context of its own, takes a third of the time.
func TestScripts(t *testing.T) {
	requireBrowser(t)
	gated := gate(t)
	contact := page(t, contactPage)
	ticking := page(t, tickingPage)
	shopping := shop(t)
	untrusted := selfSigned(t, contactPage)
	demanding := asking(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	browsers := browsertest.Environment(t)
	running := browsertest.Running(t)
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"within": withinLimit},
		Setup: func(e *testscript.Env) error {
			files := httptest.NewServer(browsertest.Faulty(http.FileServer(http.Dir(e.WorkDir))))
			e.Defer(files.Close)
			e.Setenv("FILES", files.URL+"/")
			e.Setenv("SITE", contact)
			e.Setenv("TICK", ticking)
			e.Setenv("SHOP", shopping)
			e.Setenv("TLS", untrusted)
			e.Setenv("ASKING", demanding)
			e.Setenv("GATE", gated)
			board := httptest.NewServer(demo.Handler(50 * time.Millisecond)) // of its own: scripts add cards
			e.Defer(board.Close)
			e.Setenv("DEMO", board.URL+"/")
			e.Setenv("REPO", root)
			e.Setenv("MAPS", filepath.Join(root, "testdata", "maps"))
			e.Setenv("DEMOMAP", filepath.Join(root, "sites", "demo", "actions.json"))
			e.Vars = append(e.Vars, browsers...)
			e.Setenv("RUNNING", running)
			e.Setenv("APP", freeAddress(t))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, ".config"))
			e.Setenv("TMPDIR", e.WorkDir)
			e.Defer(func() { endStrays(e.WorkDir) })
			return nil
		},
	})
}

// scripts are the files of the scripts that are run.
func scripts(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("../../testdata/scripts/*.txtar")
	if err != nil || len(all) < 50 {
		t.Fatalf("%d scripts: %v", len(all), err)
	}
	var run []string
	for n, file := range all {
		if browsertest.InShort(n, strings.TrimPrefix(file, "../../")) {
			run = append(run, file)
		}
	}
	return run
}

// endStrays ends the programs that a script left behind: one that was ended by its time
// ends the shell that it ran, and not what the shell had started. They are known by
// their folder for temporary files, which no other has.
func endStrays(folder string) {
	for _, how := range []os.Signal{os.Interrupt, os.Kill} {
		left := strays(folder)
		for _, p := range left {
			_ = p.Signal(how)
		}
		for until := time.Now().Add(5 * time.Second); len(left) > 0 &&
			time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
			left = strays(folder)
		}
		if len(left) == 0 {
			return
		}
	}
}

// ours are the names of programs that scripts start.
var ours = regexp.MustCompile(`^(outrider|testapp)`)

// strays are the processes of this program in a folder; none where there is no /proc.
func strays(folder string) []*os.Process {
	var out []*os.Process
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environment, err := os.ReadFile(file)
		if err != nil || !strings.Contains("\x00"+string(environment), "\x00TMPDIR="+folder+"\x00") {
			continue
		}
		program, err := os.Readlink(filepath.Join(filepath.Dir(file), "exe"))
		id, e := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || e != nil || !ours.MatchString(filepath.Base(program)) || id == os.Getpid() {
			continue
		}
		if p, err := os.FindProcess(id); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// A program that outlives the shell of a script is ended with the script.
func TestScriptsLeaveNoProgram(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no /proc")
	}
	folder := t.TempDir()
	shell := exec.Command("sh", "-c", "outrider hub --listen 127.0.0.1:0 & read -r _") // ends with its input
	shell.Env = append(os.Environ(), "TMPDIR="+folder)
	in, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range 2 { // all that it says: it would end when nobody can hear it
		if !lines.Scan() {
			t.Fatalf("the hub says nothing: %v", lines.Err())
		}
	}
	in.Close()
	_ = shell.Process.Kill()
	_ = shell.Wait()
	if n := len(strays(folder)); n != 1 {
		t.Fatalf("%d programs are left of the shell, expected the hub", n)
	}
	endStrays(folder)
	if n := len(strays(folder)); n != 0 {
		t.Errorf("%d programs are left", n)
	}
}

// withinLimit is the script command "within PATTERN COMMAND...": it runs a command that
// ends by its own --timeout, $LIMIT, and has to succeed with a match of PATTERN in its
// output. What happens before the limit takes as long as the machine is loaded, so one
// that was too short is doubled.
func withinLimit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: within PATTERN COMMAND...")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for limit := 4 * time.Second; ; limit *= 2 {
		ts.Setenv("LIMIT", limit.String())
		err := ts.Exec(args[1], args[2:]...)
		if err == nil && pattern.MatchString(ts.ReadFile("stdout")+ts.ReadFile("stderr")) {
			return
		}
		if limit > 2*time.Minute {
			ts.Fatalf(
				"no success with a match of %q within %s: %v\n%s%s",
				args[0], limit, err, ts.ReadFile("stdout"), ts.ReadFile("stderr"),
			)
		}
	}
}

func requireBrowser(t *testing.T) {
	t.Helper()
	if _, err := launch.Find("", ""); err != nil {
		if os.Getenv("OUTRIDER_REQUIRE_BROWSER") == "1" {
			t.Fatalf("a browser is required: %v", err)
		}
		t.Skipf("no browser: %v", err)
	}
}

// running is the context of a verb that a test starts and ends itself.
func running(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), 2*time.Minute)
}
