package network

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/entries"
)

type networkListIn struct {
	Methods     []string `json:"methods"`
	Types       []string `json:"types"`
	States      []string `json:"states"`
	URLContains string   `json:"url_contains"`
	MinStatus   int      `json:"min_status"`
	Since       int      `json:"since"`
	Limit       int      `json:"limit"`
}

type networkListOut struct {
	Entries []networkEntry `json:"entries"`
	// Cursor is the since of the next call, which brings what began or
	// changed after this one.
	Cursor         int    `json:"cursor"`
	Inflight       int    `json:"inflight"`
	Omitted        int    `json:"omitted"` // matching ones that limit left out, the oldest
	Dropped        int    `json:"dropped"`
	RecordingSince string `json:"recording_since"`
	// Blocked is there when origins are allowed or blocked.
	Blocked *[]blockedEntry `json:"blocked,omitempty"`
}

type blockedEntry struct {
	At      string `json:"at"`
	Method  string `json:"method"`
	URL     string `json:"url,omitempty"`
	Host    string `json:"host"`
	Address string `json:"address,omitempty"`
	Rule    string `json:"rule"`
	Vector  string `json:"vector,omitempty"`
	Page    string `json:"page,omitempty"`
}

// networkEntry is one request without headers and bodies: see network.get.
type networkEntry struct {
	ID            string              `json:"id"`
	Method        string              `json:"method"`
	URL           string              `json:"url"`
	Type          string              `json:"type"`
	State         string              `json:"state"`
	Status        int                 `json:"status"`
	MimeType      string              `json:"mime_type,omitempty"`
	StartedAt     string              `json:"started_at"`
	DurationMS    float64             `json:"duration_ms"`
	FirstByteMS   float64             `json:"first_byte_ms,omitempty"`
	Bytes         int64               `json:"bytes"`
	BodyBytes     int64               `json:"body_bytes"`
	FromCache     bool                `json:"from_cache,omitempty"`
	FromWorker    bool                `json:"from_service_worker,omitempty"`
	Failure       string              `json:"failure,omitempty"`
	Cancelled     bool                `json:"cancelled,omitempty"`
	BlockedReason string              `json:"blocked_reason,omitempty"`
	RedirectedTo  string              `json:"redirected_to,omitempty"`
	Initiator     string              `json:"initiator,omitempty"`
	Document      string              `json:"document,omitempty"`
	Frame         *primitives.FrameID `json:"frame_id,omitempty"`
}

// networkList reads the requests of the tab and of its frames, the newest last.
var networkList = primitives.Define("network.list", func(
	ctx context.Context, p primitives.Page, in networkListIn,
) (networkListOut, error) {
	log, err := p.Network(ctx)
	if err != nil {
		return networkListOut{}, err
	}
	out := networkListOut{
		Entries:        []networkEntry{},
		Cursor:         log.Last,
		Inflight:       log.Inflight,
		Dropped:        log.Dropped,
		RecordingSince: jsonout.Time(log.Since),
	}
	part := address.Part(in.URLContains)
	for _, r := range log.Requests {
		if r.Revision <= in.Since || r.Status < in.MinStatus || !entries.Passes(in.Types, r.Type) ||
			!entries.Passes(in.States, r.State) ||
			!strings.Contains(r.URL, part) {
			continue
		}
		if len(in.Methods) > 0 &&
			!slices.ContainsFunc(in.Methods, func(m string) bool { return strings.EqualFold(m, r.Method) }) {
			continue
		}
		out.Entries = append(out.Entries, describeRequest(r))
	}
	out.Entries, out.Omitted = entries.Newest(out.Entries, in.Limit)
	if log.HasOriginPolicy {
		blocked := []blockedEntry{}
		for _, b := range log.Blocked {
			blocked = append(blocked, blockedEntry{
				jsonout.Time(b.At), b.Method, b.URL, b.Host, b.Address, b.Rule, b.Vector, b.Page,
			})
		}
		blocked, _ = entries.Newest(blocked, in.Limit)
		out.Blocked = &blocked
	}
	return out, nil
})

func describeRequest(r primitives.NetworkRequest) networkEntry {
	e := networkEntry{
		ID:            r.ID,
		Method:        r.Method,
		URL:           r.URL,
		Type:          r.Type,
		State:         r.State,
		Status:        r.Status,
		MimeType:      r.MimeType,
		StartedAt:     jsonout.Time(r.Started),
		DurationMS:    milliseconds(r.Duration),
		FirstByteMS:   milliseconds(r.FirstByte),
		Bytes:         r.Bytes,
		BodyBytes:     r.BodyBytes,
		FromCache:     r.FromCache,
		FromWorker:    r.FromWorker,
		Failure:       r.Failure,
		Cancelled:     r.Cancelled,
		BlockedReason: r.BlockedReason,
		RedirectedTo:  r.RedirectedTo,
		Initiator:     r.Initiator,
		Document:      r.Document,
	}
	if r.Frame != "" {
		e.Frame = &r.Frame
	}
	return e
}

// milliseconds rounds to a tenth.
func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Millisecond)*10) / 10
}
