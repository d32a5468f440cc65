package states

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// rowsBytes is how much is asked for at a time.
const rowsBytes = 1 << 20

// reading is what is used of a page of rows.
type reading struct {
	Hash string `json:"state_hash"`
	Page struct {
		Next *int `json:"next_offset"`
	} `json:"page"`
	Rows []json.RawMessage `json:"rows"`
}

// rows shows the items of a list in the state, one a line, page by page. All are of one moment.
func (r *Reader) rows(ctx context.Context, call func(context.Context, runtime.Site) runtime.Reply, q Query) error {
	read := func(ctx context.Context, arguments runtime.Site) (*reading, *fault.Error) {
		arguments.Mode = runtime.SiteStateRead
		arguments.Rows = q.Rows
		reply := call(ctx, arguments)
		if reply.Err != nil {
			return nil, reply.Err
		}
		var page reading
		if err := json.Unmarshal(reply.Output, &page); err != nil {
			return nil, fault.Wrap(fault.Internal, err, "reading a page of rows")
		}
		return &page, nil
	}
	hash := ""
	if q.Settle > 0 {
		hash = settled(ctx, read, q.Settle)
	}
	next := new(int)
	for next != nil {
		arguments := runtime.Site{Offset: *next, MaxBytes: max(q.MaxBytes, rowsBytes), Hash: hash}
		page, err := read(ctx, arguments)
		if err != nil {
			if *next == 0 && hash != "" && err.Code == fault.StateMismatch {
				hash = "" // it has changed after all
				continue
			}
			return err
		}
		for _, row := range page.Rows {
			if _, err := fmt.Fprintf(r.Out, "%s\n", row); err != nil {
				return err
			}
		}
		hash, next = page.Hash, page.Page.Next
	}
	return nil
}

// settled is the hash of the state when two reads, so far apart, have given the same one. It is "" after settleLimit,
// and when the read fails otherwise than on a page that is not there yet: the next read says why.
func settled(
	ctx context.Context, read func(context.Context, runtime.Site) (*reading, *fault.Error), quiet time.Duration,
) string {
	limit, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	last := ""
	for {
		page, err := read(limit, runtime.Site{Limit: 1, MaxBytes: rowsBytes})
		switch {
		case err == nil && page.Hash == last:
			return last
		case err == nil:
			last = page.Hash
		case !slices.Contains([]fault.Code{fault.StateSchemaValidationFailed, fault.StateProjectionFailed}, err.Code):
			return ""
		}
		if !primitives.Pause(limit, quiet) {
			return ""
		}
	}
}
