//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const jcodePage = `<!doctype html><title>Form</title><h1>Order</h1>
<form onsubmit="event.preventDefault(); say('sent ' + q.value)"><label>Name <input id="q"></label>
<label><input type="checkbox" id="c">Agree</label><select id="s"><option value="a">First</option><option value="b">Second</option></select></form>
<button id="b" onclick="setTimeout(() => say('pressed'), 200)">Press me</button><a href="/next">Next page</a><p id="o"></p>
<div style="height:3000px"></div><script>function say(t) { document.getElementById('o').textContent = t }</script>`

// jcodeHome is a machine with nothing but this binary and a browser.
type jcodeHome struct {
	t    *testing.T
	bin  string
	home string
	run  string // runtime directory
	env  []string
}

func TestJcode(t *testing.T) {
	requireBrowser(t)
	bin := filepath.Join(t.TempDir(), "outrider")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("building: %v: %s", err, out)
	}
	for _, c := range []struct {
		name string
		test func(*testing.T, *jcodeHome)
	}{
		{"install", testJcodeInstall},
		{"readiness", testJcodeReadiness},
		{"actions", testJcodeActions},
		{"on demand", testJcodeOnDemand},
		{"started by jcode", testJcodeStarts},
		{"idle", testJcodeIdle},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, newJcodeHome(t, bin))
		})
	}
}

func newJcodeHome(t *testing.T, bin string) *jcodeHome {
	t.Helper()
	run, err := os.MkdirTemp("", "jc") // short: the path of a socket is bounded
	if err != nil {
		t.Fatal(err)
	}
	h := &jcodeHome{t: t, bin: bin, home: t.TempDir(), run: run}
	h.env = append(
		os.Environ(), "HOME="+h.home, "XDG_RUNTIME_DIR="+run, "JCODE_HOME=", "JCODE_RUNTIME_DIR=",
		"BROWSER_SESSION=", "XDG_CONFIG_HOME="+filepath.Join(h.home, ".config"),
	)
	t.Cleanup(func() {
		_, _, _ = h.exec(bin, "jcode", "uninstall")
		_ = os.RemoveAll(run)
	})
	return h
}

func (h *jcodeHome) browser() string { return filepath.Join(h.home, ".jcode", "browser", "browser") }

func (h *jcodeHome) exec(name string, args ...string) (stdout, stderr string, code int) {
	return h.as("", name, args...)
}

// as runs a command with a session named in the environment, as jcode does.
func (h *jcodeHome) as(session, name string, args ...string) (stdout, stderr string, code int) {
	cmd := exec.CommandContext(h.t.Context(), name, args...)
	if h.t.Context().Err() != nil { // cleaning up
		cmd = exec.Command(name, args...) // the test's context is over
	}
	cmd.Env, cmd.Dir = append(h.env, "BROWSER_SESSION="+session), h.home
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		h.t.Errorf("%s %v: %v", name, args, err)
	}
	return out.String(), said.String(), cmd.ProcessState.ExitCode()
}

// act runs one action that must succeed.
func (h *jcodeHome) act(session, action, params string) map[string]any {
	h.t.Helper()
	out, said, code := h.as(session, h.browser(), action, params)
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil {
		h.t.Fatalf("%s %s: exit %d, stdout %q, stderr %q", action, params, code, out, said)
	}
	return v
}

func (h *jcodeHome) install(flags ...string) {
	h.t.Helper()
	if _, said, code := h.exec(h.bin, append([]string{"jcode", "install", "--"}, flags...)...); code != 0 {
		h.t.Fatalf("install: exit %d, %s", code, said)
	}
}

func (h *jcodeHome) file(session, suffix string) string {
	return filepath.Join(h.run, "browser-session-"+session+suffix)
}

// pid reads the session's process, which must be there.
func (h *jcodeHome) pid(session string) int {
	h.t.Helper()
	content, err := os.ReadFile(h.file(session, ".pid"))
	var pid int
	if _, e := fmt.Sscan(string(content), &pid); err != nil || e != nil {
		h.t.Fatalf("the session %s has no pid file: %v", session, err)
	}
	return pid
}

// eventually polls until something outside this process has come about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s did not come about within two minutes", what)
		}
	}
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

func testJcodeInstall(t *testing.T, h *jcodeHome) {
	if out, _, code := h.exec(h.bin, "jcode", "status"); code != exitFailed || !strings.Contains(out, "not installed") {
		t.Errorf("status before: exit %d, %q", code, out)
	}
	// Another program that is there stays, unless it is to be replaced; then it
	// comes back.
	if err := os.MkdirAll(filepath.Dir(h.browser()), 0o755); err != nil {
		t.Fatal(err)
	}
	other := "#!/bin/sh\necho other\n"
	if err := os.WriteFile(h.browser(), []byte(other), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, code := h.exec(h.bin, "jcode", "install"); code != exitEnvironment {
		t.Errorf("install over another program: exit %d, want %d", code, exitEnvironment)
	}
	if _, _, code := h.exec(h.bin, "jcode", "uninstall"); code != exitEnvironment {
		t.Errorf("uninstall of another program: exit %d, want %d", code, exitEnvironment)
	}
	if _, said, code := h.exec(h.bin, "jcode", "install", "--force", "--", "--nonsense"); code != exitUsage {
		t.Errorf("install with an unknown flag: exit %d, %s", code, said)
	}
	if _, said, code := h.exec(h.bin, "jcode", "install", "--force"); code != 0 {
		t.Fatalf("install --force: exit %d, %s", code, said)
	}
	if out, _, code := h.exec(h.browser(), "ping"); code != 0 || !strings.Contains(out, "pong") {
		t.Errorf("ping: exit %d, %q", code, out)
	}
	if _, _, code := h.exec(h.bin, "jcode", "status"); code != 0 {
		t.Errorf("status after: exit %d", code)
	}
	if _, _, code := h.exec(h.bin, "jcode", "uninstall"); code != 0 {
		t.Errorf("uninstall: exit %d", code)
	}
	if content, err := os.ReadFile(h.browser()); err != nil || string(content) != other {
		t.Errorf("the other program is not back: %v, %q", err, content)
	}
}

// The calls that jcode makes before each action: they must be answered without a browser.
func testJcodeReadiness(t *testing.T, h *jcodeHome) {
	h.install()
	for _, probe := range [][]string{
		{"ping"}, {"evaluate", `{"script":"return 1"}`}, {"listFrames", `{}`}, {"scroll", `{"position":"top"}`},
		{"uploadFile", `{"selector":"input[type=file]","filePath":"/tmp/jcode-browser-capability-probe"}`},
	} {
		out, said, code := h.exec(h.browser(), probe...)
		if strings.Contains(out+said, "Unknown action") || code != 0 && probe[0] != "uploadFile" {
			t.Errorf("%v: exit %d, %q %q", probe, code, out, said)
		}
		if probe[0] == "ping" && !strings.Contains(out, "pong") {
			t.Errorf("ping answers %q", out)
		}
	}
	if out, _, _ := h.exec(h.browser(), "session", "start", "--help"); !strings.Contains(out, "--bind-window") {
		t.Errorf("session start --help says %q", out)
	}
	if entries, err := os.ReadDir(h.run); err != nil || len(entries) > 0 {
		t.Errorf("the probes started something: %v %v", entries, err)
	}
	out, said, code := h.as("s", h.browser(), "teleport", `{}`)
	if code != 1 || out != "" || strings.TrimSpace(said) != "Error: Unknown action: teleport" {
		t.Errorf("an unknown action: exit %d, %q, %q", code, out, said)
	}
}

func testJcodeActions(t *testing.T, h *jcodeHome) {
	site := page(t, jcodePage)
	uploads := t.TempDir()
	if err := os.WriteFile(filepath.Join(uploads, "a.txt"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.install("--upload-dir", uploads)
	const s = "session_one-1"
	act := func(action, params string) map[string]any { t.Helper(); return h.act(s, action, params) }
	text := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	has := func(what string, v any, want string) {
		t.Helper()
		if got := text(v); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s in it", what, got, want)
		}
	}
	opened := act("navigate", `{"url":"`+site+`","wait":true}`)
	has("navigate", opened, `"title":"Form"`)
	has("navigate", opened["content"], `[button \"Press me\" selector=\"[ref=`)
	tab, ok := opened["tabId"].(float64)
	if !ok || tab <= 0 {
		t.Fatalf("navigate: tabId is %v", opened["tabId"])
	}
	has("click", act("click", `{"text":"Press me"}`), `"clicked":true`)
	has("waitFor", act("waitFor", `{"contains":"pressed","timeout":5000}`), `"found":true`)
	content, _ := act("getContent", `{"format":"annotated"}`)["content"].(string)
	_, after, _ := strings.Cut(content, `[textbox "Name" selector="`)
	selector, _, ok := strings.Cut(after, `"`)
	if !ok {
		t.Fatalf("the annotated content names no input: %s", content)
	}
	has("type", act("type", `{"selector":"`+selector+`","text":"Ada","submit":true}`), `"typed":true`)
	has("getContent text", act("getContent", `{"format":"text"}`), "sent Ada")
	has("getContent html", act("getContent", `{"format":"html"}`), `id=\"q\"`)
	filled := act("fillForm", `{"fields":[{"selector":"#q","value":"Bob"},{"selector":"#c","checked":true},`+
		`{"selector":"#s","value":"Second"}]}`)
	has("fillForm", filled, `"success":true`)
	has(
		"evaluate", act("evaluate", `{"script":"return [q.value, c.checked, s.value]","pageWorld":true}`),
		`{"result":["Bob",true,"b"],"type":"array"}`,
	)
	// A script that jcode makes for a key names the element by the selector.
	act(
		"evaluate",
		`{"script":"const e = document.querySelector(\"`+selector+`\"); e.value = \"by script\"; return e.id"}`,
	)
	has("evaluate of a selector", act("evaluate", `{"script":"return q.value"}`), "by script")
	has("getInteractables", act("getInteractables", ``), `"inputType":"checkbox"`)
	has("scroll", act("scroll", `{"y":200.0}`), `"scrollY":200`)
	has("scroll to", act("scroll", `{"scrollTo":{"x":0,"y":50}}`), `"scrollY":50`)
	has("scroll top", act("scroll", `{"position":"top"}`), `"scrollY":0`)
	shot := filepath.Join(t.TempDir(), "shot.png")
	has("screenshot", act("screenshot", `{"filename":"`+shot+`"}`), shot)
	f, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := png.Decode(f); err != nil {
		t.Errorf("the screenshot: %v", err)
	}
	second := act("newSession", `{"url":"`+site+`next"}`)
	has("listTabs", act("listTabs", ``), `"totalTabs":2`)
	has("setActiveTab", act("setActiveTab", fmt.Sprintf(`{"tabId":%v}`, tab)), fmt.Sprintf(`"tabId":%v`, tab))
	has("getActiveTab", act("getActiveTab", ``), fmt.Sprintf(`"tabId":%v`, tab))
	has("listFrames", act("listFrames", fmt.Sprintf(`{"tabId":%v}`, second["tabId"])), `"frameId":0`)
	act("evaluate", `{"script":"document.body.insertAdjacentHTML('beforeend', '<input type=file id=f>')"}`)
	has(
		"uploadFile", act("uploadFile", `{"filePath":"`+filepath.Join(uploads, "a.txt")+`","fileName":"a.txt"}`),
		`"uploaded":true`,
	)
	// provider_command of jcode: methods of the protocol, as they are.
	has("page.open", act("page.open", `{"url":"`+site+`"}`), `"page_id"`)
	has("provider.describe", act("provider.describe", `{}`), `"provider_id":"outrider"`)

	for _, c := range []struct{ action, params, says string }{
		{"click", `{"selector":"#missing","timeoutMs":200}`, "Error: Element not found"},
		{"click", `{"selector":"##"}`, "Error: invalid_selector: "},
		{"waitFor", `{"text":"never there","timeout":100}`, "Error: Timeout waiting for: never there"},
		{"page.teleport", `{}`, "Error: Unknown action: page.teleport"},
		{"click", `[]`, "Error: invalid_request: "},
		{"uploadFile", `{"filePath":"/etc/hostname","selector":"#f"}`, "Error: permission_denied: "},
	} {
		out, said, code := h.as(s, h.browser(), c.action, c.params)
		if code != 1 || out != "" || !strings.HasPrefix(said, c.says) {
			t.Errorf("%s %s: exit %d, stdout %q, stderr %q, want 1 and %q", c.action, c.params, code, out, said, c.says)
		}
	}
	if _, said, code := h.as("../evil", h.browser(), "listTabs", `{}`); code != 1 ||
		!strings.Contains(said, "session name") {
		t.Errorf("a session name with a path: exit %d, %q", code, said)
	}
}

