package view

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/primitives/fault"
)

// The page, its styles and its script.
var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// page is the page with its styles and script in it, and the policy by which nothing else runs or loads.
var page = sync.OnceValues(func() ([]byte, string) {
	sum := func(text string) string {
		s := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(s[:]) + "'"
	}
	text := strings.NewReplacer("{{style}}", pageCSS, "{{script}}", pageJS).Replace(pageHTML)
	return []byte(text), "default-src 'none'; style-src " + sum(pageCSS) + "; script-src " + sum(pageJS) +
		"; img-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; " +
		"frame-ancestors 'none'"
})

// snapshotPolicy lets a recorded document be drawn and nothing else.
const snapshotPolicy = "sandbox; default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"font-src 'self' data:; media-src 'none'; frame-src 'self'; base-uri 'none'; form-action 'none'"

// View serves a recording.
type View struct {
	x     *recording
	token string
}

// New shows a recording, which must stay open.
func New(r *record.Recording) *View {
	return &View{x: read(r), token: rand.Text()}
}

// Handler answers the requests of a browser.
func (v *View) Handler() http.Handler {
	mux := http.NewServeMux()
	at := "GET /" + v.token + "/"
	mux.HandleFunc(at+"{$}", func(w http.ResponseWriter, _ *http.Request) {
		text, policy := page()
		w.Header().Set("Content-Security-Policy", policy)
		send(w, "text/html; charset=utf-8", text)
	})
	mux.HandleFunc(at+"model.json", func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, v.x.model) })
	mux.HandleFunc(at+"row/{id}", func(w http.ResponseWriter, r *http.Request) {
		d, ok := v.x.detail(r.PathValue("id"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		sendJSON(w, d)
	})
	mux.HandleFunc(at+"snapshot/{name}", v.snapshot)
	mux.HandleFunc(at+"get", v.get)
	mux.HandleFunc(at+"picture/{name}", func(w http.ResponseWriter, r *http.Request) {
		v.resource(w, r, r.PathValue("name"), "image/jpeg")
	})
	mux.HandleFunc(at+"body/{name}", func(w http.ResponseWriter, r *http.Request) {
		v.resource(w, r, r.PathValue("name"), "text/plain; charset=utf-8")
	})
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	return guarded(mux)
}

// guarded refuses requests by another name of this machine, which a web page may have been given.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(strings.Trim(host, "[]")); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "this host name is not one of the server's", http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
		next.ServeHTTP(w, r)
	})
}

func send(w http.ResponseWriter, kind string, data []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) // who has gone does not read it
}

func sendJSON(w http.ResponseWriter, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	send(w, "application/json", data)
}

func (v *View) resource(w http.ResponseWriter, r *http.Request, name, kind string) {
	data, err := v.x.Data(name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	send(w, kind, data)
}

// snapshot answers ROW.PHASE, or ROW.PHASE.FRAME for the document of a frame in it.
func (v *View) snapshot(w http.ResponseWriter, r *http.Request) {
	id, rest, _ := strings.Cut(r.PathValue("name"), ".")
	phase, frame, _ := strings.Cut(rest, ".")
	row, ok := v.x.rows[id]
	step := row.first
	if phase == "after" {
		step = row.last
	}
	if !ok || step == nil {
		http.NotFound(w, r)
		return
	}
	for _, s := range step.Snapshots {
		if s.Phase != phase || frame == "" && !s.Main || frame != "" && s.Frame != frame {
			continue
		}
		raw, err := v.x.Data(s.Resource)
		if err != nil {
			break
		}
		out, err := draw(raw, s, step.Target, func(i int) string {
			if i < 0 || i >= len(s.Frames) || s.Frames[i] == "" || s.Frames[i] == s.Frame {
				return ""
			}
			return url.PathEscape(id + "." + phase + "." + s.Frames[i])
		})
		if err != nil {
			break
		}
		w.Header().Set("Content-Security-Policy", snapshotPolicy)
		send(w, "text/html; charset=utf-8", out)
		return
	}
	http.NotFound(w, r)
}

// get answers what a recorded page had from an address: styles, pictures and fonts.
func (v *View) get(w http.ResponseWriter, r *http.Request) {
	address := r.URL.Query().Get("url")
	b, ok := v.x.bodies[address]
	if !ok {
		http.NotFound(w, r)
		return
	}
	data, err := v.x.Data(b.resource)
	kind, _, _ := strings.Cut(strings.ToLower(b.mimeType), ";")
	switch {
	case err != nil:
	case kind == "text/css":
		base, err := url.Parse(address)
		if err != nil {
			base = nil
		}
		// Addresses in it are relative to it, and it is where the snapshots' folder is.
		send(
			w, "text/css",
			[]byte(strings.ReplaceAll(servedCSS(base, string(bytes.ToValidUTF8(data, nil))), getPath, "get?url=")),
		)
		return
	case strings.HasPrefix(kind, "image/"), strings.HasPrefix(kind, "font/"), strings.Contains(kind, "font"),
		kind == "application/octet-stream":
		send(w, kind, data)
		return
	}
	http.NotFound(w, r)
}

// Serve serves a recording on this machine until ctx ends. ready gets the address.
func Serve(ctx context.Context, path string, port int, ready func(address string)) error {
	r, err := record.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	v := New(r)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fault.Wrap(fault.InvalidInput, err, "port %d of this machine cannot be listened on", port)
	}
	server := &http.Server{Handler: v.Handler(), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: time.Minute}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		<-ctx.Done()
		_ = server.Close()
	})
	ready("http://" + listener.Addr().String() + "/" + v.token + "/")
	err = server.Serve(listener)
	cancel()
	running.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
