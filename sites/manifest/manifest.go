// Package manifest is the one gate for actions.json maps: the types of schema version 1,
// the parser and every validation rule. It reads no files and touches no page. Package
// sites parses maps with it, and whatever runs a map uses its types.
//
// A map is not trusted. Parse reports all that is wrong with it at once and
// gives out no Manifest while there is a single error, so no action of an
// invalid map can be offered by mistake.
package manifest

import "encoding/json"

// Protocol and Version are what a map must declare.
const (
	Protocol = "actions.json"
	Version  = 1
)

// Manifest is an actions.json document after checking. Every section is in
// file order, and every field that is an enumeration, an identifier or a
// reference holds an allowed value. It is immutable.
type Manifest struct {
	Protocol    string
	Version     int
	Surface     Surface
	Imports     []Import
	Composition Composition
	Context     []Context
	States      []State
	Transitions []Transition
	Tools       []Tool
	Signals     []Signal
	Attachments []Attachment
	Checks      []Check
	// StateProjections is not part of the root object of the reference but of
	// its section state_projections.
	StateProjections []Projection
	Provenance       Provenance
	// Requires is what the whole map needs. It is no field of schema v1, so it
	// is worth a warning, but a map that says it would fail later without it.
	Requires Requirements
	// Draft means that the map deviates from schema v1 and was read because
	// drafts are accepted; DraftVersion is its version where that is a text,
	// such as 0.1.0-working.
	Draft        bool
	DraftVersion string
	// Files are the declared companions, x_actions.files of the root. Only
	// declared files may be read.
	Files []File
	// XActions is the whole x_actions member of the root; nil when absent.
	XActions   json.RawMessage
	Extensions Extensions
	// Raw is the document.
	Raw json.RawMessage
}

// Tool returns the tool of this name, or nil.
func (m *Manifest) Tool(name string) *Tool {
	for i := range m.Tools {
		if m.Tools[i].Name == name {
			return &m.Tools[i]
		}
	}
	return nil
}

// State returns the state of this name, or nil.
func (m *Manifest) State(name string) *State {
	return entry(m.States, func(s *State) bool { return s.Name == name })
}

// Transition returns the transition of this name, or nil.
func (m *Manifest) Transition(name string) *Transition {
	return entry(m.Transitions, func(t *Transition) bool { return t.Name == name })
}

// Signal returns the signal of this name, or nil.
func (m *Manifest) Signal(name string) *Signal {
	return entry(m.Signals, func(s *Signal) bool { return s.Name == name })
}

// Attachment returns the attachment of this id, or nil.
func (m *Manifest) Attachment(id string) *Attachment {
	return entry(m.Attachments, func(a *Attachment) bool { return a.ID == id })
}

// Check returns the check of this id, or nil.
func (m *Manifest) Check(id string) *Check {
	return entry(m.Checks, func(k *Check) bool { return k.ID == id })
}

func entry[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// TargetNamed returns the target that a name means where a target may be named
// instead of spelled out: that of the tool, the signal or the attachment of
// this name, or of a diagnostic, as NAME or STATE.NAME. The first that declares
// one counts, in this order; nil when none does.
func (m *Manifest) TargetNamed(name string) *Target {
	if t := m.Tool(name); t != nil && t.Target != nil {
		return t.Target
	}
	if s := m.Signal(name); s != nil && s.Target != nil {
		return s.Target
	}
	if a := m.Attachment(name); a != nil && a.Target != nil {
		return a.Target
	}
	for i := range m.States {
		s := &m.States[i]
		for j := range s.Diagnostics {
			d := &s.Diagnostics[j]
			if d.Target != nil && d.Name != "" && (d.Name == name || s.Name+"."+d.Name == name) {
				return d.Target
			}
		}
	}
	return nil
}

// Surface says where a map applies. It is metadata, not authority: a page is
// matched by the folder of its map.
type Surface struct {
	Origin      string
	Name        string
	Kind        string
	Description string
	SurfaceID   string
	// URLPatterns are pages that the map applies to, and to no others: an older
	// field, see docs/explanation/maps.md. Empty means every page of its site.
	URLPatterns []string
	Extensions  Extensions
}

// Provenance is review and revision metadata.
type Provenance struct {
	CreatedBy, CreatedAt   string
	UpdatedBy, UpdatedAt   string
	ReviewedBy, ReviewedAt string
	Source                 json.RawMessage // text or source hints
	Revision               json.RawMessage // text or a number
	Extensions             Extensions
	Raw                    json.RawMessage
}

// File is a companion of a map: a skill, a reference, data.
type File struct {
	ID          string
	Path        string // with / separators, relative to the map's folder, or scopes/... from the storage root
	Kind        string // "reference" unless declared
	Title       string
	Description string
	ReadWhen    string
	Extensions  Extensions
}
