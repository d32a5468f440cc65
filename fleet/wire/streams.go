package wire

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Keep says how long a fleet keeps what it knows. It is decided by who makes the
// streams, which is the first program that uses the account.
type Keep struct {
	// Records bounds how long outcomes, events and objects are kept. Default 7 days.
	Records time.Duration
	// Queue bounds how many jobs may wait. Default 1,000,000.
	Queue int64
	// Events and Objects bound bytes. Defaults 256 MiB and 8 GiB, of objects less where the
	// server's disk has less room.
	Events, Objects int64
	// Replicas of everything. Default: 3 in a cluster, else 1.
	Replicas int
	// Presence is after how long a silent worker is lost. Default 10 s.
	Presence time.Duration
}

// dedupWindow is how long the server remembers the ids of jobs. It spares work
// only: that a job runs once is decided by its record.
const dedupWindow = 2 * time.Minute

// Store is what a fleet keeps, opened.
type Store struct {
	*Link
	Jobs    jetstream.Stream
	Records jetstream.KeyValue
	Workers jetstream.KeyValue
	Lanes   jetstream.KeyValue
	Objects jetstream.ObjectStore
}

// openWithin bounds opening a store. A cluster that has just been started answers when
// it has chosen its leaders.
const openWithin = 20 * time.Second

// Open opens what the fleet keeps, and makes what is not there.
func Open(ctx context.Context, l *Link, keep Keep) (*Store, error) {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	set(&keep.Records, 7*24*time.Hour)
	set(&keep.Queue, 1_000_000)
	set(&keep.Events, 256<<20)
	set(&keep.Objects, 8<<30)
	set(&keep.Presence, 10*time.Second)
	if keep.Replicas == 0 {
		keep.Replicas = 1
		if l.NC.ConnectedClusterName() != "" && len(l.NC.DiscoveredServers())+len(l.NC.Servers()) >= 3 {
			keep.Replicas = 3
		}
	}
	// What has a bound is reserved at once, so it has to fit into the account.
	var info *jetstream.AccountInfo
	err := Again(ctx, func(ctx context.Context) (err error) { info, err = l.JS.AccountInfo(ctx); return err })
	if err == nil && info.Limits.MaxStore > 0 {
		keep.Objects, keep.Events = min(keep.Objects, info.Limits.MaxStore/2), min(keep.Events, info.Limits.MaxStore/8)
	}
	s := &Store{Link: l}
	s.Jobs, err = l.stream(ctx, jetstream.StreamConfig{
		Name:        JobsStream,
		Subjects:    []string{Prefix + ".job.>"},
		Retention:   jetstream.WorkQueuePolicy,
		Discard:     jetstream.DiscardNew,
		MaxMsgs:     keep.Queue,
		Duplicates:  dedupWindow,
		Replicas:    keep.Replicas,
		AllowDirect: true,
	})
	if err != nil {
		return nil, err
	}
	err = fitting(keep.Events, leastEvents, func(bytes int64) error {
		_, err := l.stream(ctx, jetstream.StreamConfig{
			Name:              EventsStream,
			Subjects:          []string{Prefix + ".event.>"},
			Discard:           jetstream.DiscardOld,
			MaxAge:            keep.Records,
			MaxBytes:          bytes,
			MaxMsgsPerSubject: 1000,
			Replicas:          keep.Replicas,
			AllowDirect:       true,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	buckets := []struct {
		to     *jetstream.KeyValue
		config jetstream.KeyValueConfig
	}{
		{&s.Records, jetstream.KeyValueConfig{Bucket: Records, TTL: keep.Records}},
		// The bucket's time to live is renewed by every Put; the marker makes
		// watchers hear of keys that expire.
		{&s.Workers, jetstream.KeyValueConfig{Bucket: Workers, TTL: keep.Presence, LimitMarkerTTL: keep.Presence}},
		{&s.Lanes, jetstream.KeyValueConfig{Bucket: Lanes}},
	}
	for _, b := range buckets {
		b.config.Replicas = keep.Replicas
		*b.to, err = l.Bucket(ctx, b.config)
		if err != nil {
			return nil, err
		}
	}
	err = Again(ctx, func(ctx context.Context) (err error) {
		s.Objects, err = l.JS.ObjectStore(ctx, Objects)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			err = fitting(keep.Objects, leastObjects, func(bytes int64) (err error) {
				s.Objects, err = l.JS.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
					Bucket:   Objects,
					TTL:      keep.Records,
					MaxBytes: bytes,
					Replicas: keep.Replicas,
				})
				return err
			})
			if errors.Is(err, jetstream.ErrBucketExists) {
				s.Objects, err = l.JS.ObjectStore(ctx, Objects)
			}
		}
		return err
	})
	if err != nil {
		return nil, unusable(err, "the object store "+Objects)
	}
	return s, nil
}

// The smallest stores that are made.
const (
	leastObjects = 64 << 20
	leastEvents  = 8 << 20
)

// fitting makes something whose bytes are reserved at once: on a disk that has less room
// than was asked for it is smaller, and leaves room for what other accounts will ask for.
func fitting(bytes, least int64, make func(bytes int64) error) error {
	for {
		err := make(bytes)
		var refused *jetstream.APIError
		if !errors.As(err, &refused) || refused.ErrorCode != insufficientStorage || bytes <= least {
			return err
		}
		bytes = max(bytes/4, least)
	}
}

// insufficientStorage is the server's JSStorageResourcesExceededErr.
const insufficientStorage jetstream.ErrorCode = 10047

func (l *Link) stream(ctx context.Context, c jetstream.StreamConfig) (s jetstream.Stream, err error) {
	err = Again(ctx, func(ctx context.Context) (err error) {
		s, err = l.JS.Stream(ctx, c.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			s, err = l.JS.CreateStream(ctx, c)
			if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
				s, err = l.JS.Stream(ctx, c.Name) // somebody else was faster
			}
		}
		return err
	})
	if err != nil {
		return nil, unusable(err, "the stream "+c.Name)
	}
	return s, nil
}

// Bucket opens a bucket, and makes it when it is not there.
func (l *Link) Bucket(ctx context.Context, c jetstream.KeyValueConfig) (b jetstream.KeyValue, err error) {
	err = Again(ctx, func(ctx context.Context) (err error) {
		b, err = l.JS.KeyValue(ctx, c.Bucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			b, err = l.JS.CreateKeyValue(ctx, c)
			if errors.Is(err, jetstream.ErrBucketExists) {
				b, err = l.JS.KeyValue(ctx, c.Bucket)
			}
		}
		return err
	})
	if err != nil {
		return nil, unusable(err, "the bucket "+c.Bucket)
	}
	return b, nil
}

func unusable(err error, what string) error {
	f := fault.New(fault.TransportFailed, "opening %s of the fleet", what)
	f.Err = err
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		return f.Next("enable JetStream on the server (nats-server -js) and for this account")
	}
	return f
}

func set[T ~int64](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}
