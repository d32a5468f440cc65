package queue

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/primitives/fault"
)

// largestInline is how many bytes a job, a result or a record carries itself. What
// is longer goes to the object store: a message has at most 1 MiB.
const largestInline = 256 << 10

// reuse is for how long after it was stored an object is taken for one more job: it
// must not expire before the job does.
const reuse = time.Hour

const (
	// carryAll bounds sending or reading one object, with its repetitions.
	carryAll = 2 * time.Minute
	// carryOnce bounds an attempt of a small object. A server that ends meanwhile does not
	// say so: its answer is waited for in vain. A larger object gets a second more for
	// each carrySpeed bytes.
	carryOnce  = 10 * time.Second
	carrySpeed = 4 << 20
)

// carry sends or reads an object of a size, again while the server is away.
func carry(ctx context.Context, size uint64, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, carryAll)
	defer cancel()
	return wire.AgainEach(ctx, carryOnce+time.Duration(size/carrySpeed)*time.Second, do)
}

// largestObject bounds one object.
const largestObject = 256 << 20

// Upload puts data into the object store under its digest, so what many jobs share
// is there once.
func (q *Queue) Upload(ctx context.Context, data []byte) (fleet.Object, error) {
	sum := sha256.Sum256(data)
	o := fleet.Object{Name: hex.EncodeToString(sum[:]), Size: uint64(len(data)), SHA256: hex.EncodeToString(sum[:])}
	if len(data) > largestObject {
		return o, fault.New(
			fault.PayloadTooLarge, "a file of %d bytes: the fleet carries at most %d", len(data), largestObject,
		)
	}
	err := carry(ctx, o.Size, func(ctx context.Context) error {
		if info, err := q.Objects.GetInfo(ctx, o.Name); err == nil && info.Size == o.Size &&
			time.Since(info.ModTime) < reuse {
			return nil
		}
		_, err := q.Objects.Put(ctx, jetstream.ObjectMeta{Name: o.Name}, bytes.NewReader(data))
		return err
	})
	if err != nil {
		return o, fault.New(fault.TransportFailed, "storing an object of %d bytes in the fleet: %v", len(data), err)
	}
	return o, nil
}

// Download reads an object and refuses one that is not what its name promises.
func (q *Queue) Download(ctx context.Context, o fleet.Object) ([]byte, error) {
	if o.Size > largestObject {
		return nil, fault.New(
			fault.PayloadTooLarge, "an object of %d bytes: the fleet carries at most %d", o.Size, largestObject,
		)
	}
	var data []byte
	err := carry(ctx, o.Size, func(ctx context.Context) (err error) {
		data, err = q.Objects.GetBytes(ctx, o.Name)
		return err
	})
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, fault.New(fault.AssetNotFound, "the fleet does not have the object %s any more", o.Name)
	}
	if err != nil {
		return nil, fault.New(fault.TransportFailed, "reading an object of the fleet: %v", err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != o.SHA256 {
		return nil, fault.New(fault.InvalidResult, "the object %s has other contents than its digest says", o.Name)
	}
	return data, nil
}

// PackResult puts a result into an outcome, or beside it when it is long.
func (q *Queue) PackResult(ctx context.Context, o *fleet.Outcome, result json.RawMessage) error {
	if len(result) <= largestInline {
		o.Result = result
		return nil
	}
	at, err := q.Upload(ctx, result)
	o.ResultAt = &at
	return err
}

// Result is the result of an outcome, wherever it is.
func (q *Queue) Result(ctx context.Context, o *fleet.Outcome) (json.RawMessage, error) {
	if o.ResultAt == nil {
		return o.Result, nil
	}
	return q.Download(ctx, *o.ResultAt)
}

// PackPayload puts a payload into a job, or beside it when it is long.
func (q *Queue) PackPayload(ctx context.Context, j *fleet.Job, payload json.RawMessage) error {
	if len(payload) <= largestInline {
		j.Payload = payload
		return nil
	}
	at, err := q.Upload(ctx, payload)
	j.PayloadAt = &at
	return err
}

// Payload is the payload of a job, wherever it is.
func (q *Queue) Payload(ctx context.Context, j fleet.Job) (json.RawMessage, error) {
	if j.PayloadAt == nil {
		return j.Payload, nil
	}
	return q.Download(ctx, *j.PayloadAt)
}
