package files

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type downloadWaitIn struct {
	ID        string `json:"download_id"`
	TimeoutMS int    `json:"timeout_ms"`
}

// downloadWait waits until a download has ended. Without an id it is the first
// one that no such call has answered yet, so it can be called after the click
// that starts the download, however fast that was.
var downloadWait = primitives.Define("download.wait", func(ctx context.Context, p primitives.Page, in downloadWaitIn) (downloadEntry, error) {
	bounded, cancel := withinMS(ctx, in.TimeoutMS, 30_000)
	defer cancel()
	d, err := p.AwaitDownload(bounded, in.ID)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return downloadEntry{}, fault.New(fault.Timeout, "no download ended in time").With("timeout_ms", in.TimeoutMS)
	}
	if err != nil {
		return downloadEntry{}, err
	}
	return describeDownload(d), nil
})
