package browser_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// launchWith starts a browser of its own and opens a tab.
func launchWith(t *testing.T, o browser.Options) *browser.Tab {
	t.Helper()
	browsertest.Require(t)
	o.Patience = browsertest.OnThisMachine
	o.ExtraArgs = browsertest.Flags()
	b, err := browser.Launch(within(t, time.Minute), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	tab, err := b.NewTab(within(t, 20*time.Second), "", browser.TabOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// call runs one primitive and decodes its payload.
func call(t *testing.T, tab *browser.Tab, name, args string) (map[string]any, *fault.Error) {
	t.Helper()
	r := catalog.Standard().Invoke(within(t, 20*time.Second), tab, name, json.RawMessage(args))
	var out map[string]any
	if len(r.Payload) > 0 {
		if err := json.Unmarshal(r.Payload, &out); err != nil {
			t.Fatal(err)
		}
	}
	return out, r.Err
}

func TestUpload(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		dir + "/a.txt":          "alpha",
		dir + "/b.txt":          "beta",
		dir + "/sub/c.txt":      "gamma",
		outside + "/secret.txt": "secret",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		dir + "/link.txt":  outside + "/secret.txt",
		dir + "/linkdir":   outside,
		dir + "/inner.txt": dir + "/a.txt",
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	tab := launchWith(t, browser.Options{UploadDirs: []string{dir}})
	open(t, tab, servePages(t)+"/upload/form.html")
	for _, c := range []struct {
		name, selector string
		paths          []string
		via, got       string
		code           fault.Code
	}{
		{"plain", "#one", []string{"a.txt"}, "input", "one:a.txt=alpha", ""},
		{"an absolute path inside", "#one", []string{dir + "/sub/c.txt"}, "input", "one:c.txt=gamma", ""},
		{
			"several into a hidden one", "#styled", []string{"a.txt", "b.txt"},
			"input", "styled:a.txt=alpha,b.txt=beta", "",
		},
		{"by its label", "#label", []string{"b.txt"}, "input", "styled:b.txt=beta", ""},
		{"a button that asks", "#asks", []string{"a.txt"}, "chooser", "late:a.txt=alpha", ""},
		{"none at all", "#one", nil, "", "", fault.InvalidInput},
		{"two for one", "#one", []string{"a.txt", "b.txt"}, "", "", fault.InvalidArguments},
		{"two for a chooser of one", "#asks", []string{"a.txt", "b.txt"}, "", "", fault.InvalidArguments},
		{"a button that does not ask", "#mute", []string{"a.txt"}, "", "", fault.TargetNotActionable},
		{"disabled", "#off", []string{"a.txt"}, "", "", fault.TargetNotActionable},
		{"no such element", "#none", []string{"a.txt"}, "", "", fault.TargetNotFound},
		{"no such file", "#one", []string{"z.txt"}, "", "", fault.InvalidArguments},
		{"a folder", "#one", []string{"sub"}, "", "", fault.InvalidArguments},
		{
			"up and out", "#one", []string{"../" + filepath.Base(outside) + "/secret.txt"},
			"", "", fault.PermissionDenied,
		},
		{"down, up and out", "#one", []string{"sub/../../x"}, "", "", fault.PermissionDenied},
		{"an absolute path elsewhere", "#one", []string{outside + "/secret.txt"}, "", "", fault.PermissionDenied},
		{"a link out", "#one", []string{"link.txt"}, "", "", fault.PermissionDenied},
		{"a linked folder", "#one", []string{"linkdir/secret.txt"}, "", "", fault.PermissionDenied},
		{"a link that stays inside", "#one", []string{"inner.txt"}, "", "", fault.PermissionDenied},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := tab.Eval(
				within(t, 5*time.Second), "", `document.getElementById("got").textContent = ""`,
			); err != nil {
				t.Fatal(err)
			}
			paths := append([]string{}, c.paths...)
			args, _ := json.Marshal(map[string]any{"locator": map[string]any{"selector": c.selector}, "paths": paths})
			out, err := call(t, tab, "upload.set_files", string(args))
			if fault.CodeOf(err) != c.code && !(err == nil && c.code == "") {
				t.Fatalf("got %v, want %q", err, c.code)
			}
			want := c.got
			if c.code == "" {
				if out["via"] != c.via || out["count"] != float64(len(paths)) {
					t.Errorf("got %v, want %d files via %s", out, len(paths), c.via)
				}
				target, _ := out["target"].(map[string]any)
				named := map[string]string{
					"#one":    "Choose File",
					"#styled": "Choose",
					"#label":  "Choose",
					"#asks":   "Attach",
				}[c.selector]
				if target["role"] != "button" || target["name"] != named || target["bounding_box"] == nil ||
					c.selector == "#one" && target["field"] != "one" {
					t.Errorf("acted on %v, want the button %q with its place", target, named)
				}
			}
			got, evalErr := tab.Eval(within(t, 5*time.Second), "", `new Promise(done => {
				const say = () => document.getElementById("got").textContent;
				const until = performance.now() + (`+fmt.Sprint(want != "")+` ? 60000 : 30);
				(function look() { say() !== "" || performance.now() > until ? done(say()) : requestAnimationFrame(look) })();
			})`)
			if got != want || evalErr != nil {
				t.Errorf("the page got %q, want %q, %v", got, want, evalErr)
			}
		})
	}
}

func TestDownloads(t *testing.T) {
	const text = "a report\n"
	release := make(chan struct{})
	pages := http.FileServer(http.Dir(pagesRoot))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/file/report":
			w.Header().Set("Content-Disposition", `attachment; filename="report.txt"`)
			fmt.Fprint(w, text)
		case "/file/slow":
			w.Header().Set("Content-Disposition", `attachment; filename="slow.bin"`)
			fmt.Fprint(w, strings.Repeat(text, 1000)) // enough to see what it is
			w.(http.Flusher).Flush()
			select {
			case <-release:
			case <-r.Context().Done():
			}
		case "/file/large":
			w.Header().Set("Content-Disposition", `attachment; filename="large.bin"`)
			fmt.Fprint(w, strings.Repeat("x", 1<<20))
			w.(http.Flusher).Flush()
			select {
			case <-release:
			case <-r.Context().Done():
			}
		default:
			pages.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	defer close(release)
	dir := filepath.Join(t.TempDir(), "made")
	tab := launchWith(t, browser.Options{DownloadDir: dir, DownloadLimit: 100_000})
	open(t, tab, srv.URL+"/download/links.html")

	tab.PostEval(`document.getElementById("report").click()`)
	out, err := call(t, tab, "download.wait", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(text))
	if out["state"] != "completed" || out["filename"] != "report.txt" || out["sha256"] != hex.EncodeToString(sum[:]) ||
		out["bytes_received"] != float64(len(text)) {
		t.Errorf("got %v", out)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "report.txt")); err != nil || string(b) != text {
		t.Errorf("the file holds %q, %v", b, err)
	}

	// The same again does not overwrite it; a name cannot lead out of the folder.
	for i, c := range []struct{ click, name string }{
		{`document.getElementById("report").click()`, "report (1).txt"},
		{`document.getElementById("blob").click()`, "me.txt"},
	} {
		tab.PostEval(c.click)
		out, err := call(t, tab, "download.wait", `{}`)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := out["filename"].(string)
		if !strings.HasSuffix(name, c.name) || filepath.Dir(out["path"].(string)) != dir {
			t.Errorf("download %d: got %v, want a name that ends in %s", i, out, c.name)
		}
	}
	tab.PostEval(`location.href = "/file/large"`)
	if out, err := call(t, tab, "download.wait", `{}`); fault.CodeOf(err) != fault.PayloadTooLarge {
		t.Errorf("over the limit: got %v, %v", out, err)
	}
	list, err := call(t, tab, "download.list", `{}`)
	if err != nil || len(list["downloads"].([]any)) != 4 {
		t.Errorf("got %v, %v", list, err)
	}
	if _, err := call(t, tab, "download.wait", `{"timeout_ms":50}`); fault.CodeOf(err) != fault.Timeout {
		t.Errorf("nothing more comes: got %v, want timeout", err)
	}
	if _, err := call(t, tab, "download.wait", `{"download_id":"d99"}`); fault.CodeOf(err) != fault.TargetNotFound {
		t.Errorf("an id that is not there: got %v", err)
	}
	out, err = call(t, tab, "page.pdf", `{"file":"../printed.pdf"}`)
	if err != nil || out["path"] != filepath.Join(dir, "_printed.pdf") {
		t.Errorf("printing to a file: got %v, %v", out, err)
	}
	// What is not complete is in a folder of its own, which the next run finds when this one is killed.
	tab.PostEval(`location.href = "/file/slow"`)
	browsertest.Eventually(t, time.Minute, "the slow download", func() bool {
		list, err := call(t, tab, "download.list", `{}`)
		return err == nil && len(list["downloads"].([]any)) == 5
	})
	left, readErr := os.ReadDir(dir)
	left = slices.DeleteFunc(left, func(e os.DirEntry) bool {
		return strings.HasPrefix(e.Name(), ".outrider-incoming-")
	})
	if len(left) != 4 || readErr != nil {
		t.Errorf("the folder holds %d files, want 4: %v, %v", len(left), left, readErr)
	}
}
