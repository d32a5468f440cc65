package files

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/entries"
)

type downloadListIn struct {
	Limit int `json:"limit"`
}

type downloadListOut struct {
	Downloads []downloadEntry `json:"downloads"`
	Omitted   int             `json:"omitted"`
}

// downloadEntry is one download of any tab of the host.
type downloadEntry struct {
	ID       string `json:"download_id"`
	URL      string `json:"url"`
	TabID    int    `json:"tab_id,omitempty"`
	Filename string `json:"filename"`
	Path     string `json:"path,omitempty"`
	State    string `json:"state"`
	Received int64  `json:"bytes_received"`
	Total    int64  `json:"total_bytes"`
	SHA256   string `json:"sha256,omitempty"`
	Started  string `json:"started_at"`
	Ended    string `json:"ended_at,omitempty"`
}

func describeDownload(d primitives.Download) downloadEntry {
	e := downloadEntry{
		ID:       d.ID,
		URL:      d.URL,
		TabID:    d.TabID,
		Filename: d.Filename,
		Path:     d.Path,
		State:    d.State,
		Received: d.Received,
		Total:    d.Total,
		SHA256:   d.SHA256,
		Started:  jsonout.Time(d.Started),
	}
	if !d.Ended.IsZero() {
		e.Ended = jsonout.Time(d.Ended)
	}
	return e
}

// downloadList lists the downloads of the host, oldest first.
var downloadList = primitives.Define("download.list", func(
	_ context.Context, p primitives.Page, in downloadListIn,
) (downloadListOut, error) {
	list, err := p.Downloads()
	if err != nil {
		return downloadListOut{}, err
	}
	out := downloadListOut{Downloads: []downloadEntry{}}
	for _, d := range list {
		out.Downloads = append(out.Downloads, describeDownload(d))
	}
	out.Downloads, out.Omitted = entries.Newest(out.Downloads, in.Limit)
	return out, nil
})

// withinMS returns a context that ends after a number of milliseconds, or when
// ctx does.
func withinMS(ctx context.Context, ms, standard int) (context.Context, context.CancelFunc) {
	if ms <= 0 {
		ms = standard
	}
	return context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
}
