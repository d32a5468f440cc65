package browser

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
)

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
