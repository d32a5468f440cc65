// Package manifest is the one gate for actions.json maps: the types of schema
// version 1, the parser and every validation rule.
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

// Surface says where a map applies. It is metadata, not authority: a page is
// matched by the folder of its map.
type Surface struct {
	Origin      string
	Name        string
	Kind        string
	Description string
	SurfaceID   string
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
