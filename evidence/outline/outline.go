// Package outline compares the outline of a page, as page.snapshot writes it, with one that somebody expects: roles,
// names, states and texts. It reads no page itself: the expectations of plans and package outridertest do.
package outline

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/internal/lazyregexp"
)

// Node is a row with what stands below it.
type Node struct {
	Role     string
	Name     Words
	Marks    []string // such as checked and level=2
	Text     Words
	Children []*Node
	line     int // from 1
}

// Words are a text, or an expression that a text matches.
type Words struct {
	Given   bool
	Text    string
	Pattern *regexp.Regexp
}

func (w Words) matches(got Words) bool {
	switch {
	case !w.Given:
		return true
	case w.Pattern != nil:
		return w.Pattern.MatchString(got.Text)
	}
	return normalised(w.Text) == normalised(got.Text)
}

func normalised(s string) string { return strings.Join(strings.Fields(s), " ") }

// head is the role, the name and the marks of a row.
var head = lazyregexp.New(
	`^-\s+([a-z]+)(?:\s+("(?:[^"\\]|\\.)*"|/(?:[^/\\]|\\.)+/i?))?(?:\s+[≈—]\s?"(?:[^"\\]|\\.)*")*` +
		`((?:\s+\[[^\]]*\])*)\s*(?::\s?(.*))?$`,
)

var marks = lazyregexp.New(`\[([^\]]*)\]`)

// Parse reads an outline. patterns says that /…/ is an expression; the outline of a page has none.
func Parse(text string, patterns bool) ([]*Node, error) {
	type open struct {
		indent int
		node   *Node
	}
	root := &Node{}
	stack := []open{{-1, root}}
	for i, line := range strings.Split(strings.ReplaceAll(text, "\t", "  "), "\n") {
		row := strings.TrimSpace(line)
		if row == "" {
			continue
		}
		n, err := parseRow(row, patterns)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		n.line = i + 1
		indent := len(line) - len(strings.TrimLeft(line, " "))
		for stack[len(stack)-1].indent >= indent {
			stack = stack[:len(stack)-1]
		}
		above := stack[len(stack)-1].node
		above.Children = append(above.Children, n)
		stack = append(stack, open{indent, n})
	}
	return root.Children, nil
}

func parseRow(row string, patterns bool) (*Node, error) {
	m := head().FindStringSubmatch(row)
	if m == nil {
		return nil, fmt.Errorf("%s: expected - role \"name\" [mark]: text", strconv.Quote(row))
	}
	n := &Node{Role: m[1]}
	var err error
	if m[2] != "" {
		n.Name, err = words(m[2], patterns)
	}
	if err == nil && m[4] != "" {
		n.Text = Words{Given: true, Text: m[4]}
		if patterns && len(m[4]) > 2 && m[4][0] == '/' {
			n.Text, err = words(m[4], true)
		}
	}
	if err != nil {
		return nil, err
	}
	for _, mark := range marks().FindAllStringSubmatch(m[3], -1) {
		if !strings.HasPrefix(mark[1], "ref=") {
			n.Marks = append(n.Marks, mark[1])
		}
	}
	return n, nil
}

func words(s string, patterns bool) (Words, error) {
	if s[0] == '"' {
		text, err := strconv.Unquote(s)
		if err != nil {
			text = s[1 : len(s)-1]
		}
		return Words{Given: true, Text: text}, nil
	}
	if !patterns {
		return Words{Given: true, Text: s}, nil
	}
	body, flag := strings.TrimSuffix(s, "i"), ""
	if body != s {
		flag = "(?i)"
	}
	if len(body) < 2 || body[len(body)-1] != '/' {
		return Words{Given: true, Text: s}, nil
	}
	p, err := regexp.Compile(flag + strings.ReplaceAll(body[1:len(body)-1], `\/`, "/"))
	if err != nil {
		return Words{}, fmt.Errorf("%s is no expression: %w", s, err)
	}
	return Words{Given: true, Pattern: p}, nil
}

