package clipboard

import (
	"testing"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/keys"
)

func TestMeaningOfKeys(t *testing.T) {
	for chord, want := range map[string]use{
		"Control+c":       copies,
		"Control+C":       copies,
		"Meta+c":          copies,
		"Control+x":       copies,
		"Control+Insert":  copies,
		"Shift+Delete":    copies,
		"Control+v":       pastes,
		"Meta+v":          pastes,
		"Control+Shift+V": pastes,
		"Shift+Insert":    pastes,
		"c":               nothing,
		"v":               nothing,
		"Shift+v":         nothing,
		"Alt+v":           nothing,
		"Control+Alt+v":   nothing,
		"Insert":          nothing,
		"Delete":          nothing,
		"Control+a":       nothing,
		"Control+Delete":  nothing,
		"Control":         nothing,
		"Control+Enter":   nothing,
	} {
		c, err := keys.ParseChord(chord, nil)
		if err != nil {
			t.Fatal(err)
		}
		down, up := keys.PressModifiers(c.Mask)
		keyDown, keyUp := c.Hit.Events(c.Mask)
		if got := meaning(append(append(down, keyDown, keyUp), up...)); got != want {
			t.Errorf("%s: got %d, want %d", chord, got, want)
		}
		if got := meaning([]primitives.KeyEvent{keyUp}); got != nothing {
			t.Errorf("releasing %s: got %d", chord, got)
		}
	}
}
