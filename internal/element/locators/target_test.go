package locators_test

import (
	"slices"
	"testing"

	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		selector, at string
		want         []string
	}{
		{"a, b", ",", []string{"a", " b"}},
		{`[title="a, b"], c`, ",", []string{`[title="a, b"]`, " c"}},
		{":is(a, b) > c", " >+~", []string{":is(a, b)", "", "", "c"}},
		{`[title="say \"a > b\""] c`, " >", []string{`[title="say \"a > b\""]`, "c"}},
		{`#a\,b, c`, ",", []string{`#a\,b`, " c"}},
		{"", ",", []string{""}},
	} {
		if got := locators.Split(c.selector, c.at); !slices.Equal(got, c.want) {
			t.Errorf("%s at %q: got %q, want %q", c.selector, c.at, got, c.want)
		}
	}
}

func TestKindOf(t *testing.T) {
	for selector, want := range map[string]locators.Kind{
		`[data-testid="a b"]`:        locators.TestID,
		`form > [data-qa="x"]`:       locators.TestID,
		"#order > li:nth-of-type(2)": locators.Structure,
		`form > input[name="a > b"]`: locators.Attributes,
		"form button":                locators.Structure,
	} {
		if got := locators.KindOf(selector); got != want {
			t.Errorf("%s: got %s, want %s", selector, got, want)
		}
	}
}

// The picture of an icon font is no name.
func TestPicturesNameNothing(t *testing.T) {
	icon := likeness.Seen{
		Tag:        "button",
		Role:       "button",
		Name:       "\uf104",
		Text:       "\uf104",
		Attributes: map[string]string{"id": "toggle"},
		Nth:        1,
		Siblings:   1,
	}
	for _, l := range locators.Ranked(icon) {
		if l.Kind == locators.RoleName || l.Kind == locators.Text {
			t.Errorf("it is named by its picture: %s", l)
		}
	}
	icon.Name = "\uf104 Fold"
	if got := locators.Ranked(icon)[0]; got.Kind != locators.RoleName {
		t.Errorf("a picture beside a word: got %s first", got)
	}
}