// Difference is why an outline is not as it is expected.
type Difference struct {
	Line    int    // of what was expected, from 1
	Wanted  string // that line
	Nearest string // the row of the page that is like it, "" for none
}

// Match reports whether the rows that are expected are among those of a page, in their order and each below the one
// that it stands below. What stands between is passed over. A name, a text and marks count where they are given. The
// difference is nil when they are.
func Match(want, got []*Node) *Difference {
	if holds(want, got) {
		return nil
	}
	return missing(want, got)
}

// holds looks for the first rows anywhere on the page, so that a part of it may be written without what is around.
func holds(want, got []*Node) bool {
	if inOrder(want, got) {
		return true
	}
	return slices.ContainsFunc(got, func(n *Node) bool { return holds(want, n.Children) })
}

func inOrder(want, got []*Node) bool {
	at := 0
	for _, w := range want {
		for at < len(got) && !w.is(got[at]) {
			at++
		}
		if at == len(got) {
			return false
		}
		at++
	}
	return true
}

func (n *Node) like(got *Node) bool {
	if n.Role != got.Role || !n.Name.matches(got.Name) {
		return false
	}
	for _, m := range n.Marks {
		if !slices.Contains(got.Marks, m) {
			return false
		}
	}
	return n.Text.matches(got.whole())
}

func (n *Node) is(got *Node) bool { return n.like(got) && inOrder(n.Children, got.Children) }

// whole is the text of a row, which may stand in rows of its own.
func (n *Node) whole() Words {
	if n.Text.Given {
		return n.Text
	}
	var parts []string
	for _, c := range n.Children {
		if c.Role == "text" {
			parts = append(parts, c.Text.Text)
		}
	}
	return Words{Given: parts != nil, Text: strings.Join(parts, " ")}
}

// missing is the first row that is not there, with the nearest one of its role.
func missing(want, got []*Node) *Difference {
	for i, w := range want {
		if holds(want[:i+1], got) {
			continue
		}
		best := w.nearest(got)
		if best != nil && w.like(best) && len(w.Children) > 0 {
			if d := missing(w.Children, best.Children); d != nil {
				return d
			}
		}
		d := &Difference{Line: w.line, Wanted: w.String()}
		if best != nil {
			d.Nearest = best.String()
		}
		return d
	}
	return &Difference{}
}

// nearest is the row of a page that is most like one.
func (n *Node) nearest(got []*Node) (best *Node) {
	score := 0
	var walk func([]*Node)
	walk = func(list []*Node) {
		for _, g := range list {
			s := 0
			if g.Role == n.Role {
				s = 1
				if n.Name.Given && n.Name.matches(g.Name) {
					s = 3
				}
				if n.like(g) {
					s = 4
				}
			}
			if s > score {
				best, score = g, s
			}
			walk(g.Children)
		}
	}
	walk(got)
	return best
}

// String is the row as it is written.
func (n *Node) String() string {
	out := "- " + n.Role
	if n.Name.Given {
		out += " " + n.Name.String()
	}
	for _, m := range n.Marks {
		out += " [" + m + "]"
	}
	if n.Text.Given {
		text := n.Text.Text
		if n.Text.Pattern != nil {
			text = n.Text.String()
		}
		out += ": " + text
	}
	return out
}

// String is the words as they are written.
func (w Words) String() string {
	if w.Pattern == nil {
		return strconv.Quote(w.Text)
	}
	text := w.Pattern.String()
	body, fold := strings.CutPrefix(text, "(?i)")
	text = "/" + strings.ReplaceAll(body, "/", `\/`) + "/"
	if fold {
		text += "i"
	}
	return text
}

// Write is an outline as people keep it: without refs and without states that come and go.
func Write(nodes []*Node) string {
	var b strings.Builder
	var walk func([]*Node, string)
	walk = func(list []*Node, indent string) {
		for _, n := range list {
			one := *n
			one.Marks = slices.DeleteFunc(slices.Clone(n.Marks), func(m string) bool { return m == "focused" })
			b.WriteString(indent + one.String() + "\n")
			walk(n.Children, indent+"  ")
		}
	}
	walk(nodes, "")
	return b.String()
}
