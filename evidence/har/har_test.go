package har_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/har"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/runtime"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// written is the HAR file of a recording with some requests.
func written(t *testing.T, o har.Options) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "visit.jsonl")
	file, err := record.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	log := record.NewLog(record.Header{Program: "outrider 1.0"}, nil, file)
	log.Put(record.KindHost, 0, record.Host{Version: "1.0", Browser: "Chrome/156.0.1.2"})
	log.Put(record.KindTab, 1, record.Tab{State: "opened", URL: "http://shop.example/?a=1&b=x%20y"})
	page := log.Keep("text/html", []byte("<h1>Shop</h1>"))
	log.Put(record.KindRequest, 1, record.Request{
		ID:              "n1",
		Method:          "GET",
		URL:             "http://shop.example/?a=1&b=x%20y#top",
		Type:            "document",
		Status:          200,
		StatusText:      "OK",
		MimeType:        "text/html",
		Protocol:        "h2",
		RemoteAddress:   "[::1]:443",
		State:           "finished",
		RequestHeaders:  json.RawMessage(`{"Accept":"*/*"}`),
		ResponseHeaders: json.RawMessage(`{"Set-Cookie":"a={{secret:cookie}}\nb={{secret:cookie}}"}`),
		Began:           began,
		FirstByteMS:     12,
		DurationMS:      20,
		Bytes:           300,
		Body:            page,
		BodySize:        13,
	}, page)
	sent := log.Keep("application/json", []byte(`{"n":1}`))
	picture := log.Keep("image/png", []byte{0x89, 'P', 'N', 'G', 0xff, 0})
	log.Put(record.KindRequest, 1, record.Request{
		ID:              "n2",
		Method:          "POST",
		URL:             "http://shop.example/api",
		Type:            "fetch",
		Status:          302,
		State:           "redirected",
		RequestHeaders:  json.RawMessage(`{"Content-Type":"application/json"}`),
		ResponseHeaders: json.RawMessage(`{"Location":"/api/1"}`),
		Began:           began,
		RequestBody:     sent,
	}, sent)
	log.Put(record.KindRequest, 1, record.Request{
		ID:       "n3",
		Method:   "GET",
		URL:      "http://shop.example/a.png",
		Type:     "image",
		Status:   200,
		State:    "finished",
		MimeType: "image/png",
		Began:    began,
		Body:     picture,
		BodySize: 6,
	}, picture)
	log.Put(record.KindRequest, 1, record.Request{
		ID:      "n4",
		Method:  "GET",
		URL:     "http://gone.example/",
		Type:    "fetch",
		State:   "failed",
		Failure: "net::ERR_CONNECTION_REFUSED",
		Began:   began,
	})
	log.Put(record.KindRequest, 1, record.Request{
		ID:          "n5",
		Method:      "GET",
		URL:         "http://shop.example/big",
		Type:        "fetch",
		Status:      200,
		State:       "finished",
		Began:       began,
		BodyMissing: "too_large",
		BodySize:    9 << 20,
	})
	if err := log.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out bytes.Buffer
	if err := har.Write(t.Context(), r, &out, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What is written is HAR 1.2 by the schema that the ecosystem's own checkers use.
func TestWrittenIsHAR(t *testing.T) {
	text, err := os.ReadFile("testdata/har-1.2.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{0, 10, -1} {
		got := written(t, har.Options{BodyLimit: limit})
		for _, p := range s.Validate(got) {
			t.Errorf("limit %d: %s: %s", limit, p.Path, p.Message)
		}
	}
	whole := string(written(t, har.Options{}))
	for _, want := range []string{
		`"browser":{"name":"Chrome","version":"156.0.1.2"}`,
		`"text":"<h1>Shop</h1>"`,
		`{"name":"b","value":"x y"}`,
		`{"name":"Set-Cookie","value":"a={{secret:cookie}}"},{"name":"Set-Cookie","value":"b={{secret:cookie}}"}`,
		`"serverIPAddress":"::1"`,
		`"postData":{"mimeType":"application/json","text":"{\"n\":1}"}`,
		`"redirectURL":"/api/1"`,
		`"encoding":"base64"`,
		`"_failureText":"net::ERR_CONNECTION_REFUSED"`,
		`"comment":"the body is larger than what is kept"`,
		`"startedDateTime":"2026-03-01T09:00:00.000Z"`,
	} {
		if !strings.Contains(whole, want) {
			t.Errorf("there is no %s in\n%s", want, whole)
		}
	}
	if small := string(written(t, har.Options{BodyLimit: 10})); strings.Contains(small, "<h1>") {
		t.Errorf("a body of 13 bytes is in the file: expected at most 10\n%s", small)
	}
}

const replay = `
const {chromium} = require('playwright-core');
(async () => {
  const [file, base, program] = process.argv.slice(2);
  const browser = await chromium.launch({executablePath: program, args: ['--no-sandbox']});
  const page = await (await browser.newContext()).newPage();
  await page.routeFromHAR(file, {notFound: 'abort'});
  await page.goto(base + '/');
  const said = await page.evaluate(async () => {
    const order = await fetch('/order', {method: 'POST', body: JSON.stringify({item: 'Tea'})}).then(r => r.json());
    const missing = await fetch('/nowhere').then(() => 'answered', () => 'aborted');
    const picture = document.querySelector('img');
    await picture.decode();
    return [document.querySelector('h1').textContent, order.total, picture.naturalWidth, missing].join(' ');
  });
  console.log(said);
  await browser.close();
})();`

// Playwright's routeFromHAR answers a page from what was written, when its server is gone.
func TestPlaywrightAnswersFromHAR(t *testing.T) {
	browsertest.OnlyLong(t)
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed, and Playwright comes from it")
	}
	chromium := os.Getenv("OUTRIDER_CHROMIUM")
	if chromium == "" {
		t.Skip("OUTRIDER_CHROMIUM names no browser for Playwright")
	}
	dir := t.TempDir()
	install := exec.CommandContext(t.Context(), npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir,
		"playwright-core@1.65.1")
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm is out of reach: %v\n%s", err, out)
	}
	base, file := visit(t)
	script := filepath.Join(dir, "replay.js")
	if err := os.WriteFile(script, []byte(replay), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, "node", script, file, base, chromium)
	run.Dir = dir
	out, err := run.CombinedOutput()
	if want := "Shop 6 1 aborted\n"; err != nil || string(out) != want {
		t.Errorf("Playwright says %q: expected %q (%v)", out, want, err)
	}
}

