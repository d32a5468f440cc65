package hub

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net"
	"path"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// DefaultListen is where the upstream bridge listens, too.
const DefaultListen = "127.0.0.1:17345"

// Nowhere is the Listen of a hub inside one process.
const Nowhere = "nowhere"

// Options configure a Hub. Everything has a default.
type Options struct {
	// Listen is a host and port. Port 0 picks a free one. An address that is
	// not loopback needs a Token. Nowhere means no port at all: runtimes come
	// through Attach, calls through Call.
	Listen string
	// Token, when set, is required of everybody: "Authorization: Bearer", or
	// ?token= on the WebSocket, whose browser API cannot set headers.
	Token string
	// Pairing is the token of the address that is given to a browser extension:
	// with it, and it alone, /extension is open to every origin, because the
	// socket of a content script has the origin of its page. It opens nothing
	// else. Default: made from Token, or 128 random bits.
	Pairing string
	// AllowExtensions admits the background pages of Chrome's extensions to
	// /extension without it. Their content scripts on http pages still need it.
	AllowExtensions bool
	// AllowOrigins are the browser origins that may connect, as path.Match
	// patterns of scheme://host[:port], for instance "chrome-extension://*".
	// The hub's own origin is always allowed, "*" alone is refused.
	AllowOrigins []string
	// AllowHosts are names besides the loopback ones that a Host header may
	// have.
	AllowHosts []string

	// Strict refuses a call that names no runtime when there are several and no agent has chosen the
	// active one. Otherwise it goes to the active one, as at the upstream bridge.
	Strict bool

	Logger *slog.Logger
	// Version is shown by /health.
	Version string
	// NewID makes call and probe ids. Default: 128 random bits.
	NewID func() string

	// DispatchTimeout bounds a call that names no time. Default 30 s.
	DispatchTimeout time.Duration
	// ExtraWait is added to the time of a call while its result is awaited, so that the runtime's
	// own timeout, which has more detail, arrives first. Default 500 ms.
	ExtraWait time.Duration
	// Heartbeat is the distance of runtime_status polls, Sweep that of the
	// search for silent runtimes, and TTL how long one may be silent. Defaults
	// 10 s, 10 s and 30 s.
	Heartbeat, Sweep, TTL time.Duration
	// Fresh is how recently a runtime must have sent an item to be called without
	// a probe, ProbeTimeout how long a probe waits. Defaults 5 s and 1.5 s.
	Fresh, ProbeTimeout time.Duration
	// ReturnWithin is how long a call waits for a runtime whose connection was
	// lost shortly before. Default 3 s; negative means not at all.
	ReturnWithin time.Duration

	// LostAfter is how long a call in flight waits for a runtime whose connection
	// was lost, before it fails. Default 10 s, twice the longest wait of a runtime
	// between two attempts to reconnect.
	LostAfter time.Duration
	// AnnounceWithin is how long a connection may take until it announces its
	// first runtime, and MaxUnannounced how many may do so at once. Defaults 30 s
	// and 100.
	AnnounceWithin time.Duration
	MaxUnannounced int
	// BodyWithin bounds the time in which the body of a request arrives, and
	// MaxBodies how many may do so at once; a further one takes the place of one that has said
	// nothing for a second. Defaults 30 s and 100.
	BodyWithin time.Duration
	MaxBodies  int
	// MaxBody bounds an HTTP request, MaxBodyBytes all calls under way together. Defaults 16 MiB and
	// 64 MiB.
	MaxBody, MaxBodyBytes int64
	// MaxMessage bounds a message of a runtime, MaxAnnouncement those before the first runtime_ready,
	// which may hold a whole catalog. Defaults 256 MiB and 512 KiB.
	MaxMessage, MaxAnnouncement int64
	// MaxQueued bounds the bytes that wait for one runtime connection; a
	// runtime that does not read them loses the connection. Default 256 MiB.
	MaxQueued int
	// KeepEvents is how many page events are kept for readers that come later.
	// Default 1000.
	KeepEvents int

	// StorageRoot, when set, is a storage folder: every runtime gets its bundle,
	// and the hub answers actions.site for runtimes that do not know it.
	StorageRoot string
	// PayloadFolder, when set, is where Spill writes outputs beyond PayloadLimit
	// bytes (default 50,000); the files are removed when the hub ends, unless
	// KeepPayloads.
	PayloadFolder string
	PayloadLimit  int
	KeepPayloads  bool
	// Maps are more maps and folders for actions.site. Runtimes get them with
	// the calls that need them only.
	Maps []string
	// Bundle, when set, gives the storage bundle that every runtime gets after
	// it announced itself.
	Bundle func() (json.RawMessage, error)
	// Observe sees every item in both directions, one at a time, in order. It
	// must not block, must not call the hub, and must not change the item.
	Observe func(Observation)
	// OnCall is called with each call of an agent. The function that it returns is called with
	// the result. Neither may block.
	OnCall func(name string) (answered func(ToolResult))
	// OnRuntime is called for runtimes that connect, change and close. It must not block.
	OnRuntime func(RuntimeChange)
}

