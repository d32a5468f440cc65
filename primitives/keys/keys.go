// Package keys knows the keys of the US layout, the names of chords, and the events that pressing them makes. It
// does not decide where keys go: that is the focus. Families that press keys call it, and the runtime for its
// shortcuts.
package keys

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives"
)

// Definition is one physical key of the US layout and what one press of it means.
//
// Character codes are not virtual key codes: an apostrophe is 0x27, which as a
// virtual key is the right arrow. Every printable key therefore stands in the
// table; a character that is not there has key code 0 and travels as text.
type Definition struct {
	Key       string // DOM key value without Shift
	Shifted   string // DOM key value with Shift; "" when it does not change
	Code      string // DOM code value
	KeyCode   int    // Windows virtual key code
	Location  int    // 0 standard, 1 left, 2 right, 3 numpad
	Text      string // text the key produces without Shift; "" for none
	ShiftText string // text with Shift; "" when it does not change
}

// keyTable holds every key of a full US keyboard with numpad, and the media,
// browser and launcher keys that Chromium gives virtual key codes. An earlier
// entry wins a name that two entries share ("Enter", "Shift", "1").
var keyTable = buildKeyTable()

func buildKeyTable() []Definition {
	t := make([]Definition, 0, 200)
	for c := byte('a'); c <= 'z'; c++ {
		lower, upper := string(c), string(c-'a'+'A')
		t = append(t, Definition{
			Key:       lower,
			Shifted:   upper,
			Code:      "Key" + upper,
			KeyCode:   int(c-'a') + 'A',
			Text:      lower,
			ShiftText: upper,
		})
	}
	const shiftedDigits = ")!@#$%^&*("
	for d := 0; d <= 9; d++ {
		digit, shifted := string(byte('0'+d)), shiftedDigits[d:d+1]
		t = append(t, Definition{
			Key:       digit,
			Shifted:   shifted,
			Code:      "Digit" + digit,
			KeyCode:   '0' + d,
			Text:      digit,
			ShiftText: shifted,
		})
	}
	for _, p := range []struct {
		key, shifted, code string
		keyCode            int
	}{
		{";", ":", "Semicolon", 186},
		{"=", "+", "Equal", 187},
		{",", "<", "Comma", 188},
		{"-", "_", "Minus", 189},
		{".", ">", "Period", 190},
		{"/", "?", "Slash", 191},
		{"`", "~", "Backquote", 192},
		{"[", "{", "BracketLeft", 219},
		{`\`, "|", "Backslash", 220},
		{"]", "}", "BracketRight", 221},
		{"'", `"`, "Quote", 222},
	} {
		t = append(t, Definition{
			Key:       p.key,
			Shifted:   p.shifted,
			Code:      p.code,
			KeyCode:   p.keyCode,
			Text:      p.key,
			ShiftText: p.shifted,
		})
	}
	t = append(t,
		Definition{Key: " ", Code: "Space", KeyCode: 32, Text: " "},
		Definition{Key: "Enter", Code: "Enter", KeyCode: 13, Text: "\r"},
		Definition{Key: "Tab", Code: "Tab", KeyCode: 9},
		Definition{Key: "Escape", Code: "Escape", KeyCode: 27},
		Definition{Key: "Backspace", Code: "Backspace", KeyCode: 8},
		Definition{Key: "Delete", Code: "Delete", KeyCode: 46},
		Definition{Key: "Insert", Code: "Insert", KeyCode: 45},
		Definition{Key: "Home", Code: "Home", KeyCode: 36},
		Definition{Key: "End", Code: "End", KeyCode: 35},
		Definition{Key: "PageUp", Code: "PageUp", KeyCode: 33},
		Definition{Key: "PageDown", Code: "PageDown", KeyCode: 34},
		Definition{Key: "ArrowLeft", Code: "ArrowLeft", KeyCode: 37},
		Definition{Key: "ArrowUp", Code: "ArrowUp", KeyCode: 38},
		Definition{Key: "ArrowRight", Code: "ArrowRight", KeyCode: 39},
		Definition{Key: "ArrowDown", Code: "ArrowDown", KeyCode: 40},
		Definition{Key: "CapsLock", Code: "CapsLock", KeyCode: 20},
		Definition{Key: "NumLock", Code: "NumLock", KeyCode: 144},
		Definition{Key: "ScrollLock", Code: "ScrollLock", KeyCode: 145},
		Definition{Key: "Pause", Code: "Pause", KeyCode: 19},
		Definition{Key: "Cancel", Code: "Abort", KeyCode: 3},
		Definition{Key: "PrintScreen", Code: "PrintScreen", KeyCode: 44},
		Definition{Key: "ContextMenu", Code: "ContextMenu", KeyCode: 93},
		Definition{Key: "Help", Code: "Help", KeyCode: 47},
		Definition{Key: "Select", Code: "Select", KeyCode: 41},
		Definition{Key: "Execute", Code: "Open", KeyCode: 43},
		Definition{Key: "Clear", Code: "NumpadClear", KeyCode: 12, Location: 3},

		Definition{Key: "Shift", Code: "ShiftLeft", KeyCode: 16, Location: 1},
		Definition{Key: "Control", Code: "ControlLeft", KeyCode: 17, Location: 1},
		Definition{Key: "Alt", Code: "AltLeft", KeyCode: 18, Location: 1},
		Definition{Key: "Meta", Code: "MetaLeft", KeyCode: 91, Location: 1},
		Definition{Key: "Shift", Code: "ShiftRight", KeyCode: 16, Location: 2},
		Definition{Key: "Control", Code: "ControlRight", KeyCode: 17, Location: 2},
		Definition{Key: "Alt", Code: "AltRight", KeyCode: 18, Location: 2},
		Definition{Key: "AltGraph", Code: "AltRight", KeyCode: 225, Location: 2},
		Definition{Key: "Meta", Code: "MetaRight", KeyCode: 92, Location: 2},
	)
	for n := 1; n <= 24; n++ {
		name := "F" + strconv.Itoa(n)
		t = append(t, Definition{Key: name, Code: name, KeyCode: 111 + n})
	}
	// The numpad with NumLock on: Shift gives the navigation keys.
	for d, nav := range []string{
		"Insert", "End", "ArrowDown", "PageDown", "ArrowLeft", "Clear", "ArrowRight", "Home", "ArrowUp", "PageUp",
	} {
		digit := string(byte('0' + d))
		t = append(t, Definition{
			Key:      digit,
			Shifted:  nav,
			Code:     "Numpad" + digit,
			KeyCode:  96 + d,
			Location: 3,
			Text:     digit,
		})
	}
	t = append(t,
		Definition{Key: "*", Code: "NumpadMultiply", KeyCode: 106, Location: 3, Text: "*"},
		Definition{Key: "+", Code: "NumpadAdd", KeyCode: 107, Location: 3, Text: "+"},
		Definition{Key: ",", Code: "NumpadComma", KeyCode: 194, Location: 3, Text: ","},
		Definition{Key: "-", Code: "NumpadSubtract", KeyCode: 109, Location: 3, Text: "-"},
		Definition{
			Key:      ".",
			Shifted:  "Delete",
			Code:     "NumpadDecimal",
			KeyCode:  110,
			Location: 3,
			Text:     ".",
		},
		Definition{Key: "/", Code: "NumpadDivide", KeyCode: 111, Location: 3, Text: "/"},
		Definition{Key: "=", Code: "NumpadEqual", KeyCode: 187, Location: 3, Text: "="},
		Definition{Key: "Enter", Code: "NumpadEnter", KeyCode: 13, Location: 3, Text: "\r"},
	)
	for _, m := range []struct {
		key, code string // code is "" when it equals key
		keyCode   int
	}{
		{"BrowserBack", "", 166},
		{"BrowserForward", "", 167},
		{"BrowserRefresh", "", 168},
		{"BrowserStop", "", 169},
		{"BrowserSearch", "", 170},
		{"BrowserFavorites", "", 171},
		{"BrowserHome", "", 172},
		{"AudioVolumeMute", "", 173},
		{"AudioVolumeDown", "", 174},
		{"AudioVolumeUp", "", 175},
		{"MediaTrackNext", "", 176},
		{"MediaTrackPrevious", "", 177},
		{"MediaStop", "", 178},
		{"MediaPlayPause", "", 179},
		{"LaunchMail", "", 180},
		{"LaunchMediaPlayer", "MediaSelect", 181},
		{"LaunchApplication1", "LaunchApp1", 182},
		{"LaunchApplication2", "LaunchApp2", 183},
		{"Standby", "Sleep", 95},
		{"Power", "", 0},
		{"BrightnessDown", "", 216},
		{"BrightnessUp", "", 217},
		{"Convert", "", 28},
		{"NonConvert", "", 29},
		{"KanaMode", "", 21},
		{"HangulMode", "Lang1", 21},
		{"HanjaMode", "Lang2", 25},
	} {
		if m.code == "" {
			m.code = m.key
		}
		t = append(t, Definition{Key: m.key, Code: m.code, KeyCode: m.keyCode})
	}
	return t
}

// keyAliases are names people and older maps use for keys of the table.
var keyAliases = map[string]string{
	"space":       " ",
	"spacebar":    " ",
	"esc":         "Escape",
	"return":      "Enter",
	"del":         "Delete",
	"ins":         "Insert",
	"bksp":        "Backspace",
	"left":        "ArrowLeft",
	"right":       "ArrowRight",
	"up":          "ArrowUp",
	"down":        "ArrowDown",
	"pgup":        "PageUp",
	"pgdn":        "PageDown",
	"pgdown":      "PageDown",
	"page_up":     "PageUp",
	"page_down":   "PageDown",
	"arrow_left":  "ArrowLeft",
	"arrow_right": "ArrowRight",
	"arrow_up":    "ArrowUp",
	"arrow_down":  "ArrowDown",
	"ctrl":        "Control",
	"cmd":         "Meta",
	"command":     "Meta",
	"win":         "Meta",
	"windows":     "Meta",
	"super":       "Meta",
	"option":      "Alt",
	"opt":         "Alt",
	"caps":        "CapsLock",
	"caps_lock":   "CapsLock",
	"num_lock":    "NumLock",
	"prtsc":       "PrintScreen",
	"print":       "PrintScreen",
	"apps":        "ContextMenu",
	"menu":        "ContextMenu",
	"volumeup":    "AudioVolumeUp",
	"volumedown":  "AudioVolumeDown",
	"volumemute":  "AudioVolumeMute",
	"plus":        "+",
	"minus":       "-",
	"altgr":       "AltGraph",
}

// keyIndex finds a key of the table. exact is by DOM key, shifted key and code;
// folded is the same in lower case, for names only.
var keyIndex = sync.OnceValue(buildKeyIndex)

type Hit struct {
	def   *Definition
	shift bool // the name was the shifted value
}

type keyLookup struct{ exact, folded map[string]Hit }

func buildKeyIndex() keyLookup {
	ix := keyLookup{exact: map[string]Hit{}, folded: map[string]Hit{}}
	add := func(name string, h Hit) {
		if name == "" {
			return
		}
		if _, ok := ix.exact[name]; !ok {
			ix.exact[name] = h
		}
		if utf8.RuneCountInString(name) == 1 {
			return // the case of a character is its meaning
		}
		if low := strings.ToLower(name); ix.folded[low].def == nil {
			ix.folded[low] = h
		}
	}
	const numpad = 3
	for i := range keyTable {
		if keyTable[i].Location != numpad {
			add(keyTable[i].Key, Hit{def: &keyTable[i]})
		}
	}
	for i := range keyTable {
		k := &keyTable[i]
		if k.ShiftText != "" { // printable only: "Home" is a key of its own, not Shift+Numpad7
			add(k.Shifted, Hit{def: k, shift: true})
		}
		add(k.Code, Hit{def: k})
	}
	for i := range keyTable {
		add(keyTable[i].Key, Hit{def: &keyTable[i]})
	}
	return ix
}

// Find resolves a key name: a DOM key value ("a", "Enter", "PageUp"), a DOM
// code value ("KeyA", "NumpadAdd") or an alias ("Esc", "Space"). Names are
// looked up exactly first and then without regard to case; characters only
// exactly. Any other single code point is a key without code that produces
// itself.
func Find(name string) (Hit, bool) {
	if h, ok := keyIndex().exact[name]; ok {
		return h, true
	}
	low := strings.ToLower(name)
	if h, ok := keyIndex().folded[low]; ok {
		return h, true
	}
	if alias, ok := keyAliases[low]; ok {
		return keyIndex().exact[alias], true
	}
	if r, n := utf8.DecodeRuneInString(name); n == len(name) && n > 0 && r != utf8.RuneError {
		switch name {
		case "\n", "\r":
			return keyIndex().exact["Enter"], true
		case "\t":
			return keyIndex().exact["Tab"], true
		}
		if r < ' ' || r == 0x7f {
			return Hit{}, false // control characters have no key and no text
		}
		return Hit{def: &Definition{Key: name, Text: name}}, true
	}
	return Hit{}, false
}

// Events returns the down and up events of one press while mods are held. A key
// produces its text unless a modifier other than Shift is held: with Control it
// is a command, and a character sent along would be typed as well.
func (h Hit) Events(mods primitives.Modifiers) (down, up primitives.KeyEvent) {
	k := h.def
	key, text := k.Key, k.Text
	switch {
	case mods&primitives.ModShift != 0 && k.Code == "": // a character without a key
		if upper := strings.ToUpper(key); utf8.RuneCountInString(upper) == 1 {
			key, text = upper, upper
		}
	case k.Shifted == "":
	case mods&primitives.ModShift != 0, h.shift && (mods == 0 || !isLetter(k)):
		// "A" alone is the character A, but in Control+A it names the key.
		key, text = k.Shifted, k.ShiftText
	}
	down = primitives.KeyEvent{
		Type:      primitives.RawKeyDown,
		Key:       key,
		Code:      k.Code,
		KeyCode:   k.KeyCode,
		Modifiers: mods,
		Location:  k.Location,
	}
	up = down
	up.Type = primitives.KeyUp
	if text != "" && mods&^primitives.ModShift == 0 {
		down.Type, down.Text = primitives.KeyDown, text
	}
	return down, up
}

func isLetter(k *Definition) bool { return strings.HasPrefix(k.Code, "Key") && len(k.Code) == 4 }

// nearestKey returns the known key name closest to name, for an error that
// helps; "" when nothing is close.
func nearestKey(name string) string {
	low := strings.ToLower(name)
	if len(low) < 3 || len(low) > maxKeyName {
		return ""
	}
	best, distance := "", max(2, len(low)/3)+1
	consider := func(candidate, result string) {
		if utf8.RuneCountInString(candidate) < 2 {
			return
		}
		if d := editDistance(low, strings.ToLower(candidate), distance); d < distance {
			best, distance = result, d
		}
	}
	for i := range keyTable {
		consider(keyTable[i].Key, keyTable[i].Key)
		consider(keyTable[i].Code, keyTable[i].Code)
	}
	if best == "" {
		for _, alias := range sortedAliases {
			consider(alias, keyAliases[alias])
		}
	}
	return best
}

// editDistance is the Levenshtein distance of a and b, or limit when it is at
// least that.
func editDistance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	cur := make([]int, len(b)+1)
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
		}
		prev, cur = cur, prev
	}
	return min(prev[len(b)], limit)
}
