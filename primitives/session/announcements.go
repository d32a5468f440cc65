package session

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
)

// Limits of the announcement history (wire reference, "a11y_announcement").
const (
	maxAnnouncements     = 300
	announcementRepeat   = 2 * time.Second
	announcementReplaces = 5 * time.Second
)

// Announcement is one text that a live region of a page announced.
type Announcement struct {
	Seq        int64  `json:"seq"`
	TimeMS     int64  `json:"ts_ms"`
	Text       string `json:"text"` // text of the page, not an instruction
	Politeness string `json:"politeness"`
	Region     string `json:"region"`
	RegionRole string `json:"region_role"`
	Relevant   string `json:"relevant"`
	Interrupt  bool   `json:"interrupt"`
	Tab        int    `json:"tab"`
	RuntimeKey string `json:"runtime_key"`

	frame primitives.FrameID
}

// Delivery says what a subscriber wants of announcements: "inject", "buffer" or
// "off" each, "" for no setting.
type Delivery struct {
	Assertive string
	Polite    string
}

var defaultDelivery = Delivery{Assertive: "inject", Polite: "buffer"}

// Subscription names whose delivery is meant; Tab 0 is every tab.
type Subscription struct {
	Subscriber string
	Tab        int
}

// Announcements is the history of what live regions announced, for all tabs of a
// runtime. The zero value is empty and ready.
type Announcements struct {
	mu      sync.Mutex
	list    []Announcement // by Seq
	seq     int64
	set     map[Subscription]Delivery
	regions map[int]int // by tab: live regions that are observed
	batches map[int]int // by tab: reports of the page's observers
}

// Add takes what a region announced and returns it as it was stored; ok is false
// when it repeats the last record, or when nobody wants it. It may take the
// Place of the last text of the same region.
func (a *Announcements) Add(n Announcement, frame primitives.FrameID, now time.Time) (stored Announcement, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unwantedLocked(n) {
		return Announcement{}, false
	}
	n.TimeMS, n.frame = now.UnixMilli(), frame
	same := func(o Announcement) bool { return o.Tab == n.Tab && o.frame == n.frame && o.Region == n.Region }
	for i := len(a.list) - 1; i >= 0; i-- {
		last := a.list[i]
		if !same(last) {
			continue
		}
		age := now.Sub(time.UnixMilli(last.TimeMS))
		if last.Text == n.Text && age < announcementRepeat {
			return Announcement{}, false
		}
		if age < announcementReplaces && n.RegionRole != "log" && n.Relevant != "additions" {
			a.list = slices.Delete(a.list, i, i+1)
		}
		break
	}
	a.seq++
	n.Seq = a.seq
	if len(a.list) == maxAnnouncements {
		a.list = slices.Delete(a.list, 0, 1)
	}
	a.list = append(a.list, n)
	return n, true
}

// Read returns up to limit records after the cursor, oldest first, and the
// cursor to go on from.
func (a *Announcements) Read(since int64, limit int) ([]Announcement, int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := []Announcement{}
	for _, n := range a.list {
		if n.Seq > since && len(out) < limit {
			out = append(out, n)
		}
	}
	if len(out) > 0 {
		since = out[len(out)-1].Seq
	}
	return out, since
}

// Last returns the last announcement of a tab, "" for none.
func (a *Announcements) Last(tab int) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range slices.Backward(a.list) {
		if n.Tab == tab {
			return n.Text
		}
	}
	return ""
}

// Deliver changes what a subscriber wants and returns what then holds. Blank
// and unknown values change nothing.
func (a *Announcements) Deliver(s Subscription, d Delivery) Delivery {
	a.mu.Lock()
	defer a.mu.Unlock()
	mode := func(wanted string) string {
		if slices.Contains([]string{"inject", "buffer", "off"}, wanted) {
			return wanted
		}
		return ""
	}
	d = Delivery{mode(d.Assertive), mode(d.Polite)}
	_, there := a.set[s]
	// Only what was set is kept: a query, or what holds by a wider setting,
	// would hide every later wider one.
	if d != (Delivery{}) && (there || len(a.set) < maxAnnouncements) {
		if a.set == nil {
			a.set = map[Subscription]Delivery{}
		}
		a.set[s] = d.or(a.set[s])
	}
	return a.deliveryLocked(s)
}

// deliveryLocked: a setting of the tab wins over one for all, for
// each kind by itself.
func (a *Announcements) deliveryLocked(s Subscription) Delivery {
	return a.set[s].or(a.set[Subscription{Subscriber: s.Subscriber}]).or(defaultDelivery)
}

// or is d with what it does not say taken from wider.
func (d Delivery) or(wider Delivery) Delivery {
	return Delivery{cmp.Or(d.Assertive, wider.Assertive), cmp.Or(d.Polite, wider.Polite)}
}

// DeliveryTo says how a subscriber wants this record: "inject", "buffer" or
// "off".
func (a *Announcements) DeliveryTo(subscriber string, n Announcement) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.deliveryToLocked(subscriber, n)
}

func (a *Announcements) deliveryToLocked(subscriber string, n Announcement) string {
	d := a.deliveryLocked(Subscription{subscriber, n.Tab})
	if n.Politeness == "assertive" {
		return d.Assertive
	}
	return d.Polite
}

// unwantedLocked: every subscriber has turned this kind off. The agent behind
// the bridge is always one.
func (a *Announcements) unwantedLocked(n Announcement) bool {
	off := func(subscriber string) bool { return a.deliveryToLocked(subscriber, n) == "off" }
	for s := range a.set {
		if s.Subscriber != "mcp" && !off(s.Subscriber) {
			return false
		}
	}
	return off("mcp")
}

// Observed notes what the observers of a tab reported.
func (a *Announcements) Observed(tab, regions, batches int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.regions == nil {
		a.regions, a.batches = map[int]int{}, map[int]int{}
	}
	a.regions[tab] = regions
	a.batches[tab] += batches
}

// Counts returns what Observed noted, and how many records there are.
func (a *Announcements) Counts(tab int) (regions, batches, stored int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.regions[tab], a.batches[tab], len(a.list)
}
