package keys

import (
	"context"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// modifierBits maps the accepted names, in lower case, to the bits of the
// protocol.
var modifierBits = map[string]primitives.Modifiers{
	"shift": primitives.ModShift,
	"alt":   primitives.ModAlt, "option": primitives.ModAlt,
	"control": primitives.ModControl, "ctrl": primitives.ModControl,
	"meta": primitives.ModMeta, "cmd": primitives.ModMeta, "command": primitives.ModMeta,
}

// modifierNames lists the accepted names for error evidence.
var modifierNames = []string{"Shift", "Alt", "Option", "Control", "Ctrl", "Meta", "Cmd", "Command"}

// ParseModifiers resolves modifier names. It returns them in lower case and in
// the order given, each once.
func ParseModifiers(names []string) ([]string, primitives.Modifiers, error) {
	out := []string{}
	var mask primitives.Modifiers
	seen := map[string]bool{}
	for _, n := range names {
		low := strings.ToLower(strings.TrimSpace(n))
		bit, ok := modifierBits[low]
		if !ok {
			return nil, 0, fault.New(fault.InvalidInput, "no modifier has this name").
				With("modifier", n).With("modifiers", names).With("known_modifiers", modifierNames)
		}
		mask |= bit
		if !seen[low] {
			seen[low] = true
			out = append(out, low)
		}
	}
	return out, mask, nil
}

// modifierOrder is the order in which modifier keys go down; they come up in the
// reverse one.
var modifierOrder = []struct {
	bit primitives.Modifiers
	key string
}{
	{primitives.ModControl, "Control"},
	{primitives.ModAlt, "Alt"},
	{primitives.ModMeta, "Meta"},
	{primitives.ModShift, "Shift"},
}

// PressModifiers returns the events that press the modifiers of mask as real
// keys, and those that release them. A chord that only carries the modifier bit
// reaches the page, but editors that track held keys ignore it. Each event
// carries the bits held after it, as a keyboard's does.
func PressModifiers(mask primitives.Modifiers) (down, up []primitives.KeyEvent) {
	var held primitives.Modifiers
	for _, m := range modifierOrder {
		if mask&m.bit == 0 {
			continue
		}
		def := keyIndex().exact[m.key].def
		before := held
		held |= m.bit
		ev := primitives.KeyEvent{
			Type:      primitives.RawKeyDown,
			Key:       def.Key,
			Code:      def.Code,
			KeyCode:   def.KeyCode,
			Location:  def.Location,
			Modifiers: held,
		}
		down = append(down, ev)
		ev.Type, ev.Modifiers = primitives.KeyUp, before
		up = append([]primitives.KeyEvent{ev}, up...)
	}
	return down, up
}

// ReleaseBound is how long releasing modifiers after a failure may take. The
// caller's context may be over by then, and a key that stays down changes the
// meaning of every later call.
const ReleaseBound = 2 * time.Second

// ReleaseKeys sends up although ctx may be over. Its error is dropped: it
// follows an error that is reported.
func ReleaseKeys(ctx context.Context, p primitives.Page, up []primitives.KeyEvent) {
	if len(up) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ReleaseBound)
	defer cancel()
	_ = p.Keys(ctx, up...)
}
