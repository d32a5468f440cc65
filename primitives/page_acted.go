package primitives

import (
	"context"
	"time"
)

// ActedPage is a Page that can be watched while something acts on it.
type ActedPage interface {
	// Watch notes from then on what happens to the tab. It begins the
	// recording of requests. Watches need no end.
	Watch(ctx context.Context) (PageWatch, error)
}

// PageWatch collects events of a tab from a moment on.
type PageWatch interface {
	// Events returns the events so far.
	Events() PageEvents
	// Reported waits, a moment at most, until the browser has reported what the page did
	// so far.
	Reported(ctx context.Context)
	// Next waits for something more, for at most d.
	Next(ctx context.Context, d time.Duration)
}

// PageEvents are the events of a tab.
type PageEvents struct {
	From, To    string // address of the page before and after
	NewDocument bool
	Loading     bool // the main frame is on its way to another document
	Dialogs     []Dialog
	Tabs        []TabInfo        // that the page opened
	Navigated   []TabInfo        // windows of the page, and its opener, that went to another document
	Refused     int              // tabs that the page opened above the limit, which were closed
	MostTabs    int              // that limit
	Opening     int              // tabs of the page that are not ready yet
	Requests    []NetworkRequest // that began
	Pending     int              // of Requests without an end, streams not counted
	Downloads   []Download       // of the session that began, or were refused
	Gone        bool             // the tab was closed or has crashed
}
