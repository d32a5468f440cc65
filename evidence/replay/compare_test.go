package replay

import (
	"encoding/json"
	"testing"
)

// How long something took is another time in every session; a map may use such a name for a value of its own.
func TestDurationsOfPrimitivesDoNotDiffer(t *testing.T) {
	was, is := json.RawMessage(`{"attempts":[{"reason":"covered","last_ms":205}]}`), json.RawMessage(`{"attempts":[{"reason":"covered","last_ms":203}]}`)
	if list := differences(newIdentities(), true, was, is); len(list) != 0 {
		t.Errorf("of a primitive: %+v", list)
	}
	if list := differences(newIdentities(), false, was, is); len(list) != 1 || list[0].Pointer != "/attempts/0/last_ms" {
		t.Errorf("of a map: %+v", list)
	}
}
