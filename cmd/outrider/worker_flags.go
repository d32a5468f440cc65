package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/tenant"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives/fault"
)

// workerFlags are those of the verbs that run a worker.
type workerFlags struct {
	Slots   int
	Drain   time.Duration
	OpsAt   string
	Tenants string // file of those who share the fleet

	labels  []string
	signKey string
}

// Add adds the flags.
func (x *workerFlags) Add(f *pflag.FlagSet) {
	f.IntVar(&x.Slots, "slots", max(1, runtime.NumCPU()), "how many jobs run at once, each with a browser")
	listVar(f, &x.labels, "label", "label of this worker, NAME=VALUE (repeatable)")
	f.StringVar(&x.Tenants, "tenants", "", "file of the tenants that share the fleet: see docs/how-to/share-a-fleet.md")
	f.StringVar(
		&x.signKey, "sign-key", "",
		"file with the key that signs results; made when it is not there, and its public part printed",
	)
	f.DurationVar(&x.Drain, "drain", 30*time.Second, "how long running jobs may go on after SIGTERM")
}

// workerOffer is the connection of a worker, with the labels that it brings.
type workerOffer struct {
	Sources []worker.Source
	Labels  map[string]string

	own     *mask.Set
	tenants map[string]*mask.Set
	close   func()
}

// Close ends the connections.
func (o *workerOffer) Close() { o.close() }

// Secrets are those of a tenant; with "", of a fleet without tenants, the worker's own.
func (o *workerOffer) Secrets(tenant string) *mask.Set {
	if o.tenants == nil {
		return o.own
	}
	return o.tenants[tenant]
}

// Connect connects a worker to a fleet, or to each tenant of it. own are the secrets of
// its flags; given says that there are some.
func (x *workerFlags) Connect(
	ctx context.Context, a *app, at wire.Options, own *mask.Set, given bool, words io.Writer,
) (*workerOffer, error) {
	labels, err := fleet.ParseLabels(x.labels)
	if err != nil {
		return nil, usage("--label: %s", fault.From(err).Message)
	}
	if x.Slots < 1 || x.Slots > 1000 {
		return nil, usage("--slots is %d: expected 1 to 1000", x.Slots)
	}
	out := &workerOffer{Labels: labels, own: own}
	var sign func([]byte) string
	if x.signKey != "" {
		signer, err := tenant.OpenSigner(x.signKey)
		if err != nil {
			return nil, usage("--sign-key: %w", err)
		}
		sign = signer.Sign
		fmt.Fprintf(words, "outrider: results are signed by %s\n", signer.Public)
	}
	if x.Tenants == "" {
		q, err := a.openFleet(ctx, at)
		if err != nil {
			return nil, err
		}
		out.Sources, out.close = []worker.Source{{Queue: q}}, q.Close
	} else {
		if given {
			return nil, usage("--secret does not go with --tenants: each tenant has its own secrets in that file")
		}
		file, err := tenant.Read(ctx, x.Tenants)
		if err == nil {
			out.tenants, err = file.Secrets(ctx)
		}
		if err != nil {
			return nil, usage("--tenants: %w", err)
		}
		out.Sources, out.close, err = file.Sources(ctx, at)
		if err != nil {
			return nil, a.fleetRefused(err)
		}
	}
	for i := range out.Sources {
		out.Sources[i].Sign = sign
	}
	return out, nil
}