// Direction of an item.
type Direction string

const (
	ToBridge  Direction = "runtime→bridge"
	ToRuntime Direction = "bridge→runtime"
)

// Observation is one item that passed.
type Observation struct {
	At         time.Time
	Dir        Direction
	Connection int64
	Item       json.RawMessage
}

// RuntimeChange is the argument of OnRuntime.
type RuntimeChange struct {
	Kind    string // connected, changed, removed
	Reason  string // removed: tab_closed, connection_lost, superseded, probe_failed, liveness_sweep, shutdown
	Runtime Runtime
	// Connection is the number of its connection. WasActive says of a removed one
	// that calls without a selector went to it.
	Connection int64
	WasActive  bool
}

func (o *Options) check() error {
	if o.Listen == "" {
		o.Listen = DefaultListen
	}
	if o.Listen != Nowhere {
		host, _, err := net.SplitHostPort(o.Listen)
		if err != nil {
			return &fault.Error{Code: fault.InvalidInput, Message: "the listen address is not host:port", Err: err}
		}
		if !loopback(host) && o.Token == "" {
			return fault.New(
				fault.PermissionDenied, "listening on %s, which other machines can reach, needs a token", o.Listen,
			).Next("give a token, or listen on " + DefaultListen)
		}
	}
	for _, p := range o.AllowOrigins {
		if p == "*" {
			return fault.New(fault.PermissionDenied, "the origin pattern * would let every web page drive the tabs")
		}
		if _, err := path.Match(p, ""); err != nil || !strings.Contains(p, "://") {
			return fault.New(fault.InvalidInput, "the origin pattern %q is not of the form scheme://host", p)
		}
	}
	if o.Pairing == "" {
		o.Pairing = pairingToken(o.Token)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.NewID == nil {
		o.NewID = newID
	}
	set(&o.DispatchTimeout, 30*time.Second)
	set(&o.ExtraWait, 500*time.Millisecond)
	set(&o.Heartbeat, 10*time.Second)
	set(&o.LostAfter, 10*time.Second)
	set(&o.AnnounceWithin, 30*time.Second)
	set(&o.MaxUnannounced, 100)
	set(&o.BodyWithin, 30*time.Second)
	set(&o.MaxBodies, 100)
	set(&o.Sweep, 10*time.Second)
	set(&o.TTL, 30*time.Second)
	set(&o.Fresh, 5*time.Second)
	set(&o.ProbeTimeout, 1500*time.Millisecond)
	if o.ReturnWithin == 0 {
		o.ReturnWithin = 3 * time.Second
	}
	set(&o.MaxBody, 16<<20)
	set(&o.MaxBodyBytes, 64<<20)
	set(&o.MaxMessage, 256<<20)
	set(&o.MaxAnnouncement, 512<<10)
	set(&o.MaxQueued, 256<<20)
	set(&o.KeepEvents, 1000)
	set(&o.PayloadLimit, 50_000)
	return nil
}

func set[T ~int | ~int64](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// loopback reports whether host names this machine and no other. The empty
// host of ":8080" means every interface.
func loopback(host string) bool {
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
