package likeness

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// made are the forms that tools give to ids and classes.
var made = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:` + strings.Join([]string{
		`[:«]?r[0-9a-z]{0,3}[:»]`, `.*:r[0-9a-z]+:.*`, `.*«r[0-9a-z]+».*`, `_r_[0-9a-z]+_`, // React useId
		`(?:radix|headlessui|mui|downshift|chakra|mantine|reach|rc_select|react-select|react-aria|` +
			`floating-ui)[-_:].*\d.*`,
		`(?:mat|cdk|ng|p|pn_id|ngb)[-_][\w-]*\d+`, `_ng(?:content|host)-.*`, // Angular
		`data-v-[0-9a-f]+`, `v-\d+`, `el-id-\d+-\d+`, `__BVID__\d+.*`, // Vue
		`ember\d+`, `ext-gen\d+`, `yui_.*`, `gwt-uid-\d+`, `jss\d+`, `svelte-[0-9a-z]+`,
		`astro-[0-9a-z]+`, `sc-[0-9a-z]+.*`, `css-[0-9a-z]+(?:-.*)?`,
		`emotion-\d+`, `\w+_\w+__[\w-]{5,}`, `_\w+_[0-9a-z]{5,}(?:_\d+)?`, // CSS modules
		`[0-9a-f]{8}-[0-9a-f]{4}-.*`, `\d+`,
	}, "|") + `)$`)
})

// Generated reports whether an id, a class or another attribute looks made by a tool:
// it differs from one build, one render or one record to the next.
func Generated(value string) bool {
	if made().MatchString(value) {
		return true
	}
	parts := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("-_:. /", r) })
	return slices.ContainsFunc(parts, hashlike)
}

// hashlike reports whether a part of an identifier is noise: many digits, or digits and
// letters in turn.
func hashlike(part string) bool {
	digits := 0
	letters := 0
	turns := 0
	upper := 0
	lower := 0
	var last rune
	for _, r := range part {
		kind := 'o'
		switch {
		case unicode.IsDigit(r):
			digits++
			kind = 'd'
		case unicode.IsLetter(r):
			letters++
			kind = 'l'
			if unicode.IsUpper(r) {
				upper++
			} else {
				lower++
			}
		}
		if last != 0 && kind != last {
			turns++
		}
		last = kind
	}
	switch {
	case digits >= 4 && digits >= letters:
		return true
	case len(part) >= 5 && digits > 1 && letters > 0 && turns >= 2:
		return true
	case len(part) >= 8 && digits >= 2 && letters > 0 && strings.Trim(strings.ToLower(part), "0123456789abcdef") == "":
		return true
	}
	return false
}

// StableClasses are the classes of an attribute that people gave and that say what
// an element is. Those of utility frameworks and of states say how it looks.
func StableClasses(class string) []string {
	var out []string
	for c := range strings.FieldsSeq(class) {
		if !Generated(c) && !fleeting().MatchString(c) {
			out = append(out, c)
		}
	}
	return out
}

var fleeting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:is|has|ng|js)-.*|v-(?:enter|leave|move|appear)(?:-.*)?|` +
		`.*--(?:active|selected|open|opened|closed|disabled|focused|hover|checked|loading|visible|hidden|dirty)|` +
		`active|selected|hover|focus|focused|disabled|enabled|open|closed|hidden|visible|show|loading|dirty|` +
		`pristine|touched|` +
		`.*[:\[\]/!].*|-?[mp][trblxy]?-\d.*|[wh]-.*|(?:text|bg|border|rounded|shadow|flex|grid|gap|items|justify|` +
		`font|leading|col|row|d|order)-.*|flex|grid|block|inline|relative|absolute)$`)
})
