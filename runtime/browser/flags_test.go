package browser_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/runtime/browser"
)

// A tab costs a page. What the browser shows of itself around it, such as the
// lists of its address bar, is loaded as pages too unless that is disabled.
func TestATabIsOnePage(t *testing.T) {
	tab := browsertest.Tab(t)
	answer, err := tab.Floor(t.Context(), browser.RawCommand{Method: "Target.getTargets", Params: `{"filter":[{}]}`})
	if err != nil {
		t.Fatal(err)
	}
	var targets struct {
		TargetInfos []struct{ Type, URL string }
	}
	if err := json.Unmarshal(answer, &targets); err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, target := range targets.TargetInfos {
		switch {
		case target.Type == "page":
			pages++
		case strings.Contains(target.URL, "omnibox"):
			t.Errorf("the browser loaded a page of its own: %s %s", target.Type, target.URL)
		case strings.HasPrefix(target.URL, "chrome:"):
			t.Logf("the browser loaded a page of its own: %s %s", target.Type, target.URL)
		}
	}
	if pages == 0 {
		t.Errorf("no page among %v", targets.TargetInfos)
	}
}
