package files

import (
	"context"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type downloadWaitIn struct {
	ID        string `json:"download_id"`
	TimeoutMS int    `json:"timeout_ms"`
}

// downloadWait waits until a download has ended. Without an id it is the first
// one that no such call has answered yet, so it can be called after the click
// that starts the download, however fast that was. One that ended without a file is an
// error.
var downloadWait = primitives.Define("download.wait", func(
	ctx context.Context, p primitives.Page, in downloadWaitIn,
) (downloadEntry, error) {
	bounded, cancel := withinMS(ctx, in.TimeoutMS, 30_000)
	defer cancel()
	d, err := p.AwaitDownload(bounded, in.ID)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return downloadEntry{}, fault.New(fault.Timeout, "no download ended in time").With("timeout_ms", in.TimeoutMS)
	}
	if err != nil {
		return downloadEntry{}, err
	}
	if d.State != primitives.DownloadCompleted {
		return downloadEntry{}, incomplete(d)
	}
	return describeDownload(d), nil
})

// incomplete is the error of a download that ended without a file.
func incomplete(d primitives.Download) *fault.Error {
	f := fault.New(fault.StateMismatch, "the download brought no file: %s", strings.ReplaceAll(d.State, "_", " "))
	f = f.With("download_id", d.ID).With("filename", d.Filename).With("state", d.State)
	f = f.With("bytes_received", d.Received).With("total_bytes", d.Total)
	if d.State == primitives.DownloadTooLarge {
		f.Code = fault.PayloadTooLarge
		return f.Next("take a smaller file")
	}
	return f.Next("start the download again")
}
