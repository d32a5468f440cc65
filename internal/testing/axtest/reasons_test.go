package axtest_test

import (
	"os"
	"testing"

	"github.com/outrider-run/outrider/internal/testing/axtest"
)

const namesPage = "../../../docs/reference/accessible-names.md"

func TestNamesPageIsCurrent(t *testing.T) {
	want := axtest.Page()
	if os.Getenv("OUTRIDER_GENERATE") == "1" {
		if err := os.WriteFile(namesPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(namesPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("%s is not what the reasons say: run make generate", namesPage)
	}
}

// What is not listed is not explained by an expression that is too wide.
func TestAnUnknownDifferenceIsNotExplained(t *testing.T) {
	for _, difference := range []string{
		`button#go (button): name is "", the browser says "Go"`,
		`button#go (button): name is "Go", the browser says "Leave"`,
		`div#x (button): role is "generic", the browser says "button"`,
		`input#x (checkbox): checked is "false", the browser says "true"`,
		`a#x (link): expanded is "true", the browser says "false"`,
		`input#x (textbox): required is "", the browser says "true"`,
		`table#x (table): role is "generic", the browser says "table"`,
		`li#x (listitem): role is "generic", the browser says "listitem"`,
		`App: a#h2 (link): name is "see", the browser says ""`,
	} {
		if axtest.Explained(difference) {
			t.Errorf("explained: %s", difference)
		}
	}
	if !axtest.Explained(`Home: button#go (button): name is "Go", the browser says "GO"`) {
		t.Error("capitals are explained")
	}
}
