package quirks

import (
	"strings"
	"unicode/utf8"
)

const pageHead = `<!-- Generated from primitives/quirks/table.go by make generate. Do not edit. -->

# Quirks

Each section is one difference between ` + "`--profile strict`" + `, the default, and ` + "`--profile extension`" + `.
What profiles are for and how to choose one: [profiles](../explanation/profiles.md).
Where each was seen beside the extension: [profiles, measured](../profiles.md).
The last line of a section names the page below ` + "`testdata/pages`" + ` or the Go test that shows both sides.
`

// width is what a line of a page has at most.
const width = 120

// Markdown is the text of docs/reference/quirks.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, q := range table {
		b.WriteString("\n## `" + string(q.Name) + "`\n\n")
		item(&b, "where: "+q.Where)
		item(&b, "extension: "+q.Upstream)
		item(&b, "strict: "+q.Strict)
		item(&b, "shown by `"+q.Proof+"`")
	}
	return b.String()
}

// item writes one entry of a list, its lines filled up to width.
func item(b *strings.Builder, text string) {
	line := "-"
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}
