package files_test

import (
	"strings"
	"testing"

	"github.com/outrider-run/outrider/runtime/browser/files"
)

func TestSafeName(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"report.pdf", "report.pdf"},
		{"../../etc/passwd", "_.._etc_passwd"},
		{`a\b:c`, "a_b_c"},
		{"", "download"},
		{"...", "download"},
		{".bashrc", "bashrc"},
		{"con.txt", "_con.txt"},
		{"a\x00b\n.txt", "ab.txt"},
		{"gpj\u202eexe.png", "gpjexe.png"},
		{strings.Repeat("n", 300) + ".txt", strings.Repeat("n", 146) + ".txt"},
	} {
		if got := files.SafeName(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}
