package replay

import (
	"encoding/json"
	"testing"

	"github.com/outrider-run/outrider/evidence/record"
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

// A tab of run --open begins empty: the pages of the smallest case are those of the address that a call loads.
func TestTheSmallestCaseBeginsAtThePage(t *testing.T) {
	l := &Log{Open: "about:blank", Recording: &record.Recording{Events: []record.Event{
		{Kind: record.KindConsole, Data: json.RawMessage(`{}`)},
		{Kind: record.KindRequest, Data: json.RawMessage(`{"type":"document","url":"http://shop.test/a?b=1"}`)},
	}}}
	if got := beginning(l); got != "http://shop.test/a?b=1" {
		t.Errorf("got %s", got)
	}
}
