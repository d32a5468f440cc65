package page

import "testing"

// A page that took too long to read is not reported as read.
func TestAnExtractThatWasStoppedSaysSo(t *testing.T) {
	in := pageExtractIn{}
	if shown, cut := in.cut(&pageText{text: "so far", stopped: true}); shown != "so far" || cut == nil ||
		cut.Left < 1 || cut.Next == "" {
		t.Errorf("got %q, %+v", shown, cut)
	}
	if shown, cut := in.cut(&pageText{text: "all"}); shown != "all" || cut != nil {
		t.Errorf("got %q, %+v", shown, cut)
	}
}
