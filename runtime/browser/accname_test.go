package browser_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
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

// The names and roles that our scripts compute are compared with those that
// the browser computes for its own accessibility tree, over every page of
// testdata/pages/accname.
func TestRolesAndNamesAreThoseOfTheBrowser(t *testing.T) {
	browsertest.Browser(t)
	origin := servePages(t)
	pages, err := filepath.Glob(filepath.Join(pagesRoot, "accname", "*.html"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	total := 0
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
			var handles []string
			var kept []primitives.AXNode
			for _, n := range nodes {
				if n.Ignored || n.DOMNode == 0 || n.Role == "StaticText" || n.Role == "InlineTextBox" || n.Role == "RootWebArea" || n.Role == "ListMarker" || n.Role == "LineBreak" {
					continue
				}
				h, err := tab.KeepNode(ctx, "", n.DOMNode)
				if err != nil {
					continue // a pseudo element
				}
				handles, kept = append(handles, h), append(kept, n)
			}
			var got []*struct {
				TagName string `json:"tag_name"`
				Role    string `json:"role"`
				Name    string `json:"name"`
				Exposed bool   `json:"exposed"`
				Label   string `json:"label"`
				Closed  bool   `json:"closed"` // inside the browser's own controls
			}
			if err := tab.Call(ctx, "", "role_name", map[string]any{"handles": handles}, &got); err != nil {
				t.Fatalf("%v %v", err, fault.From(err).Evidence)
			}
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
				if want := strings.Join(strings.Fields(n.Name), " "); g.Name != want {
					t.Errorf("%s (%s): name is %q, the browser says %q", g.Label, n.Role, g.Name, want)
				}
				if !g.Exposed {
					t.Errorf("%s (%s): the browser exposes it", g.Label, n.Role)
				}
			}
		})
	}
	t.Logf("%d elements compared", total)
	if total < 250 {
		t.Errorf("only %d elements were compared", total)
	}
}
