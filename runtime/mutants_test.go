package runtime_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// TestProofsOnlyRead: a call that changes the page for a proof and undoes that may not act on what it has changed.
func TestProofsOnlyRead(t *testing.T) {
	h := open(t, runtime.Options{Open: []string{"about:blank"}})
	r := h.Do(t.Context(), runtime.Call{
		ID:        newID(),
		Target:    first(t, h),
		Name:      "pointer.click",
		Arguments: json.RawMessage(`{"x":5,"y":5}`),
		Timeout:   10 * time.Second,
		Mutant:    "m1",
	})
	if fault.CodeOf(r.Err) != fault.PermissionDenied {
		t.Errorf("an act of a proof: %v", r.Err)
	}
}
