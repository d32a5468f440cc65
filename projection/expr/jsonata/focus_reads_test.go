package jsonata

import (
	"context"
	"testing"
)

// A focus leaves the context where it was, and a sort does not change that:
// what follows may still see the whole input. Found by the differential test.
func TestSortedFocusReadsTheWholeInput(t *testing.T) {
	p, err := Compile(`([1..2])@$v^(>gone).{"v": $}`)
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Eval(context.Background(), JSONInput([]byte(`{"a":1}`)), Limits{})
	if want := `[{"v":{"a":1}},{"v":{"a":1}}]`; err != nil || string(res.JSON) != want {
		t.Errorf("got %s, %v; want %s", res.JSON, err, want)
	}
}
