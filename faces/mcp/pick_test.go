package mcp_test

import (
	"strings"
	"testing"
)

const twoLists = `<ul role="listbox" aria-label="Recipients">
<li role="option" tabindex="0" onclick="other.textContent='picked'">Rome</li><li role="option">Paris</li></ul><p id="other">none</p>
<input id="closed" aria-label="City" readonly aria-haspopup="listbox">
<input id="owner" aria-label="Port" readonly aria-controls="ports" onclick="ports.hidden=false">
<ul role="listbox" id="ports" hidden><li role="option" onclick="owner.value='Rome';ports.hidden=true">Rome</li></ul>
<input id="opens" aria-label="Berth" readonly onclick="berths.hidden=false">
<div id="berths" hidden><div role="option" onclick="opens.value='Rome';berths.hidden=true">Rome</div></div>
<input id="plain" aria-label="Plain" readonly onclick="words.hidden=false">
<div id="words" hidden><div onclick="plain.value='Rome';words.hidden=true">Rome</div></div>
<input id="shut" aria-label="Shut" readonly aria-controls="shutlist"><ul role="listbox" id="shutlist" hidden><li role="option">Rome</li></ul>`

// An option is clicked only in the list of the control that is named. Another list with the same word is left alone.
func TestAnOptionOfAnotherListIsNotChosen(t *testing.T) {
	t.Parallel()
	cs := client(t, open(t, serve(t, twoLists)), nil, nil)
	for _, label := range []string{"City", "Shut"} {
		r := attempt(t, cs, "act", `{"action":"select","locator":{"label":"`+label+`"},"options":["Rome"]}`)
		if got := code(r); got != "target_not_found" {
			t.Errorf("%s opens nothing: got %q", label, got)
		}
	}
	for _, label := range []string{"Port", "Berth", "Plain"} {
		use(t, cs, "act", `{"action":"select","locator":{"label":"`+label+`"},"options":["Rome"]}`)
	}
	_, outline := use(t, cs, "snapshot", `{}`)
	if strings.Contains(outline, "picked") {
		t.Errorf("an option of another list was clicked:\n%s", outline)
	}
	for _, want := range []string{"Port", "Berth", "Plain"} {
		line := ""
		for _, l := range strings.Split(outline, "\n") {
			if strings.Contains(l, want) {
				line = l
			}
		}
		if !strings.Contains(line, "Rome") {
			t.Errorf("%s does not hold what was chosen: %q in\n%s", want, line, outline)
		}
	}
}
