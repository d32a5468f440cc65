package keys

import (
	"github.com/outrider-run/outrider/primitives"
)

// Shortcut is a key with the modifiers held, as a document sees it.
type Shortcut struct {
	Key     string `json:"key"` // KeyboardEvent.key
	Code    string `json:"code"`
	Control bool   `json:"control"`
	Alt     bool   `json:"alt"`
	Shift   bool   `json:"shift"`
	Meta    bool   `json:"meta"`
}

// ParseShortcut reads a chord such as Control+Shift+K, as keyboard.press takes
// it, but for letters: people write them in capitals without meaning Shift.
func ParseShortcut(text string) (Shortcut, error) {
	c, err := ParseChord(text, nil)
	if err != nil {
		return Shortcut{}, err
	}
	held := func(bit primitives.Modifiers) bool { return c.Mask&bit != 0 }
	s := Shortcut{
		Key:     c.Hit.def.Key,
		Code:    c.Hit.def.Code,
		Control: held(primitives.ModControl),
		Alt:     held(primitives.ModAlt),
		Shift:   held(primitives.ModShift),
		Meta:    held(primitives.ModMeta),
	}
	letter := len(s.Key) == 1 && s.Key[0] >= 'a' && s.Key[0] <= 'z'
	if c.Hit.shift && !letter {
		s.Key, s.Shift = c.Hit.def.Shifted, true
	}
	return s, nil
}
