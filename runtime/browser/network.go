package browser

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	// maxExchanges bounds the entries of a tab; the oldest make room.
	maxExchanges = 1000
	// maxAddress and maxHeaders bound what is kept of one, in bytes.
	maxAddress = 2048
	maxHeaders = 8 << 10
)

// enableNetwork has the browser keep bodies within limits: each renderer holds
// them in memory.
const enableNetwork = `{"maxTotalBufferSize":33554432,"maxResourceBufferSize":8388608}`

// traffic is what is known of a tab's requests. Its zero value records nothing.
type traffic struct {
	change broadcast // a request began or ended, or a document became quiet

	mu      sync.Mutex
	since   time.Time // zero: not recording
	entries []*exchange
	byID    map[string]*exchange // newest entry of a request id of the browser
	open    map[*exchange]bool   // without an end, streams left out
	dropped int
	seq     int
	rev     int
	// unknown is the document that was there when recording began, until the
	// browser has found it quiet: what it had sent before is not in entries.
	unknown string
	settled time.Time // of the last change of open
}

// stalled is how long an answer that has begun may bring nothing until it no
// longer counts as under way: a script that does not read a body never ends its
// request, and some answers are meant to stay open.
const stalled = 500 * time.Millisecond

// unknownCap is how long what a document sent before recording began keeps it
// from being quiet: a stream among it would do so for ever.
const unknownCap = 3 * time.Second

// exchange is one entry. Its times are seconds of the browser's own clock.
type exchange struct {
	primitives.NetworkRequest
	request string // the browser's id
	loader  string
	s       *session // that can give the body
	began   float64
	ended   time.Duration
	open    bool // no end yet
	stream  bool // WebSocket, EventSource: not counted as in flight
	at      time.Time
	heard   time.Time // when the head of the answer or data came last; zero before
	length  int64     // of the body by its header; -1 when unknown
}

// inflight counts what is under way, and returns when that can change by time
// alone; n.mu is held.
func (n *traffic) inflight() (count int, until time.Time) {
	for e := range n.open {
		if e.length >= 0 && e.BodyBytes >= e.length {
			continue // all of it is there, though nobody has read it
		}
		if !e.heard.IsZero() {
			end := e.heard.Add(stalled)
			if time.Until(end) <= 0 {
				continue
			}
			if until.IsZero() || end.Before(until) {
				until = end
			}
		}
		count++
	}
	return count, until
}

// startTraffic begins to record, once.
func (t *Tab) startTraffic(ctx context.Context) error {
	t.mu.Lock()
	t.net.mu.Lock()
	if !t.net.since.IsZero() {
		t.net.mu.Unlock()
		t.mu.Unlock()
		return nil
	}
	t.net.since, t.net.settled = time.Now(), time.Now()
	t.net.byID, t.net.open = map[string]*exchange{}, map[*exchange]bool{}
	if f := t.frames[t.main]; f != nil && f.idle != f.loader {
		t.net.unknown = f.loader
	}
	t.net.mu.Unlock()
	sessions := t.sessionsLocked()
	t.mu.Unlock()
	return t.enableAll(ctx, sessions, command{method: "Network.enable", params: []byte(enableNetwork)})
}

// sessionsLocked lists the tab's session and those of its frames in other
// processes; t.mu is held.
func (t *Tab) sessionsLocked() []*session {
	list := []*session{t.s}
	seen := map[*session]bool{t.s: true}
	for _, f := range t.frames {
		if f.s != nil && !seen[f.s] {
			seen[f.s] = true
			list = append(list, f.s)
		}
	}
	return list
}

// enableAll sends a command to several sessions and waits for the tab's own.
func (t *Tab) enableAll(ctx context.Context, sessions []*session, cmds ...command) error {
	var all []command
	for _, s := range sessions[1:] {
		for _, c := range cmds {
			c.session, c.then = s.id, t.b.c.ignore(c.method)
			all = append(all, c)
		}
	}
	for _, c := range cmds {
		c.session = sessions[0].id
		all = append(all, c)
	}
	l := t.currentLife()
	calls, err := t.b.c.start(ctx, all...)
	if err != nil {
		return err
	}
	mine := calls[len(calls)-len(cmds):]
	defer t.b.c.drop(mine...)
	for i, p := range mine {
		if _, err := t.await(ctx, l, p); err != nil {
			return named(err, cmds[i].method)
		}
	}
	return nil
}

