package primitives

import (
	"context"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// modifierBits maps the accepted names, in lower case, to the bits of the
// protocol.
var modifierBits = map[string]Modifiers{
	"shift": ModShift,
	"alt":   ModAlt, "option": ModAlt,
	"control": ModControl, "ctrl": ModControl,
	"meta": ModMeta, "cmd": ModMeta, "command": ModMeta,
}

// modifierNames lists the accepted names for error evidence.
var modifierNames = []string{"Shift", "Alt", "Option", "Control", "Ctrl", "Meta", "Cmd", "Command"}

// parseModifiers resolves modifier names. It returns them in lower case and in
// the order given, each once.
func parseModifiers(names []string) ([]string, Modifiers, error) {
	out := []string{}
	var mask Modifiers
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

// holdOrder is the order in which modifier keys go down; they come up in the
// reverse one.
var holdOrder = []struct {
	bit Modifiers
	key string
}{{ModControl, "Control"}, {ModAlt, "Alt"}, {ModMeta, "Meta"}, {ModShift, "Shift"}}

// holdModifiers returns the events that press the modifiers of mask as real
// keys, and those that release them. A chord that only carries the modifier bit
// reaches the page, but editors that track held keys ignore it. Each event
// carries the bits held after it, as a keyboard's does.
func holdModifiers(mask Modifiers) (down, up []KeyEvent) {
	var held Modifiers
	for _, m := range holdOrder {
		if mask&m.bit == 0 {
			continue
		}
		def := keyIndex.exact[m.key].def
		before := held
		held |= m.bit
		ev := KeyEvent{Type: RawKeyDown, Key: def.Key, Code: def.Code, KeyCode: def.KeyCode, Location: def.Location, Modifiers: held}
		down = append(down, ev)
		ev.Type, ev.Modifiers = KeyUp, before
		up = append([]KeyEvent{ev}, up...)
	}
	return down, up
}

// releaseBound is how long releasing modifiers after a failure may take. The
// caller's context may be over by then, and a key that stays down changes the
// meaning of every later call.
const releaseBound = 2 * time.Second

// releaseKeys sends up although ctx may be over. Its error is dropped: it
// follows an error that is reported.
func releaseKeys(ctx context.Context, p Page, up []KeyEvent) {
	if len(up) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseBound)
	defer cancel()
	_ = p.Keys(ctx, up...)
}
