package browser

import "testing"

func TestCutText(t *testing.T) {
	if got := cutText("aéb", 2); got != "a" {
		t.Errorf("got %q", got)
	}
	if got := cutText("abc", 3); got != "abc" {
		t.Errorf("got %q", got)
	}
}