// recording says whether new sessions of the tab take part.
func (n *traffic) recording() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.since.IsZero()
}

// Network implements primitives.ObservedPage.
func (t *Tab) Network(ctx context.Context) (primitives.NetworkLog, error) {
	if err := t.startTraffic(ctx); err != nil {
		return primitives.NetworkLog{}, t.b.explain(err, "recording requests")
	}
	n := &t.net
	n.mu.Lock()
	defer n.mu.Unlock()
	log := primitives.NetworkLog{Since: n.since, Dropped: n.dropped, Last: n.rev}
	log.Inflight, _ = n.inflight()
	if t.b.fence != nil {
		log.Fenced = true
		log.Blocked, _ = t.b.fence.since(0)
	}
	log.Requests = make([]primitives.NetworkRequest, len(n.entries))
	for i, e := range n.entries {
		r := e.NetworkRequest
		r.Duration = e.ended
		if e.open {
			r.Duration = time.Since(e.at)
		}
		log.Requests[i] = r
	}
	return log, nil
}

// NetworkQuiet implements primitives.ObservedPage.
func (t *Tab) NetworkQuiet(ctx context.Context, idle time.Duration, maxInflight int) error {
	if err := t.startTraffic(ctx); err != nil {
		return t.b.explain(err, "watching requests")
	}
	timer := time.NewTimer(idle)
	defer timer.Stop()
	quiet := time.Now()
	n := &t.net
	var busy bool
	for {
		changed := n.change.wait()
		n.mu.Lock()
		count, until := n.inflight()
		if n.unknown != "" {
			if end := n.since.Add(unknownCap); time.Until(end) <= 0 {
				n.unknown = ""
			} else if until.IsZero() || end.Before(until) {
				until = end
			}
		}
		now := count > maxInflight || n.unknown != ""
		last := n.settled
		n.mu.Unlock()
		if busy && !now {
			quiet = time.Now()
		} else if !now && maxInflight == 0 && last.After(quiet) {
			quiet = last // something came and went between two looks
		}
		busy = now
		if !busy && time.Since(quiet) >= idle {
			return nil
		}
		timer.Stop()
		var over <-chan time.Time
		switch {
		case !busy:
			timer = time.NewTimer(idle - time.Since(quiet))
			over = timer.C
		case !until.IsZero():
			timer = time.NewTimer(time.Until(until))
			over = timer.C
		}
		l := t.currentLife()
		select {
		case <-changed:
		case <-over:
		case <-l.over:
			return l.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// NetworkBody implements primitives.ObservedPage.
func (t *Tab) NetworkBody(ctx context.Context, id string, part primitives.BodyPart, limit int) (primitives.NetworkBody, error) {
	n := &t.net
	n.mu.Lock()
	var e *exchange
	for _, o := range n.entries {
		if o.ID == id {
			e = o
		}
	}
	var request string
	var s *session
	open := false
	if e != nil {
		request, s, open = e.request, e.s, e.open
	}
	n.mu.Unlock()
	if e == nil {
		return primitives.NetworkBody{}, fault.New(fault.TargetNotFound, "no recorded request has this id").With("id", id)
	}
	gone := func(err error) error {
		return &fault.Error{Code: fault.TargetNotFound, Message: "the browser does not have this body", Err: err,
			Evidence: map[string]any{"id": id, "pending": open},
			NextStep: "bodies of redirects, failed requests and large or old answers are not kept; make the request again"}
	}
	if part == primitives.RequestBody {
		var out struct {
			PostData string `json:"postData"`
		}
		if err := t.askIn(ctx, s, "Network.getRequestPostData", object("requestId", request), &out); err != nil {
			if _, refused := errorMessage(err); refused {
				return primitives.NetworkBody{}, gone(err)
			}
			return primitives.NetworkBody{}, t.b.explain(err, "reading a body")
		}
		return cutBody([]byte(out.PostData), limit), nil
	}
	var out struct {
		Body    string `json:"body"`
		Encoded bool   `json:"base64Encoded"`
	}
	if err := t.askIn(ctx, s, "Network.getResponseBody", object("requestId", request), &out); err != nil {
		if _, refused := errorMessage(err); refused {
			return primitives.NetworkBody{}, gone(err)
		}
		return primitives.NetworkBody{}, t.b.explain(err, "reading a body")
	}
	data := []byte(out.Body)
	if out.Encoded {
		decoded, err := base64.StdEncoding.DecodeString(out.Body)
		if err != nil {
			return primitives.NetworkBody{}, fault.Wrap(fault.Internal, err, "decoding a body")
		}
		data = decoded
	}
	return cutBody(data, limit), nil
}

func cutBody(data []byte, limit int) primitives.NetworkBody {
	b := primitives.NetworkBody{Data: data, Total: len(data)}
	if len(data) > limit {
		b.Data = data[:limit]
	}
	return b
}

// onNetwork is the reader's.
func (t *Tab) onNetwork(s *session, method string, params []byte) {
	if !t.net.recording() {
		return
	}
	switch method {
	case "Network.requestWillBeSent":
		t.net.onRequest(s, params)
	case "Network.requestServedFromCache":
		t.net.update(params, func(e *exchange) { e.FromCache = true })
	case "Network.responseReceived":
		t.net.onResponse(s, params)
	case "Network.dataReceived":
		t.net.onData(params)
	case "Network.loadingFinished":
		t.net.onFinished(params)
	case "Network.loadingFailed":
		t.net.onFailed(params)
	case "Network.webSocketCreated":
		t.net.onSocket(s, params)
	case "Network.webSocketHandshakeResponseReceived":
		t.net.onHandshake(params)
	case "Network.webSocketClosed":
		t.net.update(params, func(e *exchange) { t.net.end(e, "finished", time.Since(e.at)) })
	}
}

type requestEvent struct {
	RequestID   string `json:"requestId"`
	LoaderID    string `json:"loaderId"`
	DocumentURL string `json:"documentURL"`
	Request     struct {
		URL     string          `json:"url"`
		Method  string          `json:"method"`
		Headers json.RawMessage `json:"headers"`
	} `json:"request"`
	Timestamp float64 `json:"timestamp"`
	WallTime  float64 `json:"wallTime"`
	Initiator struct {
		Type string `json:"type"`
	} `json:"initiator"`
	Redirect *responseData      `json:"redirectResponse"`
	Type     string             `json:"type"`
	FrameID  primitives.FrameID `json:"frameId"`
}

type responseData struct {
	Status        int             `json:"status"`
	StatusText    string          `json:"statusText"`
	Headers       json.RawMessage `json:"headers"`
	MimeType      string          `json:"mimeType"`
	RemoteIP      string          `json:"remoteIPAddress"`
	RemotePort    int             `json:"remotePort"`
	FromDiskCache bool            `json:"fromDiskCache"`
	FromWorker    bool            `json:"fromServiceWorker"`
	FromPrefetch  bool            `json:"fromPrefetchCache"`
	Encoded       float64         `json:"encodedDataLength"`
	Protocol      string          `json:"protocol"`
}

func (n *traffic) onRequest(s *session, params []byte) {
	var e requestEvent
	if json.Unmarshal(params, &e) != nil || e.RequestID == "" {
		return
	}
	n.mu.Lock()
	defer n.change.notify()
	defer n.mu.Unlock()
	old := n.byID[e.RequestID]
	switch {
	case old != nil && e.Redirect != nil:
		old.take(e.Redirect)
		old.FirstByte = seconds(e.Timestamp - old.began)
		n.end(old, "redirected", seconds(e.Timestamp-old.began))
		old.RedirectedTo = "n" + strconv.Itoa(n.seq+1)
	case old != nil && old.open:
		return // another session of the tab speaks of the same request
	}
	kind := strings.ToLower(e.Type)
	x := n.add(s, e.RequestID, kind, kind == "eventsource")
	x.loader, x.began = e.LoaderID, e.Timestamp
	x.Method, x.URL = e.Request.Method, address(e.Request.URL)
	x.Frame, x.Document, x.Initiator = e.FrameID, address(e.DocumentURL), e.Initiator.Type
	x.RequestHeaders = bounded8K(e.Request.Headers)
	if e.WallTime > 0 {
		x.Started = time.UnixMilli(int64(e.WallTime * 1000))
	}
}

// add makes an entry; n.mu is held.
func (n *traffic) add(s *session, request, kind string, stream bool) *exchange {
	n.seq++
	n.rev++
	x := &exchange{request: request, s: s, open: true, stream: stream, at: time.Now(), length: -1}
	x.ID, x.Seq, x.Revision = "n"+strconv.Itoa(n.seq), n.seq, n.rev
	x.Type, x.State, x.Started = kind, "pending", x.at
	n.byID[request] = x
	n.entries = append(n.entries, x)
	if len(n.entries) > maxExchanges {
		oldest := n.entries[0]
		n.entries[0] = nil
		n.entries = n.entries[1:]
		n.dropped++
		if n.byID[oldest.request] == oldest && !oldest.open {
			delete(n.byID, oldest.request)
		}
	}
	if !stream {
		n.open[x] = true
		n.settled = x.at
	}
	return x
}

// end closes an entry; n.mu is held.
func (n *traffic) end(e *exchange, state string, took time.Duration) {
	if !e.open {
		return
	}
	n.rev++
	e.open, e.State, e.Revision, e.ended = false, state, n.rev, max(0, took)
	if !e.stream {
		delete(n.open, e)
		n.settled = time.Now()
	}
}

// update changes the entry that an event names.
func (n *traffic) update(params []byte, change func(*exchange)) {
	id := plainString(member(params, "requestId"))
	n.mu.Lock()
	e := n.byID[string(id)]
	if e != nil {
		change(e)
	}
	n.mu.Unlock()
	if e != nil {
		n.change.notify()
	}
}

func (e *exchange) take(r *responseData) {
	e.Status, e.StatusText, e.MimeType, e.Protocol = r.Status, r.StatusText, r.MimeType, r.Protocol
	e.FromCache = e.FromCache || r.FromDiskCache || r.FromPrefetch
	e.FromWorker = r.FromWorker
	e.ResponseHeaders = bounded8K(r.Headers)
	e.Bytes = int64(r.Encoded)
	if r.RemoteIP != "" {
		e.RemoteAddress = r.RemoteIP + ":" + strconv.Itoa(r.RemotePort)
	}
}

func (n *traffic) onResponse(s *session, params []byte) {
	var e struct {
		Timestamp float64      `json:"timestamp"`
		Type      string       `json:"type"`
		Response  responseData `json:"response"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	n.update(params, func(x *exchange) {
		x.take(&e.Response)
		x.s = s
		x.heard, x.length = time.Now(), contentLength(e.Response.Headers)
		if kind := strings.ToLower(e.Type); kind != x.Type && x.Type == "" {
			x.Type = kind
		}
		x.FirstByte = seconds(e.Timestamp - x.began)
		n.rev++
		x.Revision = n.rev
	})
}

func (n *traffic) onData(params []byte) {
	length, _ := strconv.ParseInt(string(member(params, "dataLength")), 10, 64)
	id := plainString(member(params, "requestId"))
	n.mu.Lock()
	defer n.mu.Unlock()
	if e := n.byID[string(id)]; e != nil {
		e.BodyBytes += length
		e.heard = time.Now()
		if e.length == e.BodyBytes {
			n.settled = e.heard
			defer n.change.notify()
		}
	}
}

func (n *traffic) onFinished(params []byte) {
	at, _ := strconv.ParseFloat(string(member(params, "timestamp")), 64)
	length, _ := strconv.ParseFloat(string(member(params, "encodedDataLength")), 64)
	n.update(params, func(e *exchange) {
		e.Bytes = max(e.Bytes, int64(length))
		n.end(e, "finished", seconds(at-e.began))
	})
}

func (n *traffic) onFailed(params []byte) {
	var e struct {
		Timestamp     float64 `json:"timestamp"`
		ErrorText     string  `json:"errorText"`
		Canceled      bool    `json:"canceled"`
		BlockedReason string  `json:"blockedReason"`
		CORS          struct {
			Error string `json:"corsError"`
		} `json:"corsErrorStatus"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	n.update(params, func(x *exchange) {
		if !x.open {
			return
		}
		x.Failure, x.Cancelled, x.BlockedReason = e.ErrorText, e.Canceled, e.BlockedReason
		if x.BlockedReason == "" {
			x.BlockedReason = e.CORS.Error
		}
		n.end(x, "failed", seconds(e.Timestamp-x.began))
	})
}

func (n *traffic) onSocket(s *session, params []byte) {
	var e struct {
		RequestID string `json:"requestId"`
		URL       string `json:"url"`
		Initiator struct {
			Type string `json:"type"`
		} `json:"initiator"`
	}
	if json.Unmarshal(params, &e) != nil || e.RequestID == "" {
		return
	}
	n.mu.Lock()
	defer n.change.notify()
	defer n.mu.Unlock()
	x := n.add(s, e.RequestID, "websocket", true)
	x.Method, x.URL, x.Initiator = "GET", address(e.URL), e.Initiator.Type
}

func (n *traffic) onHandshake(params []byte) {
	var e struct {
		Response responseData `json:"response"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	n.update(params, func(x *exchange) {
		x.take(&e.Response)
		x.FirstByte = time.Since(x.at)
		n.rev++
		x.Revision = n.rev
	})
}

// contentLength is the length of a body as it is sent, -1 when the headers do not
// say or it is compressed.
func contentLength(headers json.RawMessage) int64 {
	length := int64(-1)
	eachMember(headers, func(k, v []byte) bool {
		switch strings.ToLower(string(k)) {
		case "content-length":
			if n, err := strconv.ParseInt(string(plainString(v)), 10, 64); err == nil && length == -1 {
				length = n
			}
		case "content-encoding":
			length = -2
		}
		return true
	})
	return max(length, -1)
}

// documentReplaced ends what the documents of frames that are gone had under
// way: the browser does not always say so.
func (n *traffic) documentReplaced(frame primitives.FrameID, loader string, top bool) {
	n.mu.Lock()
	defer n.change.notify()
	defer n.mu.Unlock()
	if n.since.IsZero() {
		return
	}
	if top {
		n.unknown = ""
	}
	for _, e := range n.entries {
		if e.open && e.loader != loader && (top || e.Frame == frame) {
			e.Failure, e.Cancelled = "the document was replaced", true
			n.end(e, "failed", time.Since(e.at))
		}
	}
}

// sessionGone ends what a frame in another process had under way.
func (n *traffic) sessionGone(s *session) {
	n.mu.Lock()
	defer n.change.notify()
	defer n.mu.Unlock()
	for _, e := range n.entries {
		if e.open && e.s == s {
			e.Failure, e.Cancelled = "the frame went away", true
			n.end(e, "failed", time.Since(e.at))
		}
	}
}

// documentIdle: the browser found the document quiet after it had loaded.
func (n *traffic) documentIdle(loader string) {
	n.mu.Lock()
	known := n.unknown == loader
	if known {
		n.unknown = ""
	}
	n.mu.Unlock()
	if known {
		n.change.notify()
	}
}

func seconds(s float64) time.Duration { return max(0, time.Duration(s*float64(time.Second))) }

// address is a URL without user and password, within its bound.
func address(raw string) string {
	if strings.HasPrefix(raw, "data:") {
		return cutText(raw, 100)
	}
	if strings.Contains(raw, "@") {
		if u, err := url.Parse(raw); err == nil && u.User != nil {
			u.User = nil
			raw = u.String()
		}
	}
	return cutText(raw, maxAddress)
}

func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

// bounded8K keeps headers unless there are too many of them.
func bounded8K(raw json.RawMessage) json.RawMessage {
	if len(raw) > maxHeaders {
		return nil
	}
	return bytes.Clone(raw)
}
