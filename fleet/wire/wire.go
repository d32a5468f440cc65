// Package wire connects to the NATS servers of a fleet and has the names of what a
// fleet keeps there: streams, buckets, subjects. It decides nothing about jobs. The
// packages beside it are built on it, and the command dials with it.
//
// # What NATS does that a caller does not expect
//
// A publish that failed may have been stored, so every write names itself and its
// answer is asked for again: see Put. A client gives up for good after a minute of
// failed attempts, so ours never does. A publish while there is no connection would
// be sent later, when nobody waits for it, so nothing is kept for later.
package wire

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Names of what a fleet keeps in its account.
const (
	JobsStream   = "OUTRIDER_JOBS"
	EventsStream = "OUTRIDER_EVENTS"
	Records      = "outrider_records"
	Workers      = "outrider_workers"
	Lanes        = "outrider_lanes"
	Objects      = "outrider_objects"

	// Prefix begins every subject of ours.
	Prefix = "or"
)

// Subjects.
func JobSubject(lane, run, id string) string { return Prefix + ".job." + lane + "." + run + "." + id }

// LaneFilter matches the jobs of a lane.
func LaneFilter(lane string) string { return Prefix + ".job." + lane + ".>" }

// EventSubject is where the events of a job go; "*" stands for all of a run.
func EventSubject(run, id string) string { return Prefix + ".event." + run + "." + id }

// ControlSubject is where a worker is reached.
func ControlSubject(worker, what string) string { return Prefix + ".worker." + worker + "." + what }

// Options say how a fleet's servers are reached.
type Options struct {
	// URL is nats://, tls://, ws:// or wss://, several with commas between them.
	URL string
	// Credentials is a credentials file, NKey a file with an nkey seed.
	Credentials, NKey string
	// Domain is the JetStream domain of the fleet, for servers that are leaf nodes of it.
	Domain string
	// CA, Cert and Key are PEM files for tls:// and wss://.
	CA, Cert, Key string
	// Name is shown by the server.
	Name   string
	Logger *slog.Logger
	// InProcess is a server of this process, reached without a socket. Passwords
	// are asked for; TLS and client certificates are not.
	InProcess nats.InProcessConnProvider
	// User and Password are for URLs that have none.
	User, Password string
	// OnChange is called with true when the connection opens and with false when it is lost. It
	// must not block.
	OnChange func(up bool)
}

// Link is a connection to a fleet.
type Link struct {
	NC  *nats.Conn
	JS  jetstream.JetStream
	log *slog.Logger
}

// Bounds of the connection. A server that stops answering is noticed after
// pingEvery times pingsOut, which is below the lease of a job.
const (
	pingEvery   = 2 * time.Second
	pingsOut    = 2
	dialTimeout = 5 * time.Second
	// RequestTimeout bounds one request to the server. A request that was sent to a
	// server which is killed is answered by nobody, so none may wait for longer.
	RequestTimeout = 3 * time.Second
)

// Dial connects. An address that cannot be reached, or that refuses, is an error.
func Dial(ctx context.Context, o Options) (*Link, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.OnChange == nil {
		o.OnChange = func(bool) {}
	}
	log := o.Logger.With("component", "fleet")
	if err := checkURL(o.URL); err != nil && o.InProcess == nil {
		return nil, err
	}
	options := []nats.Option{
		nats.Name(o.Name), nats.Timeout(dialTimeout), nats.MaxReconnects(-1),
		nats.ReconnectWait(200 * time.Millisecond), nats.ReconnectJitter(200*time.Millisecond, time.Second),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(pingsOut), nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err == nil { // it was closed here
				return
			}
			log.Warn("connection to the fleet lost", "error", err)
			o.OnChange(false)
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			log.Info("connected to the fleet again", "server", nc.ConnectedServerName())
			o.OnChange(true)
		}),
		// Refused subjects and dropped messages are told here and nowhere else.
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			subject := ""
			if s != nil {
				subject = s.Subject
			}
			log.Warn("the fleet's server objects", "error", err, "subject", subject)
		}),
	}
	if o.Credentials != "" {
		options = append(options, nats.UserCredentials(o.Credentials))
	}
	if o.NKey != "" {
		key, err := nats.NkeyOptionFromSeed(o.NKey)
		if err != nil {
			return nil, fault.New(fault.InvalidInput, "the nkey file %s cannot be used: %v", o.NKey, err)
		}
		options = append(options, key)
	}
	if o.CA != "" {
		options = append(options, nats.RootCAs(o.CA))
	}
	if o.Cert != "" {
		options = append(options, nats.ClientCert(o.Cert, o.Key))
	}
	if o.User != "" {
		options = append(options, nats.UserInfo(o.User, o.Password))
	}
	if o.InProcess != nil {
		options = append(options, nats.InProcessServer(o.InProcess))
	}
	type dialled struct {
		nc  *nats.Conn
		err error
	}
	got := make(chan dialled, 1)
	go func() {
		nc, err := nats.Connect(o.URL, options...)
		got <- dialled{nc, err}
	}()
	var d dialled
	select {
	case d = <-got:
	case <-ctx.Done():
		go func() {
			if late := <-got; late.nc != nil {
				late.nc.Close()
			}
		}()
		return nil, fault.Wrap(fault.TransportFailed, ctx.Err(), "connecting to the fleet at %s", Redacted(o.URL))
	}
	if d.err != nil {
		f := fault.New(fault.TransportFailed, "connecting to the fleet at %s: %v", Redacted(o.URL), d.err)
		if errors.Is(d.err, nats.ErrAuthorization) {
			return nil, fault.New(fault.PermissionDenied, "the fleet at %s refuses these credentials", Redacted(o.URL)).
				Next("give the user and password in the URL, or --fleet-creds FILE")
		}
		return nil, f.Next("start one with 'outrider fleet up', or give the address of a running one")
	}
	js, err := open(d.nc, o.Domain)
	if err != nil {
		d.nc.Close()
		return nil, fault.Wrap(fault.Internal, err, "using JetStream")
	}
	return &Link{NC: d.nc, JS: js, log: log}, nil
}

func open(nc *nats.Conn, domain string) (jetstream.JetStream, error) {
	if domain == "" {
		return jetstream.New(nc, jetstream.WithDefaultTimeout(RequestTimeout))
	}
	return jetstream.NewWithDomain(nc, domain, jetstream.WithDefaultTimeout(RequestTimeout))
}

// Close sends what was published and ends the connection.
func (l *Link) Close() {
	_ = l.NC.FlushTimeout(time.Second)
	l.NC.Close()
}

// Log is where the connection logs.
func (l *Link) Log() *slog.Logger { return l.log }

func checkURL(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || u.Host == "" {
			return fault.New(
				fault.InvalidInput, "the address of the fleet is %q: expected one such as nats://127.0.0.1:4222",
				Redacted(one),
			)
		}
		switch u.Scheme {
		case "nats", "tls", "ws", "wss":
		default:
			return fault.New(
				fault.InvalidInput, "the address of the fleet has the scheme %s: expected nats, tls, ws or wss",
				u.Scheme,
			)
		}
	}
	return nil
}

// Redacted is an address without its password.
func Redacted(text string) string {
	var parts []string
	for one := range strings.SplitSeq(text, ",") {
		if u, err := url.Parse(strings.TrimSpace(one)); err == nil {
			if u.User != nil {
				u.User = url.User("…")
			}
			parts = append(parts, u.String())
		} else {
			parts = append(parts, "an address that cannot be read")
		}
	}
	return strings.Join(parts, ",")
}
