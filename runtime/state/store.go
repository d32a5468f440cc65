package state

import (
	"encoding/json"
	"sync"
)

// maxStates bounds the projections whose last state a tab remembers. Names come
// from maps, and a call may bring its own map.
const maxStates = 256

// states holds the last full state of each projection that was read on one tab,
// by the projection's name. It survives navigation: what a caller compares with
// is what it read last, whatever the tab has shown since.
type states struct {
	mu     sync.Mutex
	byName map[string]lastState
	names  []string // oldest first
}

type lastState struct {
	state json.RawMessage
	hash  string
}

// swap puts a state in place of the last one and returns that; ok is false when
// there was none.
func (s *states) swap(name string, next lastState) (last lastState, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = map[string]lastState{}
	}
	last, ok = s.byName[name]
	if !ok {
		if len(s.names) == maxStates {
			delete(s.byName, s.names[0])
			s.names = s.names[1:]
		}
		s.names = append(s.names, name)
	}
	s.byName[name] = next
	return last, ok
}
