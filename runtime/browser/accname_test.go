package browser_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/browsertest"
)

// ariaRole translates the browser's own words to those of ARIA; "" for what
// ARIA has no word for, and what this test leaves out.
var ariaRole = map[string]string{
	"image": "img", "Figcaption": "", "StaticText": "", "InlineTextBox": "", "RootWebArea": "", "LabelText": "", "Legend": "", "LineBreak": "", "ListMarker": "",
	"DisclosureTriangle": "button", "DisclosureTriangleGrouped": "button", "Details": "group", "DescriptionList": "", "Iframe": "", "Date": "", "DateTime": "",
	"InputTime": "", "ColorWell": "", "Abbr": "", "Video": "", "Audio": "", "Canvas": "", "SvgRoot": "img", "MenuListPopup": "", "Ruby": "", "RubyAnnotation": "",
	"EmbeddedObject": "", "PluginObject": "", "graphics-document": "img", "presentation": "none", "LayoutTable": "generic", "LayoutTableCell": "generic", "LayoutTableRow": "generic",
	"ImeCandidate": "", "FooterAsNonLandmark": "sectionfooter", "HeaderAsNonLandmark": "sectionheader", "Section": "generic", "Pre": "generic", "Unknown": "",
	"definition": "definition", "DescriptionListTerm": "term", "DescriptionListDetail": "definition", "search": "search", "cell": "cell",
	"MathMLMath": "math",
}

// otherNames are elements of the pages whose name is another one than the browser's, with the reason.
var otherNames = map[string]string{
	"input-file.referredSelf":  "the browser says the chosen file besides, which is the value",
	"input-submit.labelHidden": "the button shows its own word; the browser takes the hidden label for its name",
	"input-reset.labelHidden":  "as of submit",
	"input-image.labelHidden":  "as of submit",
	"input-file.labelHidden":   "as of submit",
	"option.label":             "the browser draws the label of an option without text, and leaves it out of its tree",
}

// textRows are roles whose row in a snapshot may have their name as its text.
var textRows = regexp.MustCompile(`^(?:cell|columnheader|gridcell|rowheader|row|listitem|term|treeitem|tooltip|generic|paragraph)$`)

