package network

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/truncate"
)

// HandleEvent takes an event of the Network domain. The reader calls it.
func (t *Traffic) HandleEvent(s *cdp.Session, method, params []byte) {
	if !t.Recording() {
		return
	}
	switch string(method) {
	case "Network.requestWillBeSent":
		t.onRequest(s, params)
	case "Network.requestServedFromCache":
		t.update(params, func(e *exchange) { e.FromCache = true })
	case "Network.responseReceived":
		t.onResponse(s, params)
	case "Network.responseReceivedExtraInfo":
		t.onHead(params)
	case "Network.dataReceived":
		t.onData(params)
	case "Network.loadingFinished":
		t.onFinished(params)
	case "Network.loadingFailed":
		t.onFailed(params)
	case "Network.webSocketCreated":
		t.onSocket(s, params)
	case "Network.webSocketHandshakeResponseReceived":
		t.onHandshake(params)
	case "Network.webSocketClosed":
		t.update(params, func(e *exchange) { t.end(e, "finished", time.Since(e.at)) })
	}
}

// HandleWorkerEvent takes an event of a worker about a request that its page sent, such as the one for its script.
// What the worker asks for itself is not recorded. The reader calls it.
func (t *Traffic) HandleWorkerEvent(s *cdp.Session, method, params []byte) {
	switch string(method) {
	case "Network.responseReceived", "Network.dataReceived", "Network.loadingFinished", "Network.loadingFailed":
		t.HandleEvent(s, method, params)
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
		Sent    *string         `json:"postData"`
	} `json:"request"`
	Timestamp float64 `json:"timestamp"`
	WallTime  float64 `json:"wallTime"`
	Initiator struct {
		Type string `json:"type"`
	} `json:"initiator"`
	Redirect *responseData      `json:"redirectResponse"`
	HasHead  bool               `json:"redirectHasExtraInfo"`
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

func (t *Traffic) onRequest(s *cdp.Session, params []byte) {
	var e requestEvent
	if json.Unmarshal(params, &e) != nil || e.RequestID == "" {
		return
	}
	t.mu.Lock()
	defer t.change.Notify()
	defer t.mu.Unlock()
	old := t.byID[e.RequestID]
	switch {
	case old != nil && e.Redirect != nil:
		old.take(e.Redirect)
		old.FirstByte = seconds(e.Timestamp - old.began)
		old.RedirectedTo = "n" + strconv.Itoa(t.seq+1)
		old.head = old.head || !e.HasHead
		t.end(old, "redirected", seconds(e.Timestamp-old.began))
	case old != nil && old.open:
		return // another session of the tab speaks of the same request
	}
	kind := strings.ToLower(e.Type)
	x := t.add(s, e.RequestID, kind, kind == "eventsource")
	x.loader, x.began = e.LoaderID, e.Timestamp
	if t.onEnd != nil {
		x.before = old
		if e.Request.Sent != nil {
			x.sent = []byte(*e.Request.Sent)
		}
	}
	x.Method, x.URL = e.Request.Method, truncate.Address(e.Request.URL)
	x.Frame = e.FrameID
	x.Document = truncate.Address(e.DocumentURL)
	x.Initiator = e.Initiator.Type
	x.worker = kind == "script" && x.Initiator == "other"
	x.RequestHeaders = bounded8K(e.Request.Headers)
	if e.WallTime > 0 {
		x.Started = time.UnixMilli(int64(e.WallTime * 1000))
	}
}

func (t *Traffic) onResponse(s *cdp.Session, params []byte) {
	var e struct {
		Timestamp float64      `json:"timestamp"`
		Type      string       `json:"type"`
		Response  responseData `json:"response"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	t.update(params, func(x *exchange) {
		x.take(&e.Response)
		x.session = s
		x.lastData, x.length = time.Now(), contentLength(e.Response.Headers)
		if kind := strings.ToLower(e.Type); kind != x.Type && x.Type == "" {
			x.Type = kind
		}
		x.FirstByte = seconds(e.Timestamp - x.began)
		t.rev++
		x.Revision = t.rev
	})
}

// onHead takes the cookies that an answer sets: they are in no other event. There is one for each hop of a
// request, in their order. Of the script of a worker that was terminated nothing else comes.
func (t *Traffic) onHead(params []byte) {
	t.update(params, func(x *exchange) {
		if x.worker && x.lastData.IsZero() && !redirects(params) {
			x.lastData = time.Now()
		}
		if t.onEnd == nil {
			return
		}
		for x.before != nil && !x.before.head {
			x = x.before
		}
		x.head = true
		cdp.EachMember(cdp.Member(params, "headers"), func(name, value []byte) bool {
			var lines string
			if strings.EqualFold(string(name), "set-cookie") && len(value) <= maxHeaders &&
				json.Unmarshal(value, &lines) == nil {
				x.SetCookies = append(x.SetCookies, strings.Split(lines, "\n")...)
			}
			return true
		})
		t.report(x)
	})
}

// redirects says of the head of an answer that another request follows it.
func redirects(params []byte) bool {
	status, _ := strconv.Atoi(string(cdp.Member(params, "statusCode")))
	return status >= 300 && status < 400 && status != http.StatusNotModified
}

func (t *Traffic) onData(params []byte) {
	length, _ := strconv.ParseInt(string(cdp.Member(params, "dataLength")), 10, 64)
	id := cdp.PlainString(cdp.Member(params, "requestId"))
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.byID[string(id)]; e != nil {
		e.BodyBytes += length
		e.lastData = time.Now()
		if e.length == e.BodyBytes {
			t.settled = e.lastData
			defer t.change.Notify()
		}
	}
}

func (t *Traffic) onFinished(params []byte) {
	at, _ := strconv.ParseFloat(string(cdp.Member(params, "timestamp")), 64)
	length, _ := strconv.ParseFloat(string(cdp.Member(params, "encodedDataLength")), 64)
	t.update(params, func(e *exchange) {
		e.Bytes = max(e.Bytes, int64(length))
		t.end(e, "finished", seconds(at-e.began))
	})
}

func (t *Traffic) onFailed(params []byte) {
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
	t.update(params, func(x *exchange) {
		if !x.open {
			return
		}
		x.Failure = e.ErrorText
		x.Cancelled = e.Canceled
		x.BlockedReason = e.BlockedReason
		if x.BlockedReason == "" {
			x.BlockedReason = e.CORS.Error
		}
		t.end(x, "failed", seconds(e.Timestamp-x.began))
	})
}

func (t *Traffic) onSocket(s *cdp.Session, params []byte) {
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
	t.mu.Lock()
	defer t.change.Notify()
	defer t.mu.Unlock()
	x := t.add(s, e.RequestID, "websocket", true)
	x.Method = "GET"
	x.URL = truncate.Address(e.URL)
	x.Initiator = e.Initiator.Type
}

func (t *Traffic) onHandshake(params []byte) {
	var e struct {
		Response responseData `json:"response"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	t.update(params, func(x *exchange) {
		x.take(&e.Response)
		x.FirstByte = time.Since(x.at)
		t.rev++
		x.Revision = t.rev
	})
}

func (e *exchange) take(r *responseData) {
	e.Status = r.Status
	e.StatusText = r.StatusText
	e.MimeType = r.MimeType
	e.Protocol = r.Protocol
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
	cdp.EachMember(headers, func(k, v []byte) bool {
		switch strings.ToLower(string(k)) {
		case "content-length":
			if n, err := strconv.ParseInt(string(cdp.PlainString(v)), 10, 64); err == nil && length == -1 {
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

// bounded8K keeps headers unless there are too many of them.
func bounded8K(raw json.RawMessage) json.RawMessage {
	if len(raw) > maxHeaders {
		return nil
	}
	return truncate.WithoutUsers(bytes.Clone(raw))
}
