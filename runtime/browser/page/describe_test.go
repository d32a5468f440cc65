package page_test

import (
	"testing"

	"github.com/outrider-run/outrider/runtime/browser/page"
)

// A document reports its title sooner than the browser does. Who follows the events has to
// hear of it: the browser has nothing new to say afterwards. Issue 15.
func TestWhatADocumentSaysOfItselfIsAChange(t *testing.T) {
	changes, tab := page.Describe("http://a.example/", "A")
	if changes != 1 || tab.Title != "A" {
		t.Errorf("the title became %q with %d changes, want A and one", tab.Title, changes)
	}
	changes, tab = page.Describe("http://a.example/", "")
	if changes != 0 || tab.Title != "browser title" {
		t.Errorf(
			"a document without a title: %q with %d changes, want the browser's title and none", tab.Title, changes,
		)
	}
}
