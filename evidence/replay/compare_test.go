package replay

import (
	"encoding/json"
	"testing"

	"github.com/outrider-run/outrider/evidence/record"
)

// How long something took is another time in every session; a map may use such a name for a value of its own.
func TestDurationsOfPrimitivesDoNotDiffer(t *testing.T) {
	was := json.RawMessage(`{"attempts":[{"reason":"covered","last_ms":205}]}`)
	is := json.RawMessage(`{"attempts":[{"reason":"covered","last_ms":203}]}`)
	if list := differences(newIdentities(), true, was, is); len(list) != 0 {
		t.Errorf("of a primitive: %+v", list)
	}
	if list := differences(newIdentities(), false, was, is); len(list) != 1 ||
		list[0].Pointer != "/attempts/0/last_ms" {
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

// A request that asks nobody, and one that a browser may leave out, is not waited for before each call.
func TestNothingIsWaitedForThatDoesNotCome(t *testing.T) {
	var events []record.Event
	for _, q := range []record.Request{
		{Method: "GET", URL: "data:image/gif;base64,R0lGODlhAQABAAAAACw=", Type: "image"},
		{Method: "GET", URL: "blob:http://shop.test/1", Type: "fetch"},
		{Method: "GET", URL: "http://shop.test/favicon.ico", Type: "other"},
		{Method: "GET", URL: "http://shop.test/", Type: "document"},
	} {
		data, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, record.Event{Kind: record.KindRequest, Data: data})
	}
	n := newNetwork(&record.Recording{Events: events})
	if len(n.arrivals) != 1 || n.arrivals[0].key != "GET http://shop.test/" {
		t.Errorf("it waits for %+v: expected the document alone", n.arrivals)
	}
}
