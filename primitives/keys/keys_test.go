package keys

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

func TestKeyTableHasEveryKeyOfTheKeyboard(t *testing.T) {
	for _, c := range []struct {
		name, key, code string
		keyCode, loc    int
		text            string
	}{
		{"a", "a", "KeyA", 65, 0, "a"},
		{"A", "A", "KeyA", 65, 0, "A"},
		{"z", "z", "KeyZ", 90, 0, "z"},
		{"0", "0", "Digit0", 48, 0, "0"},
		{"1", "1", "Digit1", 49, 0, "1"},
		{"!", "!", "Digit1", 49, 0, "!"},
		{")", ")", "Digit0", 48, 0, ")"},
		{"'", "'", "Quote", 222, 0, "'"},
		{`"`, `"`, "Quote", 222, 0, `"`},
		{".", ".", "Period", 190, 0, "."},
		{">", ">", "Period", 190, 0, ">"},
		{`\`, `\`, "Backslash", 220, 0, `\`},
		{"|", "|", "Backslash", 220, 0, "|"},
		{"~", "~", "Backquote", 192, 0, "~"},
		{"+", "+", "Equal", 187, 0, "+"},
		{"=", "=", "Equal", 187, 0, "="},
		{"_", "_", "Minus", 189, 0, "_"},
		{" ", " ", "Space", 32, 0, " "},
		{"Space", " ", "Space", 32, 0, " "},
		{"Enter", "Enter", "Enter", 13, 0, "\r"},
		{"\n", "Enter", "Enter", 13, 0, "\r"},
		{"NumpadEnter", "Enter", "NumpadEnter", 13, 3, "\r"},
		{"Tab", "Tab", "Tab", 9, 0, ""},
		{"\t", "Tab", "Tab", 9, 0, ""},
		{"Escape", "Escape", "Escape", 27, 0, ""},
		{"esc", "Escape", "Escape", 27, 0, ""},
		{"Backspace", "Backspace", "Backspace", 8, 0, ""},
		{"Delete", "Delete", "Delete", 46, 0, ""},
		{"Insert", "Insert", "Insert", 45, 0, ""},
		{"PageUp", "PageUp", "PageUp", 33, 0, ""},
		{"PageDown", "PageDown", "PageDown", 34, 0, ""},
		{"Home", "Home", "Home", 36, 0, ""},
		{"End", "End", "End", 35, 0, ""},
		{"ArrowLeft", "ArrowLeft", "ArrowLeft", 37, 0, ""},
		{"ArrowUp", "ArrowUp", "ArrowUp", 38, 0, ""},
		{"ArrowRight", "ArrowRight", "ArrowRight", 39, 0, ""},
		{"ArrowDown", "ArrowDown", "ArrowDown", 40, 0, ""},
		{"arrowdown", "ArrowDown", "ArrowDown", 40, 0, ""},
		{"F1", "F1", "F1", 112, 0, ""},
		{"F12", "F12", "F12", 123, 0, ""},
		{"F24", "F24", "F24", 135, 0, ""},
		{"f5", "F5", "F5", 116, 0, ""},
		{"CapsLock", "CapsLock", "CapsLock", 20, 0, ""},
		{"NumLock", "NumLock", "NumLock", 144, 0, ""},
		{"Pause", "Pause", "Pause", 19, 0, ""},
		{"Shift", "Shift", "ShiftLeft", 16, 1, ""},
		{"ShiftRight", "Shift", "ShiftRight", 16, 2, ""},
		{"Control", "Control", "ControlLeft", 17, 1, ""},
		{"Alt", "Alt", "AltLeft", 18, 1, ""},
		{"Meta", "Meta", "MetaLeft", 91, 1, ""},
		{"AltGraph", "AltGraph", "AltRight", 225, 2, ""},
		{"Numpad0", "0", "Numpad0", 96, 3, "0"},
		{"Numpad9", "9", "Numpad9", 105, 3, "9"},
		{"NumpadAdd", "+", "NumpadAdd", 107, 3, "+"},
		{"NumpadDecimal", ".", "NumpadDecimal", 110, 3, "."},
		{"NumpadDivide", "/", "NumpadDivide", 111, 3, "/"},
		{"Clear", "Clear", "NumpadClear", 12, 3, ""},
		{"MediaPlayPause", "MediaPlayPause", "MediaPlayPause", 179, 0, ""},
		{"AudioVolumeUp", "AudioVolumeUp", "AudioVolumeUp", 175, 0, ""},
		{"BrowserBack", "BrowserBack", "BrowserBack", 166, 0, ""},
		{"ContextMenu", "ContextMenu", "ContextMenu", 93, 0, ""},
		{"KeyQ", "q", "KeyQ", 81, 0, "q"},
		{"Digit7", "7", "Digit7", 55, 0, "7"},
		{"keyq", "q", "KeyQ", 81, 0, "q"},
		{"é", "é", "", 0, 0, "é"},
		{"漢", "漢", "", 0, 0, "漢"},
		{"😀", "😀", "", 0, 0, "😀"},
	} {
		h, ok := Find(c.name)
		if !ok {
			t.Errorf("findKey(%q): not found", c.name)
			continue
		}
		down, up := h.Events(0)
		if down.Key != c.key || down.Code != c.code || down.KeyCode != c.keyCode || down.Location != c.loc ||
			down.Text != c.text {
			t.Errorf(
				"findKey(%q): got %+v, want key %q code %q keyCode %d location %d text %q",
				c.name, down, c.key, c.code, c.keyCode, c.loc, c.text,
			)
		}
		if (down.Type == primitives.KeyDown) != (c.text != "") || up.Type != primitives.KeyUp || up.Text != "" ||
			up.Key != c.key {
			t.Errorf("findKey(%q): down %s, up %+v", c.name, down.Type, up)
		}
	}
}

func TestEveryPrintableASCIICharacterHasItsKey(t *testing.T) {
	for c := byte(' '); c < 0x7f; c++ {
		h, ok := Find(string(c))
		if !ok {
			t.Fatalf("%q: no key", c)
		}
		down, _ := h.Events(0)
		if down.Text != string(c) || down.Key != string(c) || down.Code == "" || down.KeyCode == 0 ||
			down.Location != 0 {
			t.Errorf("%q: got %+v, want itself with code and key code of the main block", c, down)
		}
	}
}

func TestKeyTableIsConsistent(t *testing.T) {
	codes := map[string]bool{}
	for _, k := range keyTable {
		if k.Key == "" || k.Code == "" {
			t.Errorf("incomplete entry %+v", k)
		}
		if codes[k.Code] && k.Code != "AltRight" { // Alt on the right, or AltGraph
			t.Errorf("code %s occurs twice", k.Code)
		}
		codes[k.Code] = true
		if h, ok := Find(k.Code); !ok || h.def.Code != k.Code {
			t.Errorf("findKey(%q) does not find its key", k.Code)
		}
		if (k.ShiftText != "") && k.ShiftText != k.Shifted {
			t.Errorf("%s: shifted text %q and key %q differ", k.Code, k.ShiftText, k.Shifted)
		}
	}
	for alias, name := range keyAliases {
		if _, ok := keyIndex().exact[name]; !ok {
			t.Errorf("alias %q names no key: %q", alias, name)
		}
		if alias != strings.ToLower(alias) {
			t.Errorf("alias %q is not in lower case", alias)
		}
	}
	if n := len(keyTable); n < 150 {
		t.Errorf("the table has %d keys", n)
	}
}

func TestPressUnderModifiers(t *testing.T) {
	for _, c := range []struct {
		name string
		key  string
		mods primitives.Modifiers
		want string
		text string
	}{
		{"shift makes upper case", "a", primitives.ModShift, "A", "A"},
		{"shift on a digit", "1", primitives.ModShift, "!", "!"},
		{"shift on a named key keeps text", "Enter", primitives.ModShift, "Enter", "\r"},
		{"control sends no text", "a", primitives.ModControl, "a", ""},
		{"control with upper case names the key", "A", primitives.ModControl, "a", ""},
		{"control and shift", "A", primitives.ModControl | primitives.ModShift, "A", ""},
		{"control plus", "+", primitives.ModControl, "+", ""},
		{"control enter", "Enter", primitives.ModControl, "Enter", ""},
		{"meta", "k", primitives.ModMeta, "k", ""},
		{"alt", "F4", primitives.ModAlt, "F4", ""},
		{"numpad under shift", "Numpad7", primitives.ModShift, "Home", ""},
		{"foreign letter under shift", "é", primitives.ModShift, "É", "É"},
		{"sharp s has no upper case of one character", "ß", primitives.ModShift, "ß", "ß"},
	} {
		h, ok := Find(c.key)
		if !ok {
			t.Fatalf("%s: no key %q", c.name, c.key)
		}
		down, up := h.Events(c.mods)
		if down.Key != c.want || down.Text != c.text || down.Modifiers != c.mods || up.Key != c.want {
			t.Errorf("%s: press(%q, %d) = %+v, want key %q text %q", c.name, c.key, c.mods, down, c.want, c.text)
		}
	}
}

func TestParseChord(t *testing.T) {
	for _, c := range []struct {
		in   string
		more []string
		key  string
		mods []string
		mask primitives.Modifiers
	}{
		{"a", nil, "a", []string{}, 0},
		{"+", nil, "+", []string{}, 0},
		{"Control++", nil, "+", []string{"control"}, primitives.ModControl},
		{"Shift+Control++", nil, "+", []string{"shift", "control"}, primitives.ModShift | primitives.ModControl},
		{"Meta+A", nil, "A", []string{"meta"}, primitives.ModMeta},
		{"cmd+option+K", nil, "K", []string{"cmd", "option"}, primitives.ModMeta | primitives.ModAlt},
		{"Control + Enter", nil, "Enter", []string{"control"}, primitives.ModControl},
		{"Control+ ", nil, " ", []string{"control"}, primitives.ModControl},
		{"Shift+Enter", []string{"Alt"}, "Enter", []string{"alt", "shift"}, primitives.ModAlt | primitives.ModShift},
		{"Shift+Enter", []string{"SHIFT"}, "Enter", []string{"shift"}, primitives.ModShift},
		{"Shift", nil, "Shift", []string{}, 0},
		{"Control+Shift", nil, "Shift", []string{"control"}, primitives.ModControl},
		{"-", []string{"Ctrl"}, "-", []string{"ctrl"}, primitives.ModControl},
	} {
		got, err := ParseChord(c.in, c.more)
		if err != nil {
			t.Errorf("parseChord(%q, %q): %v", c.in, c.more, err)
			continue
		}
		if got.Name != c.key || !slices.Equal(got.Modifiers, c.mods) || got.Mask != c.mask {
			t.Errorf(
				"parseChord(%q, %q) = %q %q %d, want %q %q %d",
				c.in, c.more, got.Name, got.Modifiers, got.Mask, c.key, c.mods, c.mask,
			)
		}
	}
}

func TestParseChordRefuses(t *testing.T) {
	for _, c := range []struct{ in, nearest string }{
		{"", ""},
		{"Entre", "Enter"},
		{"ArowDown", "ArrowDown"},
		{"PageDwn", "PageDown"},
		{"Foo+a", ""},
		{"a+b", ""},
		{"++", ""},
		{"F25", "F2"},
		{"\x01", ""},
		{"\x00", ""},
		{strings.Repeat("x", 4000), ""},
		{"hello world", ""},
		{"👨‍👩‍👧", ""},
		{"\xff", ""},
	} {
		_, err := ParseChord(c.in, nil)
		if !errors.Is(err, fault.InvalidKey) {
			t.Errorf("parseChord(%.20q): got %v, want invalid_key", c.in, err)
			continue
		}
		near, _ := fault.From(err).Evidence["nearest"].(string)
		if near != c.nearest && !(c.in == "F25" && strings.HasPrefix(near, "F")) {
			t.Errorf("parseChord(%.20q): nearest %q, want %q", c.in, near, c.nearest)
		}
	}
}

func FuzzParseChord(f *testing.F) {
	for _, s := range []string{
		"a", "+", "Control++", "Meta+Shift+A", "++", "+a", "a+", "Control + ", "漢", "\xff+a", "Shift+\n", "F24", "esc",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseChord(s, nil)
		if err != nil {
			if !errors.Is(err, fault.InvalidKey) {
				t.Fatalf("parseChord(%q): %v", s, err)
			}
			return
		}
		down, up := c.Hit.Events(c.Mask)
		if down.Key == "" || up.Key != down.Key || up.Type != primitives.KeyUp {
			t.Fatalf("parseChord(%q): events %+v %+v", s, down, up)
		}
		if down.Text != "" && !utf8.ValidString(down.Text) {
			t.Fatalf("parseChord(%q): text is not UTF-8", s)
		}
		if c.Mask&^primitives.ModShift != 0 && down.Text != "" {
			t.Fatalf("parseChord(%q): text beside a command modifier", s)
		}
		held, released := PressModifiers(c.Mask)
		if len(held) != len(released) ||
			len(held) > 0 && (held[len(held)-1].Modifiers != c.Mask || released[len(released)-1].Modifiers != 0) {
			t.Fatalf("parseChord(%q): modifiers %+v then %+v", s, held, released)
		}
	})
}

func TestHoldModifiers(t *testing.T) {
	down, up := PressModifiers(primitives.ModShift | primitives.ModControl | primitives.ModMeta | primitives.ModAlt)
	var names []string
	for _, e := range append(down, up...) {
		names = append(names, string(e.Type)+" "+e.Code)
	}
	want := []string{
		"rawKeyDown ControlLeft", "rawKeyDown AltLeft", "rawKeyDown MetaLeft", "rawKeyDown ShiftLeft",
		"keyUp ShiftLeft", "keyUp MetaLeft", "keyUp AltLeft", "keyUp ControlLeft",
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if down[0].Modifiers != primitives.ModControl || down[1].Modifiers != primitives.ModControl|primitives.ModAlt ||
		up[3].Modifiers != 0 {
		t.Errorf("bits are not those held after each event: %+v %+v", down, up)
	}
	if d, u := PressModifiers(0); len(d)+len(u) != 0 {
		t.Errorf("no modifiers: got %v %v", d, u)
	}
}
