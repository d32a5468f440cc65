package browser

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/session"
)

type browserOpenTabIn struct {
	// URL is about:blank when absent.
	URL string `json:"url"`
	// Active is true unless it is explicitly false.
	Active *bool `json:"active"`
}

type browserOpenTabOut struct {
	OK              bool   `json:"ok"`
	Opened          bool   `json:"opened"`
	TabID           int    `json:"tab_id"`
	RuntimeID       string `json:"runtime_id"`
	RuntimeKey      string `json:"runtime_key"`
	AuthorizationID string `json:"authorization_id"`
	URL             string `json:"url"`
	Ready           bool   `json:"ready"`
	Registered      bool   `json:"registered"`
	Connected       bool   `json:"connected"`
}

// browserOpenTab opens a tab that is a runtime of its own, under the same
// restriction of addresses as browser.navigate.
var browserOpenTab = primitives.Define("browser.open_tab", func(
	ctx context.Context, p primitives.Page, in browserOpenTabIn,
) (browserOpenTabOut, error) {
	s, err := session.Of(p, "browser.open_tab", "browser.tabs")
	if err != nil {
		return browserOpenTabOut{}, err
	}
	to := "about:blank"
	if in.URL != "" {
		to, err = address.Web(in.URL)
		if err == nil {
			err = notAbout(p, to)
		}
		if err != nil {
			return browserOpenTabOut{}, err
		}
	}
	tab, err := s.OpenTab(ctx, to, in.Active == nil || *in.Active)
	if err != nil {
		return browserOpenTabOut{}, err
	}
	return browserOpenTabOut{
		OK:              true,
		Opened:          true,
		TabID:           tab.ID,
		RuntimeID:       tab.RuntimeID,
		RuntimeKey:      tab.RuntimeKey,
		AuthorizationID: tab.AuthorizationID,
		URL:             tab.URL,
		Ready:           true,
		Registered:      true,
		Connected:       true,
	}, nil
})

type browserCloseTabIn struct {
	// TabID is the tab that runs the call when absent.
	TabID *int `json:"tab_id"`
}

type browserCloseTabOut struct {
	OK          bool `json:"ok"`
	Closed      bool `json:"closed"`
	ClosedTabID int  `json:"closed_tab_id"`
	ActiveTabID *int `json:"active_tab_id"`
}

var browserCloseTab = primitives.Define("browser.close_tab", func(
	ctx context.Context, p primitives.Page, in browserCloseTabIn,
) (browserCloseTabOut, error) {
	s, err := session.Of(p, "browser.close_tab", "browser.tabs")
	if err != nil {
		return browserCloseTabOut{}, err
	}
	id := p.Tab().ID
	if in.TabID != nil {
		id = *in.TabID
	}
	if err := s.CloseTab(ctx, id); err != nil {
		return browserCloseTabOut{}, err
	}
	return browserCloseTabOut{OK: true, Closed: true, ClosedTabID: id, ActiveTabID: activeTab(s.Tabs())}, nil
})

type claimedTabsListOut struct {
	OK                  bool     `json:"ok"`
	Scope               string   `json:"scope"`
	CompleteWithinScope bool     `json:"complete_within_scope"`
	InventorySource     string   `json:"inventory_source"`
	Note                string   `json:"note"`
	ActiveTabID         *int     `json:"active_tab_id"`
	Count               int      `json:"count"`
	Tabs                []tabRow `json:"tabs"`
}

var browserClaimedTabsList = primitives.Define("browser.claimed_tabs.list", func(
	_ context.Context, p primitives.Page, _ struct{},
) (claimedTabsListOut, error) {
	s, err := session.Of(p, "browser.claimed_tabs.list", "browser.claimed_tabs")
	if err != nil {
		return claimedTabsListOut{}, err
	}
	tabs := s.Tabs()
	out := claimedTabsListOut{
		OK:                  true,
		Scope:               "runtime_instance",
		CompleteWithinScope: true,
		InventorySource:     "runtime",
		Note:                "the tabs of this runtime; a browser that it is attached to may have others",
		ActiveTabID:         activeTab(tabs),
		Count:               len(tabs),
		Tabs:                []tabRow{},
	}
	for _, t := range tabs {
		out.Tabs = append(out.Tabs, rowOf(t))
	}
	return out, nil
})

type claimedTabsActivateIn struct {
	TabID int `json:"tab_id"`
}

type claimedTabsActivateOut struct {
	OK            bool   `json:"ok"`
	Scheduled     bool   `json:"scheduled"`
	Reconnected   bool   `json:"reconnected"`
	ReusedRuntime bool   `json:"reused_runtime"`
	Tab           tabRow `json:"tab"`
}

var browserClaimedTabsActivate = primitives.Define("browser.claimed_tabs.activate", func(
	ctx context.Context, p primitives.Page, in claimedTabsActivateIn,
) (claimedTabsActivateOut, error) {
	s, err := session.Of(p, "browser.claimed_tabs.activate", "browser.claimed_tabs")
	if err != nil {
		return claimedTabsActivateOut{}, err
	}
	tab, err := s.ActivateTab(ctx, in.TabID)
	if err != nil {
		return claimedTabsActivateOut{}, err
	}
	return claimedTabsActivateOut{OK: true, ReusedRuntime: true, Tab: rowOf(tab)}, nil
})

func activeTab(tabs []primitives.TabInfo) *int {
	for _, t := range tabs {
		if t.Active {
			return &t.ID
		}
	}
	return nil
}
