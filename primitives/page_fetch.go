package primitives

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// maxFetchBody is in bytes, and what one answer of the page may be without
// crowding out everything else on the connection.
const maxFetchBody = 8 << 20

type pageFetchIn struct {
	URL string `json:"url"`
	// MaxBytes lowers the limit of the body.
	MaxBytes int `json:"max_bytes"`
}

type pageFetchOut struct {
	OK          bool   `json:"ok"` // the status is 2xx
	Status      int    `json:"status"`
	ContentType string `json:"content_type"`
	Length      int    `json:"length"` // UTF-16 units of the body
	Body        string `json:"body"`
	URL         string `json:"url"` // after redirects
	Redirected  bool   `json:"redirected"`
}

// pageFetch reads an address with the page's cookies, GET only and of the
// page's own origin only, also after redirects. The page library asks in our
// world; both sides check the origin.
var pageFetch = Define("page.fetch", func(ctx context.Context, p Page, in pageFetchIn) (pageFetchOut, error) {
	if requested := originOf(in.URL); requested == "" {
		e := fault.New(fault.PageFetchCrossOrigin, "the url is not an absolute web address").With("requested_origin", nil)
		return pageFetchOut{}, e.With("page_origin", originOf(p.Tab().URL)).Next("give the whole address, beginning with https://")
	}
	most := maxFetchBody
	if in.MaxBytes > 0 {
		most = min(most, in.MaxBytes)
	}
	args := map[string]any{"url": in.URL, "max_bytes": most}
	if deadline, ok := ctx.Deadline(); ok {
		args["timeout_ms"] = max(1, (time.Until(deadline) - answerMargin).Milliseconds())
	}
	var answer struct {
		pageFetchOut
		Origin string `json:"origin"`
	}
	if err := p.Call(ctx, "", "page_fetch", args, &answer); err != nil {
		return pageFetchOut{}, err
	}
	if final := originOf(answer.URL); final == "" || final != answer.Origin {
		return pageFetchOut{}, fault.New(fault.PageFetchFailed, "the request was redirected to another origin").
			With("final_origin", final).With("page_origin", answer.Origin)
	}
	return answer.pageFetchOut, nil
})

// originOf is the origin of an absolute http or https address as a browser
// writes it, "" for anything else.
func originOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Hostname() == "" {
		return ""
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname())
	if scheme != "http" && scheme != "https" {
		return ""
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && !(scheme == "http" && port == "80") && !(scheme == "https" && port == "443") {
		host += ":" + port
	}
	return scheme + "://" + host
}
