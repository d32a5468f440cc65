package session

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

// TabControl lists and changes the tabs of a session.
type TabControl interface {
	// Tabs lists the runtime's tabs. Exactly one is active, unless there is
	// none.
	Tabs() []primitives.TabInfo

	// OpenTab opens a tab at an address and waits for it to load.
	OpenTab(ctx context.Context, address string, active bool) (primitives.TabInfo, error)

	// CloseTab closes a tab and returns when it is closed; permission_denied for
	// the last one, tab_closed when there is no such tab.
	CloseTab(ctx context.Context, id int) error

	// ActivateTab makes a tab the active one; its page is not disturbed.
	ActivateTab(ctx context.Context, id int) (primitives.TabInfo, error)
}
