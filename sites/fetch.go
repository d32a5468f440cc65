package sites

import (
	"context"
	"time"
)

// Fetcher reads maps that are not in the storage: those a website publishes and
// those that an import names by a web address. The runtime implements it through
// the page, so that a map is requested as the page itself could request it: with
// the user's session on the page's own origin, without it anywhere else, and
// under the rules of the browser. Implementations are safe for concurrent use.
type Fetcher interface {
	// Fetch reads an absolute http or https address within limits. An answer
	// whose status is not 2xx is no error. What the limits cut off is an error,
	// never a shorter text.
	Fetch(ctx context.Context, address string, limits FetchLimits) (*Fetched, error)
}

// FetchLimits bound one Fetch.
type FetchLimits struct {
	MaxBytes int           // of the body
	Timeout  time.Duration // of the whole request
	// Redirects is how many redirects may be followed; a browser follows 20 at
	// most. All of them stay on the origin that was requested.
	Redirects int
}

// DefaultFetchLimits are those of composing imports.
var DefaultFetchLimits = FetchLimits{MaxBytes: 2 << 20, Timeout: 5 * time.Second, Redirects: 5}

// Fetched is the answer of a web address.
type Fetched struct {
	URL    string // after redirects
	Status int
	Body   []byte
}