// visit records a page with a picture and a request that is sent, and ends its server.
func visit(t *testing.T) (base, file string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><link rel="icon" href="data:,"><h1>Shop</h1><img src="/one.gif">`)
	})
	mux.HandleFunc("/one.gif", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/gif")
		_, _ = io.WriteString(w, "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00"+
			"\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")
	})
	mux.HandleFunc("POST /order", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"total":6}`)
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	file = filepath.Join(t.TempDir(), "visit.har")
	recorder, err := capture.Open(capture.Files{HAR: file, ExportHAR: func(from, to string) error {
		return har.WriteFile(context.Background(), from, to, har.Options{})
	}}, capture.Options{Requests: true})
	if err != nil {
		t.Fatal(err)
	}
	h := runtimetest.Open(t, runtime.Options{Recorder: recorder, Open: []string{s.URL + "/"}})
	const order = "return fetch('/order', {method: 'POST', body: JSON.stringify({item: 'Tea'})}).then(r => r.text())"
	args, err := json.Marshal(map[string]string{"body": order})
	if err != nil {
		t.Fatal(err)
	}
	reply := h.Do(t.Context(), runtime.Call{Name: "page.evaluate", Arguments: args})
	if reply.Err != nil {
		t.Fatal(reply.Err)
	}
	if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	return s.URL, file
}
