// Package server is the NATS server inside a fleet of one machine, or at the centre of
// a small one. It keeps nothing but what NATS keeps, and knows no jobs. The verb
// fleet up runs it, and tests do.
package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Options configure a server.
type Options struct {
	// Listen is HOST:PORT; port 0 is a free one.
	Listen string
	// Data is the folder for what must survive the process.
	Data string
	// Users may connect; without any, everybody may, so then Listen must be of this
	// machine.
	Users []User
	// Monitor is HOST:PORT of the server's own HTTP page, "" for none.
	Monitor string
	// Leaf are the URLs of a cluster that this server joins as a leaf node.
	Leaf []string
	// CertFile and KeyFile make it speak TLS.
	CertFile, KeyFile string
	Logger            *slog.Logger
}

// User may connect to an account.
type User struct {
	Name, Password string
	Account        string // "" is the one of all who have none
	// MaxStore bounds what the account keeps, in bytes; 0 is no bound of its own.
	MaxStore int64
}

// Server is a running server.
type Server struct {
	*server.Server
	scheme  string
	release func() // lets go of the folder
	logger  *slog.Logger
}

// Start starts a server and waits until it takes connections.
func Start(ctx context.Context, o Options) (started *Server, err error) {
	host, port, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "the address to listen on is %q: expected HOST:PORT", o.Listen)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "the port to listen on is %q", port)
	}
	if number == 0 {
		number = server.RANDOM_PORT
	}
	if ip := net.ParseIP(host); len(o.Users) == 0 && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fault.New(
			fault.PermissionDenied, "listening on %s, which other machines can reach, needs users", o.Listen,
		).Next("give --tenants FILE, or listen on 127.0.0.1")
	}
	options := &server.Options{
		ServerName:             "outrider",
		Host:                   host,
		Port:                   number,
		JetStream:              true,
		StoreDir:               o.Data,
		NoSigs:                 true,
		NoLog:                  o.Logger == nil,
		MaxPayload:             1 << 20,
		WriteDeadline:          10 * time.Second,
		PingInterval:           10 * time.Second,
		MaxPingsOut:            2,
		DisableJetStreamBanner: true,
	}
	accounts := map[string]*server.Account{}
	limits := map[string]int64{}
	for _, u := range o.Users {
		user := &server.User{Username: u.Name, Password: u.Password}
		if u.Account != "" {
			if accounts[u.Account] == nil {
				accounts[u.Account] = server.NewAccount(u.Account)
				options.Accounts = append(options.Accounts, accounts[u.Account])
			}
			user.Account = accounts[u.Account]
			limits[u.Account] = max(limits[u.Account], u.MaxStore)
		}
		options.Users = append(options.Users, user)
	}
	if o.Monitor != "" {
		mhost, mport, err := net.SplitHostPort(o.Monitor)
		if err == nil {
			options.HTTPHost = mhost
			options.HTTPPort, err = strconv.Atoi(mport)
		}
		if err != nil {
			return nil, fault.New(
				fault.InvalidInput, "the address of the monitoring page is %q: expected HOST:PORT", o.Monitor,
			)
		}
	}
	if err := leaf(options, o.Leaf); err != nil {
		return nil, err
	}
	if o.CertFile != "" {
		config, err := server.GenTLSConfig(&server.TLSConfigOpts{
			CertFile:   o.CertFile,
			KeyFile:    o.KeyFile,
			MinVersion: 0x0303,
		})
		if err != nil {
			return nil, fault.New(fault.InvalidInput, "the server's certificate cannot be used: %v", err)
		}
		options.TLS, options.TLSConfig = true, config
	}
	release := func() {}
	if o.Data != "" { // without one it is a folder of its own
		release, err = hold(o.Data)
		if err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	s, err := server.NewServer(options)
	if err != nil {
		return nil, fault.New(fault.TransportFailed, "starting the fleet's server: %v", err)
	}
	if o.Logger != nil {
		s.SetLogger(logger{o.Logger.With("component", "nats")}, false, false)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, fault.New(fault.TransportFailed, "the fleet's server does not listen on %s", o.Listen).
			Next("choose another address with --listen; one server may run there already")
	}
	for name, account := range accounts {
		live, err := s.LookupAccount(name)
		if err == nil {
			bound := server.JetStreamAccountLimits{
				MaxMemory:            -1,
				MaxStore:             -1,
				MaxStreams:           -1,
				MaxConsumers:         -1,
				MaxAckPending:        -1,
				MemoryMaxStreamBytes: -1,
				StoreMaxStreamBytes:  -1,
			}
			if limits[name] > 0 {
				bound.MaxStore = limits[name]
			}
			err = live.EnableJetStream(map[string]server.JetStreamAccountLimits{"": bound}, nil)
		}
		if err != nil {
			s.Shutdown()
			return nil, fault.New(fault.TransportFailed, "giving the account %s its storage: %v", account.Name, err)
		}
	}
	if err := ctx.Err(); err != nil {
		s.Shutdown()
		return nil, err
	}
	scheme := "nats"
	if options.TLS {
		scheme = "tls"
	}
	return &Server{s, scheme, release, o.Logger}, nil
}

// URL is where clients connect.
func (s *Server) URL() string {
	addr, ok := s.Addr().(*net.TCPAddr)
	if !ok {
		return s.ClientURL()
	}
	return s.scheme + "://" + addr.String()
}

// closeWithin bounds the wait for a server that ends. One whose store is damaged may not end
// at all; what it has not written by then it will not write.
const closeWithin = 20 * time.Second

// Close ends the server and waits until it has written everything, within a bound.
func (s *Server) Close() {
	defer s.release()
	ended := make(chan struct{})
	go func() { // it ends with the process where the store keeps it
		defer close(ended)
		s.Shutdown()
		s.WaitForShutdown()
	}()
	bound := time.NewTimer(closeWithin)
	defer bound.Stop()
	select {
	case <-ended:
	case <-bound.C:
		if s.logger != nil {
			s.logger.Error("the fleet's server does not end: its data may be damaged", "waited", closeWithin.String())
		}
	}
}

// logger writes what the server logs.
type logger struct{ to *slog.Logger }

func (l logger) Noticef(format string, v ...any) { l.to.Info(text(format, v)) }
func (l logger) Warnf(format string, v ...any)   { l.to.Warn(text(format, v)) }
func (l logger) Fatalf(format string, v ...any)  { l.to.Error(text(format, v)) }
func (l logger) Errorf(format string, v ...any)  { l.to.Error(text(format, v)) }
func (l logger) Debugf(format string, v ...any)  { l.to.Debug(text(format, v)) }
func (l logger) Tracef(string, ...any)           {}

func text(format string, v []any) string { return strings.TrimSpace(fmt.Sprintf(format, v...)) }
