package lock_test

import (
	"bytes"
	"testing"

	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/lock"
	"github.com/outrider-run/outrider/primitives/descriptor"
)

func TestTheFileIsStable(t *testing.T) {
	entry := func(selector, tag string) lock.Entry {
		return lock.Entry{
			Target:  descriptor.Descriptor{Selector: []string{selector}, Explain: selector == "#b"},
			Element: likeness.Element{Tag: tag},
		}
	}
	var one, two lock.File
	one.Merge([]lock.Entry{entry("#b", "p"), entry("#a", "i")})
	two.Merge([]lock.Entry{entry("#a", "p")})
	two.Merge([]lock.Entry{entry("#a", "i"), entry("#b", "p")})
	x, err := one.Encode()
	if err != nil {
		t.Fatal(err)
	}
	y, err := two.Encode()
	if err != nil || !bytes.Equal(x, y) {
		t.Errorf("the order of what was seen shows:\n%s\n%s\n%v", x, y, err)
	}
	back, err := lock.Parse(x, "actions.lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := back.Find(descriptor.Descriptor{Selector: []string{"#a"}, Explain: true}); !ok || e.Tag != "i" {
		t.Errorf("#a: got %+v, %v", e, ok)
	}
	for _, bad := range []string{`{"version":2}`, `[]`, ``} {
		if _, err := lock.Parse([]byte(bad), "x"); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if got := lock.PathOf("sites/shop/actions.json"); got != "sites/shop/actions.lock.json" {
		t.Error(got)
	}
}
