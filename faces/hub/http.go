package hub

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/primitives/fault"
)

// maxWait bounds a long poll for events.
const maxWait = time.Minute

func (h *Hub) routes() {
	h.mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{"ok": true, "service": "outrider-hub", "version": h.opts.Version})
	})
	h.mux.HandleFunc("GET /runtimes", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, h.view())
	})
	h.mux.HandleFunc("GET /mcp/tools/list", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{"tools": h.Tools()})
	})
	h.mux.HandleFunc("POST /mcp/tools/call", h.serveCall)
	h.mux.HandleFunc("GET /events", h.serveEvents)
	h.mux.HandleFunc("GET "+extensionPath, h.serveRuntime)
	polling := &bridgeclient.PollingServer{Accept: h.acceptPolling, MaxRead: int(h.opts.MaxMessage)}
	h.mux.Handle("GET "+itemsPath, polling)
	h.mux.Handle("POST "+itemsPath, polling)
}

// Handler serves the hub's routes behind its guard.
func (h *Hub) Handler() http.Handler { return h.guard(h.bounded(methods(h.mux))) }

// callMembers are those of a ToolCall.
var callMembers = []string{
	"name", "arguments", "runtime_id", "target",
	"target_runtime_id", "target_runtime_key", "target_url_contains", "target_title_contains",
	"timeout_ms", "call_id", "idempotency_key", "_meta",
}

func (h *Hub) serveCall(w http.ResponseWriter, r *http.Request) {
	var call ToolCall
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, h.opts.MaxBody))
	d.DisallowUnknownFields() // a member that is passed over may have said which runtime is meant
	if err := d.Decode(&call); err != nil {
		if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
			fail(
				w, http.StatusRequestEntityTooLarge,
				fault.New(fault.PayloadTooLarge, "the request is too long").With("limit", big.Limit),
			)
			return
		}
		if errors.Is(err, errTooMuch) {
			busy(w, fault.New(fault.QueueFull, "%s", errTooMuch))
			return
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			fail(
				w, http.StatusRequestTimeout,
				fault.New(fault.Timeout, "the body did not arrive within %s", h.opts.BodyWithin),
			)
			return
		}
		e := fault.New(fault.InvalidInput, "the body is not a JSON object with the members of a call").
			With("offset", d.InputOffset())
		if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			e = fault.New(fault.InvalidInput, "a call has no member %s", name).With("members", callMembers)
		}
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) && wrong.Field != "" {
			e.With("path", "/"+wrong.Field).With("expected", wrong.Type.String())
		}
		fail(w, http.StatusBadRequest, e)
		return
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		fail(
			w, http.StatusBadRequest,
			fault.New(fault.InvalidInput, "the body goes on after the call").With("offset", d.InputOffset()),
		)
		return
	}
	res := h.Call(r.Context(), call)
	reply(w, res.Status, res)
}

func (h *Hub) serveEvents(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	since, wait := int64(0), time.Duration(0)
	for name, set := range map[string]func(int64){
		"since":   func(n int64) { since = n },
		"wait_ms": func(n int64) { wait = min(time.Duration(max(n, 0))*time.Millisecond, maxWait) },
	} {
		if s := q.Get(name); s != "" {
			n, err := strconv.ParseInt(s, 10, 53)
			if err != nil {
				fail(w, http.StatusBadRequest, fault.New(fault.InvalidInput, "%s is not a number", name))
				return
			}
			set(n)
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	list, cursor := h.Events(ctx, since, q.Get("runtime_id"))
	reply(w, http.StatusOK, map[string]any{"events": list, "cursor": cursor})
}

// serveRuntime runs one runtime connection. The guard has checked the origin.
func (h *Hub) serveRuntime(w http.ResponseWriter, r *http.Request) {
	if !h.reserve(true) {
		fail(
			w, http.StatusServiceUnavailable,
			fault.New(fault.QueueFull, "%d connections have announced no runtime yet", h.opts.MaxUnannounced),
		)
		return
	}
	ended := make(chan struct{})
	started := h.background(func(ctx context.Context) {
		defer close(ended)
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err != nil {
			h.release()
			return // Accept has answered
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		c := h.newConn(bridgeclient.WrapWebSocket(ws, int(h.opts.MaxAnnouncement)), h.vouched(r), stop)
		c.widen = func() { ws.SetReadLimit(h.opts.MaxMessage) }
		c.serve(ctx)
	})
	if !started {
		h.release()
		fail(w, http.StatusServiceUnavailable, closingError())
		return
	}
	<-ended
}

// acceptPolling runs the connection of a runtime that polls.
func (h *Hub) acceptPolling(r *http.Request, c bridgeclient.Conn) *fault.Error {
	if !h.reserve(true) {
		return fault.New(fault.QueueFull, "%d connections have announced no runtime yet", h.opts.MaxUnannounced)
	}
	trusted := h.vouched(r)
	started := h.background(func(ctx context.Context) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		h.newConn(c, trusted, stop).serve(ctx)
	})
	if !started {
		h.release()
		return closingError()
	}
	return nil
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(marshal(v), '\n'))
}

func fail(w http.ResponseWriter, status int, err *fault.Error) {
	reply(w, status, ToolResult{Error: marshal(err)})
}

// methods turns the plain answers of the mux into structured ones.
func methods(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		rec := &statusOnly{header: http.Header{}}
		handler.ServeHTTP(rec, r)
		if allow := rec.header.Get("Allow"); allow != "" {
			w.Header().Set("Allow", allow)
			fail(
				w, http.StatusMethodNotAllowed,
				fault.New(fault.InvalidInput, "the method is not allowed here").With("allow", allow),
			)
			return
		}
		fail(w, http.StatusNotFound, fault.New(fault.InvalidInput, "there is nothing at this path"))
	})
}

type statusOnly struct{ header http.Header }

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (s *statusOnly) WriteHeader(int)             {}
