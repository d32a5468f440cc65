// Package runtimetest gives tests a runtime host over a real browser. It decides
// nothing about the host, whose options a test can change. Tests of the runtime, of its
// rooms and of the faces call it.
package runtimetest

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

var ids atomic.Int64

// NewID makes ids that look like those of the command and can be told apart.
func NewID() string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000", ids.Add(1)) }

// Engine makes an expression engine that ends with the test.
func Engine(tb testing.TB) expr.Engine {
	tb.Helper()
	engine, err := expr.New("", nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = engine.Close() })
	return engine
}

// Open opens a host that ends with the test, with all primitives and, where opts
// say nothing else, ids of NewID. Where they say nothing of the browser, the host has a
// browser context of one that the test binary shares. Without a browser on the machine the test is
// skipped, as browsertest.Require says.
func Open(tb testing.TB, opts runtime.Options) *runtime.Host {
	tb.Helper()
	browsertest.Require(tb)
	switch {
	case reflect.ValueOf(opts.Browser).IsZero():
		shared(tb, &opts)
	case opts.Browser.Attach == "" && opts.Browser.ExtraArgs == nil:
		opts.Browser.ExtraArgs = browsertest.Flags()
	}
	opts.Registry, opts.Engine = catalog.Standard(), Engine(tb)
	if opts.NewID == nil {
		opts.NewID = NewID
	}
	if opts.Version == "" {
		opts.Version = "test"
	}
	if opts.Browser.Patience == nil {
		opts.Browser.Patience = browsertest.OnThisMachine
	}
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	h, err := runtime.Open(ctx, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := h.Close(context.WithoutCancel(tb.Context())); err != nil {
			tb.Errorf("closing the host: %v", err)
		}
	})
	return h
}

// Launched is Open over a browser of its own, which is started for it: for tests that end that browser or its
// processes, and for its clipboard, which all browser contexts share. An attached host knows no process of its browser.
func Launched(tb testing.TB, opts runtime.Options) *runtime.Host {
	tb.Helper()
	opts.Browser.ExtraArgs = browsertest.Flags()
	return Open(tb, opts)
}

// Attached is Open over the shared browser, with options of the browser beside.
func Attached(tb testing.TB, opts runtime.Options) *runtime.Host {
	tb.Helper()
	shared(tb, &opts)
	return Open(tb, opts)
}

func shared(tb testing.TB, opts *runtime.Options) {
	tb.Helper()
	browsertest.Attach(tb, &opts.Browser)
	if len(opts.Open) == 0 {
		opts.Open = []string{"about:blank"}
	}
}
