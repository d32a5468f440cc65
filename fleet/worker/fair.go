package worker

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/fleet"
)

// group is the lanes of one queue of one source: what gets a fair share.
type group struct {
	source int
	queue  string
	lanes  []*lane // most urgent first
	weight int
	pass   float64
	rests  time.Time // until then it is not asked
}

// fairness is stride scheduling: each job moves its group on by one over its weight,
// and the group that moved least is asked first. A group that had nothing to do does
// not save up its share.
type fairness struct {
	mu     sync.Mutex
	groups []*group
	now    float64 // pass of the group that was served last
}

func (f *fairness) has(source int, name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range f.groups {
		for _, l := range g.lanes {
			if g.source == source && l.Name() == name {
				return true
			}
		}
	}
	return false
}

func (f *fairness) add(l *lane, weight int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.groups, func(g *group) bool { return g.source == l.source && g.queue == l.Queue })
	if i < 0 {
		f.groups = append(f.groups, &group{source: l.source, queue: l.Queue, weight: weight, pass: f.now})
		i = len(f.groups) - 1
	}
	g := f.groups[i]
	// order gave the old list to others.
	g.lanes = append(slices.Clone(g.lanes), l)
	slices.SortStableFunc(g.lanes, func(a, b *lane) int {
		return cmp.Compare(slices.Index(fleet.Priorities, a.Priority), slices.Index(fleet.Priorities, b.Priority))
	})
}

// turn is a group as it was when the order was made.
type turn struct {
	*group
	lanes []*lane
}

// order is the groups, the one whose turn it is first.
func (f *fairness) order() []turn {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	sorted := slices.DeleteFunc(slices.Clone(f.groups), func(g *group) bool { return now.Before(g.rests) })
	slices.SortStableFunc(sorted, func(a, b *group) int { return cmp.Compare(a.pass, b.pass) })
	out := make([]turn, len(sorted))
	for i, g := range sorted {
		out[i] = turn{g, g.lanes}
	}
	return out
}

// rest leaves the groups of a source alone for a while.
func (f *fairness) rest(source int, d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range f.groups {
		if g.source == source {
			g.rests = time.Now().Add(d)
		}
	}
}

// rested fires when a group that is left alone may be asked again; nil when there
// is none.
func (f *fairness) rested() <-chan time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	var first time.Duration
	for _, g := range f.groups {
		if d := time.Until(g.rests); d > 0 && (first == 0 || d < first) {
			first = d
		}
	}
	if first == 0 {
		return nil
	}
	return time.After(first)
}

func (f *fairness) charge(t turn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.move(t.group)
}

func (f *fairness) chargeLane(l *lane) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range f.groups {
		if slices.Contains(g.lanes, l) {
			f.move(g)
		}
	}
}

// move is called with mu held.
func (f *fairness) move(g *group) {
	start := max(g.pass, f.now)
	f.now = start
	g.pass = start + 1/float64(g.weight)
}