// The names and roles that our scripts compute are compared with those that
// the browser computes for its own accessibility tree, over every page of
// testdata/pages/accname: what a locator is resolved by, what a row of a snapshot
// says, and whether the locator of role and name finds the element.
func TestRolesAndNamesAreThoseOfTheBrowser(t *testing.T) {
	browsertest.Browser(t)
	origin := servePages(t)
	pages, err := filepath.Glob(filepath.Join(pagesRoot, "accname", "*.html"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	total, inRows, located := 0, 0, 0
	for _, path := range pages {
		page := strings.TrimSuffix(filepath.Base(path), ".html")
		t.Run(page, func(t *testing.T) {
			tab := browsertest.Tab(t)
			ctx := within(t, 60*time.Second)
			open(t, tab, origin+"/accname/"+page+".html")
			nodes, err := tab.AXTree(ctx, "")
			if err != nil {
				t.Fatal(err)
			}
			rows := snapshotRows(t, tab)
			var handles []string
			var kept []primitives.AXNode
			var got []*namedElement
			ask := func() {
				var some []*namedElement
				if err := tab.Call(ctx, "", "role_name", map[string]any{"handles": handles[len(got):]}, &some); err != nil {
					t.Fatalf("%v %v", err, fault.From(err).Evidence)
				}
				got = append(got, some...)
			}
			refs := make(map[int]string)
			for _, n := range nodes {
				if n.Ignored || n.DOMNode == 0 || n.Role == "StaticText" || n.Role == "InlineTextBox" || n.Role == "RootWebArea" || n.Role == "ListMarker" || n.Role == "LineBreak" {
					continue
				}
				h, err := tab.ResolveNode(ctx, "", n.DOMNode)
				if err != nil {
					continue // a pseudo element
				}
				handles, kept = append(handles, h), append(kept, n)
				if len(handles)-len(got) == 500 { // a document keeps a bounded number of handles
					ask()
				}
				if n.Name != "" {
					var ref struct{ Ref string }
					if err := tab.Call(ctx, "", "ref_of", map[string]any{"handle": h}, &ref); err == nil {
						refs[len(kept)-1] = ref.Ref
					}
				}
			}
			ask()
			for i, n := range kept {
				g := got[i]
				if g == nil || g.Closed { // a pseudo element; a part of a control
					continue
				}
				total++
				role, translated := ariaRole[n.Role]
				if !translated {
					role = n.Role
				}
				if none := g.Role == "none" && role == "generic"; role != "" && g.Role != role && !none {
					t.Errorf("%s: role is %q, the browser says %q (%s)", g.Label, g.Role, role, n.Role)
				}
				id := elementID(g.Label)
				want := strings.Join(strings.Fields(n.Name), " ")
				if _, listed := otherNames[id]; listed {
					if want == g.Name {
						t.Errorf("%s has the browser's name, but is listed as different", g.Label)
					}
					want = g.Name
				}
				if g.Name != want {
					t.Errorf("%s (%s): name is %q, the browser says %q", g.Label, n.Role, g.Name, want)
				}
				ref, asked := refs[i]
				if id == "" || want == "" || !asked {
					continue
				}
				if row, ok := rows[ref]; ok {
					inRows++
					if row.Name != want && !(textRows.MatchString(row.Role) && row.Name == "") {
						t.Errorf("%s (%s): the snapshot calls it %q, the browser %q", g.Label, n.Role, row.Name, want)
					}
				} else if actedOn[g.Role] && g.TagName != "option" {
					t.Errorf("%s (%s): the snapshot has no row for it", g.Label, n.Role)
				}
				if page == "table" && g.Role != "" && g.Role != "none" && g.Role != "generic" {
					located++
					l := map[string]any{"role": g.Role, "name": want, "exact": true, "within": map[string]any{"selector": `[data-cell="` + id + `"]`}}
					if err := tab.Call(ctx, "", "wait_for", map[string]any{"locator": l, "state": "attached", "timeout_ms": 0}, nil); err != nil {
						t.Errorf("%s (%s): the locator does not find it by its name %q: %v", g.Label, n.Role, want, fault.From(err).Evidence)
					}
				}
				if !g.Exposed {
					t.Errorf("%s (%s): the browser exposes it", g.Label, n.Role)
				}
			}
		})
	}
	t.Logf("%d elements compared, %d in snapshots, %d located", total, inRows, located)
	if total < 4000 || inRows < 1200 || located < 900 {
		t.Errorf("only %d elements were compared, %d in snapshots, %d located", total, inRows, located)
	}
}

// actedOn are the roles of what is clicked and typed into: a snapshot never leaves one out.
var actedOn = map[string]bool{"button": true, "link": true, "textbox": true, "searchbox": true, "combobox": true, "listbox": true, "checkbox": true, "radio": true,
	"switch": true, "slider": true, "spinbutton": true, "menuitem": true, "tab": true, "treeitem": true, "option": true}

// namedElement is what the page library answers to role_name.
type namedElement struct {
	TagName string `json:"tag_name"`
	Role    string `json:"role"`
	Name    string `json:"name"`
	Exposed bool   `json:"exposed"`
	Label   string `json:"label"`
	Closed  bool   `json:"closed"` // inside the browser's own controls
}

// elementID is the id in what evidence calls an element: tag#id.class.
func elementID(label string) string {
	_, id, _ := strings.Cut(label, "#")
	return strings.TrimSuffix(id, ".before")
}

type snapshotRow struct{ Ref, Role, Name string }

// snapshotRows are the rows of a whole snapshot, by ref.
func snapshotRows(t *testing.T, tab *browser.Tab) map[string]snapshotRow {
	t.Helper()
	var out struct {
		Nodes []snapshotRow `json:"nodes"`
	}
	r := catalog.Standard().Invoke(within(t, 60*time.Second), tab, "page.snapshot", []byte(`{"format":"json","max_nodes":20000,"max_bytes":5000000}`))
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if err := json.Unmarshal(r.Payload, &out); err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]snapshotRow)
	for _, row := range out.Nodes {
		if row.Ref != "" {
			rows[row.Ref] = row
		}
	}
	return rows
}
