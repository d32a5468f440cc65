package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
)

func TestClipboardOfTheBrowser(t *testing.T) {
	b := browsertest.Browser(t)
	ctx := within(t, 30*time.Second)
	browsertest.Tab(t)
	tabs := len(b.Tabs())
	targets, err := b.Targets(ctx)
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 8<<20+1)
	for _, c := range []struct{ text, html, wantText, wantHTML string }{
		{"plain", "", "plain", ""},
		{"both", "<b>both</b>", "both", "<b>both</b>"},
		{"", "<i>alone</i>", "", "<i>alone</i>"},
		{"ä 漢 😀\n\ttab \"quoted\" \u2028", "", "ä 漢 😀\n\ttab \"quoted\" \u2028", ""},
		{large, "", "", ""},
		{"again", "", "again", ""},
		{"", "", "", ""},
		{"", "", "", ""},
	} {
		if err := b.Clipboard().Write(ctx, c.text, c.html); err != nil {
			t.Fatalf("writing %.40q: %v", c.text, err)
		}
		text, html, err := b.Clipboard().Read(ctx)
		if err != nil || text != c.wantText || html != c.wantHTML {
			t.Errorf("writing %.40q and %.40q: read %.40q and %.40q, %v", c.text, c.html, text, html, err)
		}
	}
	if err := b.Clipboard().Write(ctx, "kept", ""); err != nil {
		t.Fatal(err)
	}
	if err := b.LoseClipboard(ctx); err != nil {
		t.Fatal(err)
	}
	if text, _, err := b.Clipboard().Read(ctx); err != nil || text != "kept" {
		t.Errorf("after its document was closed: read %q, %v", text, err)
	}
	b.Clipboard().Rest()
	if err := b.LoseClipboard(ctx); err == nil {
		t.Error("the document is still there while nobody uses it")
	}
	// Chromium crashes a minute after a context has ended that a hidden document is still in.
	eventually(t, 5*time.Second, "the hidden document has been closed", func() bool {
		n, err := b.Targets(ctx)
		return err == nil && n == targets
	})
	if text, _, err := b.Clipboard().Read(ctx); err != nil || text != "kept" {
		t.Errorf("after its document was unused: read %q, %v", text, err)
	}
	if n := len(b.Tabs()); n != tabs {
		t.Errorf("the browser lists %d tabs, had %d", n, tabs)
	}
}