// One process serves a session, however many ask for it at once; another session
// has another one.
func testJcodeOnDemand(t *testing.T, h *jcodeHome) {
	h.install()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if out, said, code := h.as("one", h.browser(), "getActiveTab", `{}`); code != 0 {
				t.Errorf("exit %d, %q %q", code, out, said)
			}
		})
	}
	all.Wait()
	first := h.pid("one")
	h.act("one", "getActiveTab", `{}`)
	h.act("two", "getActiveTab", `{}`)
	if again := h.pid("one"); again != first {
		t.Errorf("the session moved from process %d to %d", first, again)
	}
	if h.pid("two") == first {
		t.Error("two sessions share a process")
	}
	// A process that is killed leaves its files, and they are no obstacle.
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	h.act("one", "getActiveTab", `{}`)
	if h.pid("one") == first {
		t.Error("the session is reported as served by a process that was killed")
	}
	if _, said, code := h.exec(h.browser(), "session", "stop", "two"); code != 0 || exists(h.file("two", ".pid")) ||
		exists(h.file("two", ".sock")) {
		t.Errorf("session stop: exit %d, %s; the files are there: %t", code, said, exists(h.file("two", ".pid")))
	}
}

// jcode starts the process itself and looks for the two files.
func testJcodeStarts(t *testing.T, h *jcodeHome) {
	h.install()
	cmd := exec.CommandContext(t.Context(), h.browser(), "session", "start", "mine", "--bind-window")
	cmd.Env = h.env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	var ready struct {
		Ready  bool
		Socket string
		PID    int
	}
	if e := json.Unmarshal([]byte(line), &ready); err != nil || e != nil || !ready.Ready ||
		ready.PID != cmd.Process.Pid || ready.Socket != h.file("mine", ".sock") {
		t.Errorf("the first line is %q (%v)", line, err)
	}
	if h.pid("mine") != cmd.Process.Pid || !exists(h.file("mine", ".sock")) {
		t.Error("the files are not those of the process")
	}
	h.act("mine", "getActiveTab", `{}`)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if exists(h.file("mine", ".pid")) || exists(h.file("mine", ".sock")) {
		t.Error("a process that was signalled to end left its files")
	}
}

func testJcodeIdle(t *testing.T, h *jcodeHome) {
	h.install("--session-idle", "3s")
	h.act("brief", "getActiveTab", `{}`)
	pid := h.pid("brief")
	eventually(t, "the end of an idle process", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	if exists(h.file("brief", ".pid")) || exists(h.file("brief", ".sock")) {
		t.Error("an idle process left its files")
	}
	// And one whose files were taken away has lost its session.
	h.install()
	h.act("lost", "getActiveTab", `{}`)
	pid = h.pid("lost")
	if err := os.Remove(h.file("lost", ".sock")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of a process without a socket", func() bool {
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	})
}
