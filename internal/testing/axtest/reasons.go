package axtest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Reason is why a kind of difference stays.
type Reason struct {
	// Fits is an expression for the text of the difference.
	Fits string
	// Seen is where, and Because why it stays.
	Seen, Because string

	re *regexp.Regexp
}

// reasons are the differences that stay. A difference that fits none of them fails a test.
var reasons = compiled([]Reason{
	{
		Fits: `\(LayoutTable(?:Row|Cell)?\): role is "(?:table|row|cell)", the browser says "generic"$`,
		Seen: "Sphinx, TiddlyWiki",
		Because: "The browser takes a table for layout by how it is drawn. HTML says table, and its rows read as one " +
			"line each.",
	},
	{
		Fits:    `\(LayoutTable\): name is "", the browser says`,
		Seen:    "Sphinx",
		Because: "A container that is drawn as a table has no name in ARIA; its title is told as text.",
	},
	{
		Fits: `\(generic\): name is "", the browser says`,
		Seen: "Leaflet, Cloud Commander, Verdaccio",
		Because: "The browser names a container that has the focus by a part of its content. ARIA gives a container " +
			"no name.",
	},
	{
		Fits: `\(group\): role is "generic", the browser says "group"$`,
		Seen: "Node-RED, TiddlyWiki, Ungit",
		Because: "The browser calls what can be dragged, and a group of a drawing, a group. A row marks it " +
			"`[draggable]` instead.",
	},
	{
		Fits:    `\(graphics-symbol\): role is "generic"`,
		Seen:    "Ungit",
		Because: "Roles of the graphics module of ARIA are not used: a shape of a drawing is a container with a name.",
	},
	{
		Fits: `\(listitem\): (?:role is "option", the browser says "listitem"|name is "[^"]+", the browser says ` +
			`"")$`,
		Seen: "Streamlit",
		Because: "An option that is in its list, but not next to it. The page says that it is one, and an agent " +
			"chooses it.",
	},
	{Fits: `^(?:.*: )?(?:a\.md-search-result__link|td\.list-buttons-column|a#h1|(?:button|div)#[che]-(?:article|` +
		`fieldset|form|group))\b.*(?:name is|the snapshot calls it)`,
		Seen: "MkDocs Material, Flask-Admin, the page parts",
		Because: "The browser leaves an article, a form or a group out of the name of what is around it. " +
			"Accname 1.2 counts all content, and without it a link has no words."},
	{
		Fits:    `a\.email-item-link \(link\): (?:name is|the snapshot calls it)`,
		Seen:    "MailDev",
		Because: "The browser runs two words together that are drawn apart, where an element between them is hidden.",
	},
	{Fits: `\((?:generic|group|heading|img|list|navigation|region|textbox)\): expanded is "(?:true|false)", ` +
		`the browser says ""$`,
		Seen:    "Django admin",
		Because: "ARIA does not have the state on this role. A row tells what the page says."},
	{
		Fits:    `\((?:button|checkbox|combobox|radio|switch)\): required is "true", the browser says ""$`,
		Seen:    "Django admin",
		Because: "The protocol of the browser leaves the state out of these roles. HTML has it.",
	},
	{
		Fits:    `_list_\d+ \(option\): the snapshot has no row for it`,
		Seen:    "Ant Design",
		Because: "Options without size are kept beside those that are drawn, which have rows.",
	},
	{
		Fits:    `\.el-popper\..*name is "", the browser says`,
		Seen:    "Element Plus",
		Because: "A tooltip that holds a list: the browser takes the label of the list.",
	},
})

func compiled(all []Reason) []Reason {
	for i := range all {
		all[i].re = regexp.MustCompile(all[i].Fits)
	}
	return all
}

// OtherNames are elements of the page table whose name is another one than the browser's,
// by the id of the element, with the reason.
var OtherNames = map[string]string{
	"input-file.referredSelf":  "The browser says the chosen file besides, which is the value.",
	"input-submit.labelHidden": "The button shows its own word; the browser takes the hidden label for its name.",
	"input-reset.labelHidden":  "As of submit.",
	"input-image.labelHidden":  "As of submit.",
	"input-file.labelHidden":   "As of submit.",
	"option.label":             "The browser draws the label of an option without text, and leaves it out of its tree.",
}

// inCapitals is a name that the browser gives as CSS draws it.
var inCapitals = regexp.MustCompile(`(?:name is|the snapshot calls it) "(.*)", the browser(?: says)? "(.*)"$`)

// Explained reports whether a difference is one of those that stay.
func Explained(difference string) bool {
	if m := inCapitals.FindStringSubmatch(difference); m != nil && strings.EqualFold(m[1], m[2]) {
		return true
	}
	return slices.ContainsFunc(reasons, func(r Reason) bool { return r.re.MatchString(difference) })
}

// Compared is how much of the applications was compared with no other difference.
type Compared struct {
	Applications int `json:"applications"`
	Looks        int `json:"looks"`
	Elements     int `json:"elements"`
}

// ComparedFile is where the tests of the applications keep what they compared last.
const ComparedFile = "internal/testing/axtest/compared.json"

//go:embed compared.json
var compared []byte

// Page is docs/reference/accessible-names.md.
func Page() string {
	var b strings.Builder
	b.WriteString(`# Names, roles and states beside the browser's

Generated from ` + "`internal/testing/axtest` by `make generate`" + `; do not edit.

What a snapshot says of an element is computed by this project, as Accname 1.2 and HTML-AAM have it. Two tests compare
it with the tree that Chromium computes for assistive technology, element by element. One runs over a table of every
element and input type by every way of naming, with ` + "`make test`" + `; the other over the applications of
[scripted agents](../agents.md), after every look and every act, with ` + "`make agents`" + `. They fail on each
difference that is not here.

`)
	var last Compared
	if json.Unmarshal(compared, &last) == nil {
		fmt.Fprintf(
			&b, "The last run over the applications compared %d elements on %d looks at %d applications.\n\n",
			last.Elements, last.Looks, last.Applications,
		)
	}
	b.WriteString("What differs, where it was seen, and why it stays:\n\n- Everywhere: a name that CSS draws in " +
		"capitals is given as it is written.\n" +
		"- Everywhere: characters of private use, which icon fonts draw, are in no name.\n")
	for _, r := range reasons {
		b.WriteString(wrapped("- " + r.Seen + ": " + r.Because))
	}
	b.WriteString("\nElements of the table that have another name:\n\n| element and way | why |\n|---|---|\n")
	var ids []string
	for id := range OtherNames {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		fmt.Fprintf(&b, "| `%s` | %s |\n", id, OtherNames[id])
	}
	return b.String()
}

// wrapped is a text of Markdown in lines of 118 characters.
func wrapped(text string) string {
	const most = 118
	var b strings.Builder
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > most {
			b.WriteString(line + "\n")
			line = " "
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return b.String() + line + "\n"
}
