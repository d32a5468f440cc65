package sites

import (
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/location"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Listing is what actions.site answers to mode list.
type Listing struct {
	OK                bool            `json:"ok"`
	TargetURLContains *string         `json:"target_url_contains"` // the address listed for
	Actions           []ActionRow     `json:"actions"`
	StateProjections  []ProjectionRow `json:"state_projections"`
	Files             []FileRow       `json:"files"`
	Skills            []SkillRow      `json:"skills"`
	// Imports are the maps that those of the page import.
	Imports []ImportRow `json:"imports,omitempty"`
}

// ImportRow is one import of a map that applies to the page.
type ImportRow struct {
	ID        string  `json:"id"` // ids joined by / for what an import imports
	Kind      *string `json:"kind"`
	URI       *string `json:"uri"`
	Namespace *string `json:"namespace"`
	Trust     Trust   `json:"trust,omitempty"`
	MapPath   string  `json:"map_path"` // of the map that imports
	// Status is ok, disabled, pending (nobody has read it yet) or failed.
	Status string       `json:"status"`
	Source *string      `json:"source"` // path or address of the imported map
	Error  *ImportError `json:"error,omitempty"`
}

// ImportError is why an import offers nothing.
type ImportError struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
}

// SourceRow says that an entry was imported.
type SourceRow struct {
	Import  string `json:"import"`
	Trust   Trust  `json:"trust"`
	MapPath string `json:"map_path"` // of the map that declares the entry
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
	// Source is set for an imported action.
	Source *SourceRow `json:"source,omitempty"`
	// Unavailable says why a call would be refused.
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
	Source      *SourceRow   `json:"source,omitempty"`
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
		OK:                true,
		TargetURLContains: optional(pageURL),
		Actions:           []ActionRow{},
		StateProjections:  []ProjectionRow{},
		Files:             []FileRow{},
		Skills:            []SkillRow{},
	}
	row := map[string]int{} // action → index of its row
	won := map[string]*Match{}
	for _, m := range l.For(pageURL) {
		l.offers(m, func(t *Match) {
			if !bound(t.Tool, pageURL) {
				return
			}
			if first, dup := won[t.Name]; dup {
				if first.Via.Location.Scope == m.Location.Scope && first.Via != m && first.Tool != t.Tool {
					out.Actions[row[t.Name]].conflict(m.Path)
				}
				return
			}
			won[t.Name], row[t.Name] = t, len(out.Actions)
			out.Actions = append(out.Actions, actionRow(t))
		})
		out.projections(l, m, pageURL)
		out.companions(m)
		out.imports(l.composed[m])
	}
	return out
}

func (out *Listing) imports(c *Composition) {
	if c == nil {
		return
	}
	for _, s := range c.Sources[1:] {
		r := ImportRow{
			ID:        s.ID,
			Kind:      optional(s.Kind),
			URI:       optional(s.URI),
			Namespace: optional(s.Namespace),
			Trust:     s.Trust,
			MapPath:   c.Map.Path,
			Status:    "ok",
		}
		switch {
		case s.Disabled:
			r.Status = "disabled"
		case s.Pending:
			r.Status = "pending"
		case s.Err != nil:
			r.Status, r.Error = "failed", &ImportError{s.Err.Code, s.Err.Message}
		case s.Map != nil:
			r.Source = optional(s.Map.Path)
		}
		out.Imports = append(out.Imports, r)
	}
}

func sourceRow(s *Source) *SourceRow {
	if s == nil || s.ID == "" {
		return nil
	}
	return &SourceRow{Import: s.ID, Trust: s.Trust, MapPath: s.Map.Path}
}

func actionRow(m *Match) ActionRow {
	r := ActionRow{
		Name:        m.Name,
		Description: m.Tool.Description,
		InputSchema: m.Tool.InputSchema,
		MapPath:     m.Via.Path,
		Source:      sourceRow(m.Source),
	}
	r.TargetURLContains = optional(m.Tool.XActions.Binding.TargetURLContains)
	if r.TargetURLContains == nil {
		r.TargetURLContains = optional(m.Via.Location.Host)
	}
	if f := m.Unsupported(); f != nil {
		r.Unavailable = &Unavailable{Code: f.Code, Reason: f.Message}
	}
	return r
}

func (r *ActionRow) conflict(path string) {
	if r.Unavailable == nil || r.Unavailable.Code != fault.SiteActionAmbiguous {
		r.Unavailable = &Unavailable{
			Code:     fault.SiteActionAmbiguous,
			Reason:   "several maps of the same scope declare this action",
			MapPaths: []string{r.MapPath},
		}
	}
	r.Unavailable.MapPaths = append(r.Unavailable.MapPaths, path)
}

func (out *Listing) projections(l *Library, m *Map, pageURL string) {
	l.projections(m, func(e *Exposed[manifest.Projection]) {
		p := e.Entry
		if p.Broken || pageURL != "" && !location.URLMatches(p.URLMatches, pageURL) {
			return
		}
		r := ProjectionRow{
			Name:        e.Name,
			Description: optional(p.Description),
			Summaries:   []SummaryRow{},
			MapPath:     m.Path,
			Source:      sourceRow(e.Source),
		}
		for _, s := range p.Summaries {
			r.Summaries = append(r.Summaries, SummaryRow{
				Name:        s.Name,
				Description: optional(s.Description),
				MaxBytes:    s.MaxBytes,
			})
		}
		out.StateProjections = append(out.StateProjections, r)
	})
}

// companions adds the declared files that are there; one that is missing
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
			ID:           optional(f.ID),
			Path:         full,
			RelativePath: f.Path,
			Kind:         f.Kind,
			Title:        optional(f.Title),
			Description:  optional(f.Description),
			ReadWhen:     optional(f.ReadWhen),
			SizeBytes:    size,
		})
		if !isSkill(f, full) {
			continue
		}
		head, err := m.companions.read(full, maxFrontMatter)
		if err != nil {
			continue
		}
		out.Skills = append(out.Skills, SkillRow{
			ID:           optional(f.ID),
			Path:         full,
			RelativePath: f.Path,
			Kind:         "skill",
			Description:  optional(f.Description),
			ReadWhen:     optional(f.ReadWhen),
			FrontMatter:  frontMatter(head),
		})
	}
}
