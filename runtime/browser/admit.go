package browser

// verdict is whether a tab that a page opened may stay, where Options.Admits has somebody decide that.
type verdict int

const (
	undecided verdict = iota
	admitted
	refused
)

// Admit says that a tab that a page opened may stay.
func (t *Tab) Admit() { t.decide(admitted, 0) }

// Refuse closes a tab that a page opened, because the limit of tabs is reached. The effects of that page's
// action report it.
func (t *Tab) Refuse(most int) { t.decide(refused, most) }

func (t *Tab) decide(v verdict, most int) {
	b := t.browser
	b.mu.Lock()
	t.verdict = v
	if v == refused && t.opener != nil {
		t.opener.refused++
		t.opener.mostTabs = most
	}
	b.mu.Unlock()
	b.change.Notify()
}

// undecided reports whether somebody still has to say whether t may stay; b.mu is held.
func (b *Browser) undecided(t *Tab) bool {
	return b.opts.Admits && !b.requested[t.TargetID()] && t.verdict == undecided
}

// admitted lists the tabs that stay.
func (b *Browser) admitted() []*Tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []*Tab
	for _, t := range b.tabs {
		if t.announced && t.verdict != refused && !b.undecided(t) {
			out = append(out, t)
		}
	}
	return out
}

// refusedOf is how many tabs of a page were refused, and because of which limit.
func (b *Browser) refusedOf(t *Tab) (count, most int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return t.refused, t.mostTabs
}
