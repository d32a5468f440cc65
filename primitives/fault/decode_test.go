package fault_test

import (
	"encoding/json"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
)

func TestAnErrorIsReadAsItWasWritten(t *testing.T) {
	no := false
	for _, e := range []*fault.Error{
		fault.New(fault.TargetNotFound, "no element").With("locator", "#a").Next("look again"),
		fault.New(fault.Internal, "x").Field("step_id", "find"),
		{Code: "made_up", Message: "of another program", Recoverable: &no},
		{Code: fault.Timeout, Message: "final", Recoverable: &no},
	} {
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var read fault.Error
		if err := json.Unmarshal(want, &read); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(&read)
		if err != nil || string(got) != string(want) {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	var e fault.Error
	if err := json.Unmarshal([]byte(`"text"`), &e); err == nil {
		t.Error("a string was read as an error")
	}
}
