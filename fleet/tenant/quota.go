package tenant

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	mathrand "math/rand/v2"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Quotas is what tenants use, kept where they cannot write.
type Quotas struct {
	slots, minutes jetstream.KeyValue
}

// slotTTL is after which time a slot is free whose worker fell silent.
const slotTTL = 15 * time.Second

// OpenQuotas opens it in the workers' account.
func OpenQuotas(ctx context.Context, l *wire.Link) (*Quotas, error) {
	q := &Quotas{}
	for _, one := range []struct {
		to     *jetstream.KeyValue
		config jetstream.KeyValueConfig
	}{
		{&q.slots, jetstream.KeyValueConfig{Bucket: "outrider_slots", TTL: slotTTL, LimitMarkerTTL: slotTTL}},
		{&q.minutes, jetstream.KeyValueConfig{Bucket: "outrider_minutes", TTL: 62 * 24 * time.Hour}},
	} {
		var err error
		*one.to, err = l.Bucket(ctx, one.config)
		if err != nil {
			return nil, err
		}
	}
	return q, nil
}

// Of is the quota of one tenant, nil when it has none.
func (q *Quotas) Of(name string, t Tenant) *Quota {
	if t.Slots == 0 && t.MinutesPerDay == 0 {
		return nil
	}
	return &Quota{quotas: q, name: name, tenant: t}
}

// Quota is what one tenant may use.
type Quota struct {
	quotas *Quotas
	name   string
	tenant Tenant
}

// Begin implements worker.Quota: it takes one of the tenant's slots, and says no when
// all are taken. A tenant that has used up its minutes is an error.
func (q *Quota) Begin(
	ctx context.Context,
) (renew func(context.Context), end func(context.Context, time.Duration), ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, wire.RequestTimeout)
	defer cancel()
	if limit := q.tenant.MinutesPerDay; limit > 0 {
		used, _, err := q.used(ctx)
		if err != nil {
			return nil, nil, false, err
		}
		if used >= time.Duration(limit)*time.Minute {
			return nil, nil, false, fault.New(
				fault.QuotaExceeded, "tenant %s has used its %d minutes of today", q.name, limit,
			).With("used_minutes", int(used.Minutes()))
		}
	}
	mine := newMark()
	slot, revision, err := q.slot(ctx, mine)
	if err != nil || slot == "" && q.tenant.Slots > 0 {
		return nil, nil, false, err
	}
	renew = func(ctx context.Context) {
		if slot == "" {
			return
		}
		// It is not cut off with ctx: whether it was stored would not be known. A slot that
		// expired may be another job's, which must not lose it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wire.RequestTimeout)
		defer cancel()
		if next, err := wire.Put(ctx, q.quotas.slots, slot, mine, revision, mine.is); err == nil {
			revision = next
		}
	}
	end = func(ctx context.Context, took time.Duration) {
		ctx, cancel := context.WithTimeout(ctx, wire.RequestTimeout)
		defer cancel()
		if slot != "" {
			q.free(ctx, slot, revision, mine)
		}
		if q.tenant.MinutesPerDay > 0 {
			q.add(ctx, took)
		}
	}
	return renew, end, true, nil
}

// mark is the value of a slot, which says whose it is.
type mark []byte

func newMark() mark { return mark(rand.Text()) }

func (m mark) is(value []byte) bool { return bytes.Equal(m, value) }

// free gives a slot back. One whose last renewal was stored without an answer has another revision.
func (q *Quota) free(ctx context.Context, slot string, revision uint64, mine mark) {
	if q.quotas.slots.Delete(ctx, slot, jetstream.LastRevision(revision)) == nil {
		return
	}
	if e, err := q.quotas.slots.Get(ctx, slot); err == nil && mine.is(e.Value()) {
		_ = q.quotas.slots.Delete(ctx, slot, jetstream.LastRevision(e.Revision())) // else it expires
	}
}

// slot takes a free slot, "" when there is none. Each worker begins elsewhere, so
// that many do not meet at the first.
func (q *Quota) slot(ctx context.Context, mine mark) (key string, revision uint64, err error) {
	n := q.tenant.Slots
	if n == 0 {
		return "", 0, nil
	}
	first := mathrand.IntN(n)
	for i := range n {
		key = q.name + "." + strconv.Itoa((first+i)%n)
		revision, err = q.quotas.slots.Create(ctx, key, mine)
		if err == nil {
			return key, revision, nil
		}
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return "", 0, err
		}
	}
	return "", 0, nil
}

func (q *Quota) today() string { return q.name + "." + time.Now().UTC().Format("20060102") }

func (q *Quota) used(ctx context.Context) (time.Duration, uint64, error) {
	e, err := q.quotas.minutes.Get(ctx, q.today())
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	var d time.Duration
	return d, e.Revision(), json.Unmarshal(e.Value(), &d)
}

// add counts what a job used. Others count at the same time, so it tries again.
func (q *Quota) add(ctx context.Context, took time.Duration) {
	for ctx.Err() == nil {
		used, revision, err := q.used(ctx)
		if err != nil {
			return
		}
		raw := strconv.AppendInt(nil, int64(used+took), 10)
		if revision == 0 {
			_, err = q.quotas.minutes.Create(ctx, q.today(), raw)
		} else {
			_, err = q.quotas.minutes.Update(ctx, q.today(), raw, revision)
		}
		if err == nil {
			return
		}
	}
}
