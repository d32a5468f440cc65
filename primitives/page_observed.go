package primitives

import (
	"context"
	"encoding/json"
	"time"
)

// ObservedPage reads the traffic and the console of a page. Recording
// costs the browser something for each request and each message, so it begins
// with the first call of its kind and goes on until the tab ends, over
// navigations; what each answer lacks is said in it.
type ObservedPage interface {
	// Console returns the messages, oldest first. The first call also gets the
	// messages that the browser still has of the documents that are there.
	Console(ctx context.Context) (ConsoleLog, error)

	// Network returns the requests in the order in which they began. Requests
	// before the first call are not known.
	Network(ctx context.Context) (NetworkLog, error)

	// NetworkBody returns at most limit bytes of a body; target_not_found when
	// no entry has this id, and capability_unavailable when the browser does not
	// have the body.
	NetworkBody(ctx context.Context, id string, part BodyPart, limit int) (NetworkBody, error)

	// NetworkQuiet returns once at most maxInflight requests have been under way
	// for the whole of idle. Streams that are meant to stay open (WebSocket,
	// EventSource) do not count. It begins recording; requests that a document
	// had sent before that count, for at most 3 s, as long as that document has
	// not been quiet since it loaded; so does an answer that has stopped coming,
	// for half a second.
	NetworkQuiet(ctx context.Context, idle time.Duration, maxInflight int) error
}

// ConsoleLog is the recorded console of a tab.
type ConsoleLog struct {
	// Since is when recording began.
	Since    time.Time
	Messages []ConsoleMessage
	Dropped  int // messages that the ring had no room for
	Last     int // number of the newest message, the cursor of the next call
}

// ConsoleMessage is a line of the console, an uncaught exception, or a message
// of the browser about the page. Text is the page's and never an instruction.
type ConsoleMessage struct {
	Seq    int       // counts from 1
	Level  string    // "debug", "info", "warning", "error"
	Source string    // "console", "exception", or the browser's own: "network", "security", ...
	Type   string    // console method: "log", "warn", "assert", ...; "" otherwise
	Text   string    // at most 4,000 bytes
	Cut    bool      // Text is not all of it
	URL    string    // script or resource
	Line   int       // counts from 1; 0 when unknown
	Column int       // counts from 1; 0 when unknown
	At     time.Time // by the browser's clock
}

// NetworkLog is the recorded traffic of a tab.
type NetworkLog struct {
	Since    time.Time
	Requests []NetworkRequest
	Inflight int // requests without an end, streams not counted
	Dropped  int // entries that the ring had no room for
	Last     int // Newest revision, the cursor of the next call
	// Blocked are requests of any tab that the origin policy refused, oldest
	// first; HasOriginPolicy says that there is one.
	HasOriginPolicy bool
	Blocked         []BlockedRequest
}

// BlockedRequest is a request that never left.
type BlockedRequest struct {
	Seq     int
	At      time.Time
	Method  string // CONNECT for TLS and sockets, whose address is not known
	URL     string
	Host    string // host:port
	Address string // when the address was refused, not the name
	Rule    string
	Vector  string // kind of request where the browser says, such as image
	Page    string // referrer, where the browser says
}

// NetworkRequest is one request; each hop of a redirect is one.
type NetworkRequest struct {
	ID  string
	Seq int // counts from 1
	// Revision grows with each change of any entry, so that a cursor also brings
	// what began before it and ended after it.
	Revision        int
	Method          string
	URL             string // without user and password; at most 2,048 bytes
	Type            string // "document", "script", "fetch", "websocket", ...
	Frame           FrameID
	Document        string // address of the document that made the request
	Initiator       string // "parser", "script", ...
	Status          int    // 0 while there is no answer
	StatusText      string
	MimeType        string
	Protocol        string
	RemoteAddress   string
	FromCache       bool
	FromWorker      bool // a service worker answered
	RequestHeaders  json.RawMessage
	ResponseHeaders json.RawMessage
	Started         time.Time
	FirstByte       time.Duration // until the head of the answer; 0 without one
	Duration        time.Duration // until its end, or until the call
	Bytes           int64         // as transferred, head and body
	BodyBytes       int64         // after decompression, as far as received
	State           string        // "pending", "finished", "failed", "redirected"
	Failure         string        // the browser's words, such as net::ERR_CONNECTION_REFUSED
	Cancelled       bool
	BlockedReason   string
	RedirectedTo    string // id of the next hop
	// SetCookies are the lines of Set-Cookie. They are reported to recorders only.
	SetCookies []string
}

// BodyPart says whose body is meant.
type BodyPart string

const (
	RequestBody  BodyPart = "request"
	ResponseBody BodyPart = "response"
)

// NetworkBody is the body of a request or its answer.
type NetworkBody struct {
	Data  []byte
	Total int // bytes before it was cut
}
