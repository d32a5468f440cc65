package fault

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Markdown renders docs/reference/errors.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Error codes\n\n")
	b.WriteString("Generated from `primitives/fault/codes.go` by `make generate`.\n")
	b.WriteString("A code is the contract: it is never renamed; messages may change.\n\n")
	b.WriteString(
		"Each entry has its meaning, how severe it is, whether a caller can recover, and whether a retry helps:\n\n",
	)
	b.WriteString("- `never`: the same call fails the same way until the call, the map or the policy changes.\n")
	b.WriteString(
		"- `after a fresh look`: something may have happened or changed, so read the page or the runtime first.\n",
	)
	b.WriteString("- `same call`: nothing happened.\n")
	group := ""
	for _, s := range specs {
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&b, "\n## %s\n\n", group)
		}
		recover := "recoverable"
		if !s.Recoverable {
			recover = "not recoverable"
		}
		item(&b, fmt.Sprintf(
			"`%s`: %s. *%s, %s, retry: %s*", s.Code, strings.TrimSuffix(s.Meaning, "."), s.Severity, recover, s.Retry,
		))
	}
	return b.String()
}

// width is what a line of the page has at most.
const width = 120

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
