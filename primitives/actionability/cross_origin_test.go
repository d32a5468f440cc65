package actionability

import (
	"testing"

	"github.com/outrider-run/outrider/primitives"
)

func TestCrossOrigin(t *testing.T) {
	frames := []primitives.FrameInfo{
		{ID: "main", URL: "https://a.test/page"},
		{ID: "same", Parent: "main", URL: "https://a.test/frame"},
		{ID: "srcdoc", Parent: "same", URL: "about:srcdoc"},
		{ID: "blob", Parent: "main", URL: "blob:https://a.test/1"},
		{ID: "other", Parent: "main", URL: "https://b.test/", Remote: true},
		{ID: "blank in other", Parent: "other", URL: "about:blank"},
		{ID: "back", Parent: "other", URL: "https://a.test/again", Remote: true},
		{ID: "sandboxed srcdoc", Parent: "main", URL: "about:srcdoc", Remote: true},
		{ID: "sandboxed", Parent: "main", URL: "https://a.test/frame", Remote: true},
		{ID: "in sandboxed", Parent: "sandboxed srcdoc", URL: "about:srcdoc"},
		{ID: "other port", Parent: "main", URL: "https://a.test:8443/"},
	}
	want := map[primitives.FrameID]bool{
		"main": false, "same": false, "srcdoc": false, "blob": false, "back": false,
		"other": true, "blank in other": true, "sandboxed srcdoc": true,
		"sandboxed": true, "in sandboxed": true, "other port": true,
	}
	for _, f := range frames {
		if got := crossOrigin(frames, f.ID); got != want[f.ID] {
			t.Errorf("%s at %s: got %t", f.ID, f.URL, got)
		}
	}
}
