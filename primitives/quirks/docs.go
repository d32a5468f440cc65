package quirks

import "strings"

// Markdown is the text of docs/explanation/profiles.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("<!-- Generated: OUTRIDER_GENERATE=1 go test ./primitives/quirks. Do not edit. -->\n\n# Profiles\n\n" +
		"`--profile strict` (the default) does what the dictionary, the schema and their documentation say. `--profile extension` does what the upstream\n" +
		"Chrome extension does, mistakes included, so that a map that fails there fails here, and for the same reason. Every difference is one\n" +
		"quirk below; the extension profile has all of them. A quirk changes behaviour, never names or shapes.\n\n" +
		"| quirk | where | extension | strict | shown by |\n|---|---|---|---|---|\n")
	for _, q := range table {
		b.WriteString("| `" + string(q.Name) + "` | " + q.Where + " | " + q.Upstream + " | " + q.Strict + " | `" + q.Proof + "` |\n")
	}
	return b.String()
}
