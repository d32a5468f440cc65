package sites

import (
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Listing is what actions.site answers to mode list.
type Listing struct {
	OK                bool            `json:"ok"`
	TargetURLContains *string         `json:"target_url_contains"` // the address listed for
	Actions           []ActionRow     `json:"actions"`
	StateProjections  []ProjectionRow `json:"state_projections"`
	Files             []FileRow       `json:"files"`
	Skills            []SkillRow      `json:"skills"`
}

// ActionRow is one action.
type ActionRow struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
	// TargetURLContains is the tool's binding, else its site; null for a tool
	// that is bound to neither.
	TargetURLContains *string `json:"target_url_contains"`
	MapPath           string  `json:"map_path"`
	// Unavailable says why a call would be refused now.
	Unavailable *Unavailable `json:"unavailable,omitempty"`
}

// Unavailable is the reason an action is listed but cannot be called.
type Unavailable struct {
	Code     fault.Code `json:"code"`
	Reason   string     `json:"reason"`
	MapPaths []string   `json:"map_paths,omitempty"`
}

// ProjectionRow is one state projection.
type ProjectionRow struct {
	Name        string       `json:"name"`
	Description *string      `json:"description"`
	Summaries   []SummaryRow `json:"summaries"`
	MapPath     string       `json:"map_path"`
}

// SummaryRow is one summary of a projection.
type SummaryRow struct {
	Name        string  `json:"name"`
	Description *string `json:"description"`
	MaxBytes    *int    `json:"max_bytes"`
}

// FileRow is one declared file that can be read.
type FileRow struct {
	ID           *string `json:"id"`
	Path         string  `json:"path"`
	RelativePath string  `json:"relative_path"`
	Kind         string  `json:"kind"`
	Title        *string `json:"title"`
	Description  *string `json:"description"`
	ReadWhen     *string `json:"read_when"`
	SizeBytes    int64   `json:"size_bytes"`
}

// SkillRow is one declared skill, beside its FileRow.
type SkillRow struct {
	ID           *string           `json:"id"`
	Path         string            `json:"path"`
	RelativePath string            `json:"relative_path"`
	Kind         string            `json:"kind"`
	Description  *string           `json:"description"`
	ReadWhen     *string           `json:"read_when"`
	FrontMatter  map[string]string `json:"front_matter"`
}

// List says what the maps offer on a page, in order of scope, map and
// declaration. An action appears once, as a call would find it; one that
// cannot be called says why. pageURL "" lists everything.
func (l *Library) List(pageURL string) Listing {
	out := Listing{
		OK: true, TargetURLContains: optional(pageURL),
		Actions: []ActionRow{}, StateProjections: []ProjectionRow{}, Files: []FileRow{}, Skills: []SkillRow{},
	}
	row := map[string]int{} // action → index of its row
	won := map[string]*Map{}
	for _, m := range l.For(pageURL) {
		for i := range m.Manifest.Tools {
			t := &m.Manifest.Tools[i]
			if !t.AgentCallable() || !bound(t, pageURL) {
				continue
			}
			if first, dup := won[t.Name]; dup {
				if first.Location.Scope == m.Location.Scope && first != m {
					out.Actions[row[t.Name]].conflict(m.Path)
				}
				continue
			}
			won[t.Name], row[t.Name] = m, len(out.Actions)
			out.Actions = append(out.Actions, actionRow(&Match{Map: m, Tool: t}))
		}
		out.projections(m, pageURL)
		out.companions(m)
	}
	return out
}

func actionRow(m *Match) ActionRow {
	r := ActionRow{Name: m.Tool.Name, Description: m.Tool.Description, InputSchema: m.Tool.InputSchema, MapPath: m.Map.Path}
	if r.TargetURLContains = optional(m.Tool.XActions.Binding.TargetURLContains); r.TargetURLContains == nil {
		r.TargetURLContains = optional(m.Map.Location.Host)
	}
	if f := m.Unsupported(); f != nil {
		r.Unavailable = &Unavailable{Code: f.Code, Reason: f.Message}
	}
	return r
}

func (r *ActionRow) conflict(path string) {
	if r.Unavailable == nil || r.Unavailable.Code != fault.SiteActionAmbiguous {
		r.Unavailable = &Unavailable{Code: fault.SiteActionAmbiguous, Reason: "several maps of the same scope declare this action", MapPaths: []string{r.MapPath}}
	}
	r.Unavailable.MapPaths = append(r.Unavailable.MapPaths, path)
}

func (out *Listing) projections(m *Map, pageURL string) {
	for i := range m.Manifest.StateProjections {
		p := &m.Manifest.StateProjections[i]
		if pageURL != "" && !wildcard(p.URLMatches, pageURL) {
			continue
		}
		r := ProjectionRow{Name: p.Name, Description: optional(p.Description), Summaries: []SummaryRow{}, MapPath: m.Path}
		for _, s := range p.Summaries {
			r.Summaries = append(r.Summaries, SummaryRow{Name: s.Name, Description: optional(s.Description), MaxBytes: s.MaxBytes})
		}
		out.StateProjections = append(out.StateProjections, r)
	}
}

// companions adds the declared files that are there now; one that is missing
// spoils nothing else.
func (out *Listing) companions(m *Map) {
	if m.companions == nil {
		return
	}
	for i := range m.Manifest.Files {
		f := &m.Manifest.Files[i]
		full := m.resolve(f)
		if full == "" {
			continue
		}
		size, err := m.companions.size(full)
		if err != nil {
			continue
		}
		out.Files = append(out.Files, FileRow{
			ID: optional(f.ID), Path: full, RelativePath: f.Path, Kind: f.Kind, Title: optional(f.Title),
			Description: optional(f.Description), ReadWhen: optional(f.ReadWhen), SizeBytes: size,
		})
		if !isSkill(f, full) {
			continue
		}
		head, err := m.companions.read(full, maxFrontMatter)
		if err != nil {
			continue
		}
		out.Skills = append(out.Skills, SkillRow{
			ID: optional(f.ID), Path: full, RelativePath: f.Path, Kind: "skill",
			Description: optional(f.Description), ReadWhen: optional(f.ReadWhen), FrontMatter: frontMatter(head),
		})
	}
}
