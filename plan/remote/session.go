package remote

import (
	"context"
	"encoding/json"
	"io"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/session"
	"github.com/outrider-run/outrider/primitives/fault"
)

// leased is what a caller asks for with a session: a browser with these settings and
// maps, and what the protocol on it is to be like.
type leased struct {
	Settings Settings        `json:"settings"`
	Maps     []Mapped        `json:"maps,omitempty"`
	Bundle   *fleet.Object   `json:"bundle,omitempty"`
	Face     json.RawMessage `json:"face,omitempty"`
}

// PackSession makes the options of a session, and puts its maps into the fleet. project are
// those of them that a project file names. face
// is for who serves the protocol.
func PackSession(
	ctx context.Context, q *queue.Queue, s Settings, maps, project []string, face any,
) (json.RawMessage, error) {
	out := leased{Settings: s}
	var err error
	out.Face, err = fleet.Encode(face)
	if err != nil {
		return nil, err
	}
	if len(maps) > 0 {
		archive := newPacker()
		out.Maps, err = archive.maps(maps, project)
		if err != nil {
			return nil, err
		}
		data, err := archive.close()
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "packing the maps")
		}
		at, err := q.Upload(ctx, data)
		if err != nil {
			return nil, err
		}
		out.Bundle = &at
	}
	return fleet.Encode(out)
}

// Session serves sessions of one protocol: a browser is opened for each, as for a job,
// and closed with it.
func (r *Runner) Session(
	q *queue.Queue, tenant string,
	serve func(ctx context.Context, h Host, face json.RawMessage, stream io.ReadWriteCloser) error,
) session.Server {
	return func(ctx context.Context, options json.RawMessage, stream io.ReadWriteCloser) error {
		var in leased
		if err := json.Unmarshal(options, &in); err != nil {
			return fault.New(fault.InvalidInput, "the options of the session cannot be read: %v", err)
		}
		var archive []byte
		if in.Bundle != nil {
			var err error
			archive, err = q.Download(ctx, *in.Bundle)
			if err != nil {
				return err
			}
		}
		w, err := r.hosts.take(ctx, Request{Settings: in.Settings, Tenant: tenant}, in.Maps, archive, false)
		if err != nil {
			return err
		}
		defer r.hosts.put(w, false)
		return serve(ctx, w.Host, in.Face, stream)
	}
}
