package report

import (
	"bytes"
	_ "embed" // the page of a report
	"encoding/base64"
	"encoding/json"
	"html/template"
	"strings"
)

//go:embed page.html
var reportPage string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{"deref": func(b *bool) bool { return b != nil && *b }}).Parse(reportPage))

// shownCheck is a check as the page of a report shows it.
type shownCheck struct {
	Check
	Detail     string
	Repairs    []string
	Screenshot template.URL // a data URL that this program made
	Snapshot   string
}

// Document is what one HTML report shows: steps, and pages that were checked.
type Document struct {
	Title  string
	Suites []Suite
	Pages  []Page
}

// HTML is a page that needs nothing else: styles and pictures are in it.
func HTML(d Document) ([]byte, error) {
	type shownPage struct {
		Page
		Shown []shownCheck
	}
	var list []shownPage
	for _, p := range d.Pages {
		sp := shownPage{Page: p}
		for _, c := range p.Checks {
			s := shownCheck{Check: c, Detail: c.Detail()}
			for _, proposal := range c.Proposals() {
				var pretty bytes.Buffer
				if json.Indent(&pretty, proposal, "", "  ") == nil {
					s.Repairs = append(s.Repairs, pretty.String())
				}
			}
			s.Screenshot = pictureOf(c.Evidence["screenshot"])
			var text struct {
				Text string `json:"text"`
			}
			if json.Unmarshal(c.Evidence["dom_snapshot"], &text) == nil {
				s.Snapshot = text.Text
			}
			sp.Shown = append(sp.Shown, s)
		}
		list = append(list, sp)
	}
	var out bytes.Buffer
	err := reportTemplate.Execute(&out, map[string]any{"Title": d.Title, "Suites": d.Suites, "Pages": list})
	return out.Bytes(), err
}

// pictureOf makes a data URL of a screenshot, "" when there is none.
func pictureOf(raw json.RawMessage) template.URL {
	var shot struct {
		DataURL string `json:"data_url"`
	}
	if json.Unmarshal(raw, &shot) != nil {
		return ""
	}
	for _, head := range []string{"data:image/jpeg;base64,", "data:image/png;base64,"} {
		if text, ok := strings.CutPrefix(shot.DataURL, head); ok {
			if data, err := base64.StdEncoding.DecodeString(text); err == nil {
				return template.URL(head + base64.StdEncoding.EncodeToString(data)) //nolint:gosec // two fixed heads and base64
			}
		}
	}
	return ""
}
