package fault

import (
	"fmt"
	"strings"
)

// Markdown renders docs/errors.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Error codes\n\n")
	b.WriteString("Generated from `primitives/fault/codes.go` by `make generate`. A code is the contract: it is never renamed; messages may change.\n\n")
	b.WriteString("*Retry*: `never` means that the same call fails the same way until the call, the map or the policy changes; `after a fresh look`\n")
	b.WriteString("means that something may have happened or changed, so read the page or the runtime first; `same call` means that nothing happened.\n")
	group := ""
	for _, s := range specs {
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&b, "\n## %s\n\n| code | meaning | severity | recoverable | retry |\n|---|---|---|---|---|\n", group)
		}
		yes := "no"
		if s.Recoverable {
			yes = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", s.Code, s.Meaning, s.Severity, yes, s.Retry)
	}
	return b.String()
}
