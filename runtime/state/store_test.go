package state

import (
	"encoding/json"
	"fmt"
	"testing"
)

// The oldest states give way to a new one, in number and in bytes, and never the new one itself.
func TestLastStatesAreBounded(t *testing.T) {
	var s states
	for i := range maxStates + 10 {
		s.swap(fmt.Sprint(i), lastState{state: json.RawMessage(`{}`)})
	}
	if len(s.names) != maxStates || len(s.byName) != maxStates || s.bytes != 2*maxStates {
		t.Errorf("%d names, %d states, %d bytes", len(s.names), len(s.byName), s.bytes)
	}
	large := make(json.RawMessage, maxBaseline)
	for i := range 40 {
		s.swap(fmt.Sprint("large ", i%20), lastState{state: large})
	}
	if s.bytes > maxStatesBytes || len(s.names) != maxStatesBytes/maxBaseline || len(s.byName) != len(s.names) {
		t.Errorf("%d bytes in %d names, %d states", s.bytes, len(s.names), len(s.byName))
	}
	if _, ok := s.swap("large 19", lastState{}); !ok {
		t.Error("the newest state is not there")
	}
}
