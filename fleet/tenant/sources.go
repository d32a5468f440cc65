package tenant

import (
	"context"

	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/fleet/worker"
)

// Sources connects a worker to every tenant, with the tenant's share and what it may
// use. o has the server's address, without a user.
func (f *File) Sources(ctx context.Context, o wire.Options) (all []worker.Source, closeAll func(), err error) {
	var links []*wire.Link
	closeAll = func() {
		for _, l := range links {
			l.Close()
		}
	}
	dial := func(name string) (*wire.Link, error) {
		one := o
		if o.InProcess != nil {
			if name == "" {
				name = shared
			}
			one.User, one.Password = workerName(name), f.worker
		} else if one.URL, err = f.WorkerURL(o.URL, name); err != nil {
			return nil, err
		}
		l, err := wire.Dial(ctx, one)
		if err == nil {
			links = append(links, l)
		}
		return l, err
	}
	fail := func(err error) ([]worker.Source, func(), error) {
		closeAll()
		return nil, func() {}, err
	}
	own, err := dial("")
	if err != nil {
		return fail(err)
	}
	quotas, err := OpenQuotas(ctx, own)
	if err != nil {
		return fail(err)
	}
	for _, name := range f.names {
		l, err := dial(name)
		if err != nil {
			return fail(err)
		}
		s, err := wire.Open(ctx, l, wire.Keep{})
		if err != nil {
			return fail(err)
		}
		source := worker.Source{Queue: queue.New(s), Name: name, Weight: f.Tenants[name].Weight}
		if q := quotas.Of(name, f.Tenants[name]); q != nil {
			source.Quota = q
		}
		all = append(all, source)
	}
	return all, closeAll, nil
}
