package checkcache

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestTextsAreRememberedByContent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache", "checked")
	first := Open(file, "program 1")
	if first.Has("native", []byte("a")) {
		t.Error("an empty memory has a text")
	}
	first.Add("native", []byte("a"))
	if err := first.Save(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		program, how, text string
		want               bool
	}{
		{"program 1", "native", "a", true},
		{"program 1", "native", "b", false},
		{"program 1", "blues", "a", false},
		{"program 1", "nativea", "", false},
		{"program 2", "native", "a", false},
	} {
		if got := Open(file, c.program).Has(c.how, []byte(c.text)); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
	var none *Texts
	none.Add("native", []byte("a"))
	if none.Has("native", []byte("a")) || none.Save() != nil {
		t.Error("no memory remembers")
	}
}

// A file that somebody broke is replaced, one of another program too, and no file is left behind.
func TestABrokenFileRemembersNothing(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "checked")
	for _, content := range []string{"", "short", string(make([]byte, 48)), string(make([]byte, 49))} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		texts := Open(file, "program")
		if len(texts.known) != 0 {
			t.Errorf("%d texts of %q", len(texts.known), content)
		}
		texts.Add("native", []byte("a"))
		if err := texts.Save(); err != nil || !Open(file, "program").Has("native", []byte("a")) {
			t.Errorf("%q was not replaced: %v", content, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "no folder"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	texts := Open(filepath.Join(dir, "no folder", "checked"), "program")
	texts.Add("native", nil)
	if texts.Save() == nil {
		t.Error("saving where no folder can be is no error")
	}
}

// What this process has not met goes first when there is too much.
func TestTheMemoryIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "checked")
	texts := Open(file, "program")
	for i := range most {
		texts.Add("native", fmt.Append(nil, i))
	}
	if err := texts.Save(); err != nil {
		t.Fatal(err)
	}
	texts = Open(file, "program")
	if !texts.Has("native", []byte("7")) {
		t.Fatal("a text is not remembered")
	}
	texts.Add("native", []byte("new"))
	if err := texts.Save(); err != nil {
		t.Fatal(err)
	}
	texts = Open(file, "program")
	if len(texts.known) != 2 || !texts.Has("native", []byte("7")) || !texts.Has("native", []byte("new")) {
		t.Errorf("%d texts are remembered, want the two that were met", len(texts.known))
	}
}
