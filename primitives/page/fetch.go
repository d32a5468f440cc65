package page

import (
	"context"
	"net/url"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
)

// maxFetchBody is in bytes, and what one answer of the page may be without
// crowding out everything else on the connection.
const maxFetchBody = 8 << 20

// maxBase64Body in base64 is as long as maxFetchBody.
const maxBase64Body = maxFetchBody / 4 * 3

type pageFetchIn struct {
	URL string `json:"url"`
	// MaxBytes lowers the limit of the body.
	MaxBytes int `json:"max_bytes"`
	// Encoding is how the body is written: utf-8, or base64 for what is no text.
	Encoding string `json:"encoding"`
}

type pageFetchOut struct {
	OK          bool   `json:"ok"` // the status is 2xx
	Status      int    `json:"status"`
	ContentType string `json:"content_type"`
	Length      int    `json:"length"` // UTF-16 units of the body, bytes with base64
	Body        string `json:"body"`
	URL         string `json:"url"` // after redirects
	Redirected  bool   `json:"redirected"`
}

// pageFetch reads an address with the page's cookies, GET only and of the
// page's own origin only, also after redirects. The page library fetches in our
// world; both sides check the origin.
var pageFetch = primitives.Define("page.fetch", func(
	ctx context.Context, p primitives.Page, in pageFetchIn,
) (pageFetchOut, error) {
	if requested := address.Origin(in.URL); requested == "" {
		e := fault.New(fault.PageFetchCrossOrigin, "the url is not an absolute web address").
			With("requested_origin", opaqueOrigin(in.URL))
		return pageFetchOut{}, e.With("page_origin", address.Origin(p.Tab().URL)).
			Next("give the whole address, beginning with https://")
	}
	most := maxFetchBody
	if in.MaxBytes > 0 {
		most = min(most, in.MaxBytes)
	}
	if in.Encoding == "base64" {
		most = min(most, maxBase64Body)
	}
	args := map[string]any{"url": in.URL, "max_bytes": most, "encoding": in.Encoding}
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		left -= primitives.AnswerMargin(ctx, left, primitives.LoadAnswerMargin)
		args["timeout_ms"] = max(1, left.Milliseconds())
	}
	var answer struct {
		pageFetchOut
		Origin string `json:"origin"`
	}
	if err := p.Call(ctx, "", "page_fetch", args, &answer); err != nil {
		return pageFetchOut{}, err
	}
	if final := address.Origin(answer.URL); final == "" || final != answer.Origin {
		return pageFetchOut{}, fault.New(fault.PageFetchFailed, "the request was redirected to another origin").
			With("final_origin", final).With("page_origin", answer.Origin)
	}
	return answer.pageFetchOut, nil
})

// opaqueOrigin is the origin that a browser gives a URL that is not of
// the web; nil for what is no absolute address.
func opaqueOrigin(address string) any {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme == "":
		return nil
	case u.Scheme == "file":
		return "file://"
	}
	return "null"
}
