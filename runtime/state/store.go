package state

import (
	"encoding/json"
	"sync"
)

// maxStates bounds the projections whose last state a tab remembers. Names come
// from maps, and a call may bring its own map.
const maxStates = 256

// maxStatesBytes bounds all of them together.
const maxStatesBytes = 16 << 20

// states holds the last full state of each projection that was read on one tab,
// by the projection's name. It survives navigation: what a caller compares with
// is what it read last, whatever the tab has shown since.
type states struct {
	mu     sync.Mutex
	byName map[string]lastState
	names  []string // oldest first
	bytes  int
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
		s.names = append(s.names, name)
	}
	s.byName[name] = next
	s.bytes += len(next.state) - len(last.state)
	for len(s.names) > maxStates || s.bytes > maxStatesBytes && len(s.names) > 1 {
		oldest := s.names[0]
		if oldest == name { // it is the one that counts
			s.names = append(s.names[1:], name)
			continue
		}
		s.bytes -= len(s.byName[oldest].state)
		delete(s.byName, oldest)
		s.names = s.names[1:]
	}
	return last, ok
}
