package outrider

import "testing"

func TestEventQueueCountsWhatASlowReaderMisses(t *testing.T) {
	q := newEventQueue(2)
	for range 5 {
		q.push(Event{Kind: TabChanged})
	}
	var kinds []EventKind
	q.each(func(e Event) bool {
		if e.Kind == EventsLost && e.Lost != 3 {
			t.Errorf("lost %d, expected 3", e.Lost)
		}
		kinds = append(kinds, e.Kind)
		return len(kinds) < 3
	}, nil, nil)
	if len(kinds) != 3 || kinds[0] != EventsLost || kinds[1] != TabChanged || kinds[2] != TabChanged {
		t.Errorf("read %v", kinds)
	}
}
