// Package providertest starts our provider for tests and connects to it. It says
// nothing about what a provider must do: that is package conformance. Tests of the
// provider and of its callers use it.
package providertest

import (
	"context"
	"io"
	"testing"

	"github.com/outrider-run/outrider/faces/provider"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
)

// New makes a server over host that ends with the test. change may change its
// options; nil leaves them.
func New(t *testing.T, host provider.Host, change func(*provider.Options)) *provider.Server {
	t.Helper()
	opts := provider.Options{Host: host, NewID: runtimetest.NewID, Version: "test"}
	if change != nil {
		change(&opts)
	}
	ctx := context.WithoutCancel(t.Context())
	s, err := provider.New(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(ctx); err != nil {
			t.Errorf("closing the provider: %v", err)
		}
	})
	return s
}

// Connection is one connection to a server. It ends with the test.
type Connection struct {
	In  io.Reader
	Out io.WriteCloser
	// Done is closed when the server has left it.
	Done <-chan struct{}
}

// Connect connects to s as over the standard streams of a process.
func Connect(t *testing.T, s *provider.Server) Connection {
	t.Helper()
	toServer, out := io.Pipe()
	in, fromServer := io.Pipe()
	done := make(chan struct{})
	ctx := context.WithoutCancel(t.Context())
	go func() {
		defer close(done)
		defer func() { _ = fromServer.Close() }()
		if err := s.Serve(ctx, toServer, fromServer, "pipe-json"); err != nil {
			t.Errorf("serving: %v", err)
		}
	}()
	t.Cleanup(func() {
		_ = out.Close()
		_ = in.Close()
		<-done
	})
	return Connection{in, out, done}
}
