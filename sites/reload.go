package sites

import (
	"slices"
)

// Change says what a reload made of the maps.
type Change struct {
	// Added, Changed and Removed are paths of maps on offer, as Map.Path.
	Added, Changed, Removed []string
	// Kept are files whose map is invalid and stays on offer as it was;
	// Refused are invalid ones that were not on offer before.
	Kept, Refused []FileReport
}

// Empty reports whether a reload made no difference and found nothing wrong.
func (c Change) Empty() bool {
	return len(c.Added)+len(c.Changed)+len(c.Removed)+len(c.Kept)+len(c.Refused) == 0
}

// Reload loads paths again. A map whose text is the same is not read again; one
// that is invalid, in itself or in what it imports, stays as it was in l, and
// its report says so with Kept. A file that was removed takes its map with it.
func (l *Library) Reload(paths []string) (*Library, []FileReport, Change) {
	k := newLoader(l.opts)
	k.before = map[string]*Map{}
	for _, m := range l.maps {
		if m.file != "" {
			k.before[m.file] = m
		}
	}
	k.load(paths)
	before := func(m *Map) *Composition {
		old := k.before[m.file]
		if old == nil || l.composed[old] == nil {
			return nil
		}
		return l.composed[old]
	}
	out := newLibrary(k.maps, k.refused, l.opts).admit(k.report, before)
	change := Change{}
	now := map[string]bool{}
	for _, m := range out.maps {
		now[m.file] = true
		old := k.before[m.file]
		switch {
		case old == nil:
			change.Added = append(change.Added, m.Path)
		case old != m || !sameSources(l.composed[old], out.composed[m]):
			change.Changed = append(change.Changed, m.Path)
		}
	}
	for _, m := range l.maps {
		if m.file != "" && !now[m.file] {
			change.Removed = append(change.Removed, m.Path)
		}
	}
	for _, r := range k.reports {
		switch {
		case r.Kept:
			change.Kept = append(change.Kept, r)
		case !r.OK:
			change.Refused = append(change.Refused, r)
		}
	}
	return out, k.reports, change
}

// sameSources reports whether two compositions were made of the same texts.
func sameSources(a, b *Composition) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Sources, b.Sources, func(x, y *Source) bool {
		if x.Map == nil || y.Map == nil {
			return x.Map == y.Map
		}
		return x.Map.Path == y.Map.Path && x.Map.sameText(y.Map.Manifest.Raw)
	})
}
