package browser

import (
	"context"
	"net/url"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/primitives/session"
)

type browserNavigateIn struct {
	URL string `json:"url"`
	// Reload loads the current address again instead of URL.
	Reload bool `json:"reload"`
	TabID  *int `json:"tab_id"`
}

type browserNavigateOut struct {
	OK        bool `json:"ok"`
	Navigated bool `json:"navigated"`
	Connected bool `json:"connected"`
	Reloaded  bool `json:"reloaded"`
	// RuntimeIdentityAttested means that the browser confirmed which document
	// is there; the call fails when it does not.
	RuntimeIdentityAttested bool `json:"runtime_identity_attested"`
	// RuntimeReplaced means that there is a new document: handles, markers and
	// the focus of the old one are lost. The runtime id stays.
	RuntimeReplaced bool   `json:"runtime_replaced"`
	Loaded          bool   `json:"loaded"`
	SameDocument    bool   `json:"same_document"`
	Status          int    `json:"status"` // 0: not an HTTP load
	Blank           bool   `json:"blank,omitempty"`
	Tab             tabRow `json:"tab"`
}

// tabRow is a tab as the navigation and tab primitives report it.
type tabRow struct {
	RuntimeID       string  `json:"runtime_id"`
	TabID           int     `json:"tab_id"`
	URL             string  `json:"url"`
	Title           string  `json:"title"`
	Host            string  `json:"host"`
	Active          bool    `json:"active"`
	WindowID        int     `json:"window_id"`
	AuthorizationID string  `json:"authorization_id"`
	BridgeURL       *string `json:"bridge_url"` // a tab does not know its bridges: null
	RuntimeKey      string  `json:"_runtime_key"`
	Busy            bool    `json:"busy,omitempty"`
}

func rowOf(t primitives.TabInfo) tabRow {
	row := tabRow{
		RuntimeID:       t.RuntimeID,
		TabID:           t.ID,
		URL:             t.URL,
		Title:           t.Title,
		Active:          t.Active,
		WindowID:        t.WindowID,
		AuthorizationID: t.AuthorizationID,
		RuntimeKey:      t.RuntimeKey,
		Busy:            t.Busy,
	}
	if u, err := url.Parse(t.URL); err == nil {
		row.Host = u.Host
	}
	return row
}

// browserNavigate loads an address or reloads, in this tab or a peer. Only web
// addresses and about:blank are allowed: others run script in the page
// (javascript:), read files or reach into the browser.
var browserNavigate = primitives.Define("browser.navigate", func(
	ctx context.Context, p primitives.Page, in browserNavigateIn,
) (browserNavigateOut, error) {
	opts := primitives.NavigateOptions{Reload: in.Reload}
	if !in.Reload {
		if in.URL == "" {
			return browserNavigateOut{}, fault.New(fault.InvalidInput, "url or reload is needed").
				With("missing_required", []string{"url"})
		}
		to, err := address.Web(in.URL)
		if err != nil {
			return browserNavigateOut{}, err
		}
		if err := notAbout(p, to); err != nil {
			return browserNavigateOut{}, err
		}
		opts.URL = to
	}
	if s, ok := p.(session.Page); ok && in.TabID == nil && primitives.QuirksOf(p).Has(quirks.NavigatesActive) {
		in.TabID = activeTab(s.Session().Tabs())
	}
	p, err := primitives.PeerOf(p, in.TabID)
	if err != nil {
		return browserNavigateOut{}, err
	}
	nav, err := p.Navigate(ctx, opts.Within(ctx))
	if err != nil {
		return browserNavigateOut{}, err
	}
	tab := p.Tab()
	tab.URL, tab.Title = nav.URL, nav.Title
	tab.Active = tab.Active || primitives.QuirksOf(p).Has(quirks.NavigatesActive) // it is the session's from here on
	return browserNavigateOut{
		OK:                      true,
		Navigated:               true,
		Connected:               true,
		Reloaded:                in.Reload,
		RuntimeIdentityAttested: nav.Replaced || nav.SameDocument,
		RuntimeReplaced:         nav.Replaced,
		Loaded:                  nav.Loaded,
		SameDocument:            nav.SameDocument,
		Status:                  nav.Status,
		Blank:                   nav.Blank,
		Tab:                     rowOf(tab),
	}, nil
})

// notAbout refuses what the extension does not open (quirks.NavigatesActive).
func notAbout(p primitives.Page, address string) error {
	if len(address) >= 6 && strings.EqualFold(address[:6], "about:") &&
		primitives.QuirksOf(p).Has(quirks.NavigatesActive) {
		return fault.New(fault.PermissionDenied, "the extension opens no address of this scheme").
			With("scheme", "about")
	}
	return nil
}
