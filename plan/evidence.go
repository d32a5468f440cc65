package plan

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/runtime"
)

// evidenceTimeout bounds each of the calls that collect evidence.
const evidenceTimeout = 5 * time.Second

// record makes a tab record its console and its network: what was before the first
// call is not there.
func record(ctx context.Context, h Host, on runtime.Target, o Options) {
	for _, name := range []string{"console.list", "network.list"} {
		evidenceCall(ctx, h, on, o, name, `{"limit":1}`)
	}
}

// evidenceOf is what the page shows, and its console and network since a time.
// What cannot be had is left out.
func evidenceOf(
	ctx context.Context, h Host, on runtime.Target, o Options, since time.Time,
) (*report.Screenshot, []report.Text) {
	since = since.Truncate(time.Millisecond) // as the lists have it
	shot := report.ReadScreenshot(evidenceCall(ctx, h, on, o, "browser.screenshot", `{"format":"jpeg","quality":60}`))
	var texts []report.Text
	if s := report.Console(evidenceCall(ctx, h, on, o, "console.list", `{}`), since); s != "" {
		texts = append(texts, report.Text{Title: "console", Body: s})
	}
	if s := report.Network(evidenceCall(ctx, h, on, o, "network.list", `{}`), since); s != "" {
		texts = append(texts, report.Text{Title: "network", Body: s})
	}
	return shot, texts
}

// siteEvidence is evidenceCall for the tool of the page's site.
func (r *run) siteEvidence(ctx context.Context, at place, in runtime.Site) json.RawMessage {
	arguments, err := in.JSON()
	if err != nil {
		return nil
	}
	return evidenceCall(ctx, at.session, at.target, r.o, runtime.SiteTool, string(arguments))
}

func evidenceCall(ctx context.Context, h Host, on runtime.Target, o Options, name, arguments string) json.RawMessage {
	reply := h.Do(ctx, runtime.Call{
		ID:        o.NewID(),
		Target:    on,
		Name:      name,
		Arguments: json.RawMessage(arguments),
		Timeout:   evidenceTimeout,
		OwnWords:  true,
	})
	if reply.Err != nil {
		return nil
	}
	return reply.Value()
}
