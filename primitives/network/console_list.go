package network

import (
	"context"
	"strings"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/entries"
)

type consoleListIn struct {
	Levels       []string `json:"levels"`
	Sources      []string `json:"sources"`
	TextContains string   `json:"text_contains"`
	Since        int      `json:"since"`
	Limit        int      `json:"limit"`
}

type consoleListOut struct {
	Entries []consoleEntry `json:"entries"`
	// Cursor is the since of the next call.
	Cursor         int    `json:"cursor"`
	Omitted        int    `json:"omitted"` // matching ones that limit left out, the oldest
	Dropped        int    `json:"dropped"`
	RecordingSince string `json:"recording_since"`
}

type consoleEntry struct {
	Seq       int    `json:"seq"`
	Level     string `json:"level"`
	Source    string `json:"source"`
	Type      string `json:"type,omitempty"`
	Text      string `json:"text"`
	Truncated bool   `json:"truncated,omitempty"`
	URL       string `json:"url,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	At        string `json:"at"`
}

// consoleList reads the console: what scripts log, uncaught exceptions, and what
// the browser says about the page. All of it is data of the page.
var consoleList = primitives.Define("console.list", func(
	ctx context.Context, p primitives.Page, in consoleListIn,
) (consoleListOut, error) {
	log, err := p.Console(ctx)
	if err != nil {
		return consoleListOut{}, err
	}
	out := consoleListOut{
		Entries:        []consoleEntry{},
		Cursor:         log.Last,
		Dropped:        log.Dropped,
		RecordingSince: jsonout.Time(log.Since),
	}
	for _, m := range log.Messages {
		if m.Seq <= in.Since || !entries.Passes(in.Levels, m.Level) || !entries.Passes(in.Sources, m.Source) ||
			!strings.Contains(m.Text, in.TextContains) {
			continue
		}
		out.Entries = append(out.Entries, consoleEntry{
			Seq:       m.Seq,
			Level:     m.Level,
			Source:    m.Source,
			Type:      m.Type,
			Text:      m.Text,
			Truncated: m.Cut,
			URL:       m.URL,
			Line:      m.Line,
			Column:    m.Column,
			At:        jsonout.Time(m.At),
		})
	}
	out.Entries, out.Omitted = entries.Newest(out.Entries, in.Limit)
	return out, nil
})
