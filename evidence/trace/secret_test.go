package trace_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/trace"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
)

// What a password field holds, a declared secret, and what stands for a session in headers are in no entry of a trace:
// not in actions, snapshots, console, network or bodies.
func TestATraceShowsNoSecret(t *testing.T) {
	const (
		typed    = "tr0ub4dor-canary"
		declared = "declared-canary-77"
		cookie   = "cookie-canary-31"
		token    = "token-canary-52"
	)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		http.SetCookie(w, &http.Cookie{Name: "session", Value: cookie})
		_, _ = io.WriteString(
			w,
			`<!doctype html><title>In</title><label>User <input id="user"></label><label>Password <input
			id="pass" type="password"></label>
<button onclick="send()">Sign in</button><p id="said"></p><script>async function send() { console.log('sending', pass.value);
const r = await fetch('/in', {method: 'POST', headers: {Authorization: 'Bearer ' + 'token-' + 'canary-52'},
body: JSON.stringify({user: user.value, pass: pass.value})}); said.textContent = await r.text(); }</script>`,
		)
	})
	mux.HandleFunc("POST /in", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		http.SetCookie(w, &http.Cookie{Name: "again", Value: cookie})
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = io.WriteString(w, "Hello, you sent "+string(body))
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	secrets := &mask.Set{}
	if err := secrets.Add("account", declared); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.zip")
	recorder, err := capture.Open(capture.Files{Trace: file, Export: exportFile}, capture.Options{
		Pages:    true,
		Pictures: true,
		Secrets:  secrets,
	})
	if err != nil {
		t.Fatal(err)
	}
	h := runtimetest.Open(t, runtime.Options{Recorder: recorder, Secrets: secrets, Open: []string{s.URL + "/"}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, c := range [][2]string{
		{"text.insert", `{"target":{"selector":"#user"},"text":"{{secret:account}}"}`},
		{"text.insert", `{"target":{"selector":"#pass"},"text":"` + typed + `"}`},
		{"pointer.click", `{"locator":{"role":"button","name":"Sign in"}}`},
		{"page.wait", `{"conditions":[{"text":"Hello, you sent"}]}`},
		{"page.snapshot", `{}`},
		{"cookie.get", `{}`},
	} {
		if r := h.Do(ctx, runtime.Call{Name: c[0], Arguments: json.RawMessage(c[1])}); r.Err != nil &&
			c[0] != "cookie.get" {
			t.Fatalf("%s: %v", c[0], r.Err)
		}
	}
	if err := h.Close(context.WithoutCancel(ctx)); err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	said := false
	for _, entry := range z.File {
		in, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		_ = in.Close()
		if err != nil {
			t.Fatal(err)
		}
		said = said || bytes.Contains(data, []byte("Hello, you sent"))
		for _, secret := range []string{typed, declared, cookie, token} {
			if i := bytes.Index(data, []byte(secret)); i >= 0 {
				t.Errorf(
					"%s shows %s: %s",
					entry.Name, secret, strings.ToValidUTF8(string(data[max(0, i-150):min(len(data), i+50)]), ""),
				)
			}
		}
	}
	if !said {
		t.Error("the trace lacks what the page said, so the test proves nothing")
	}
}

func exportFile(from, to string) error { return trace.ExportFile(context.Background(), from, to) }
