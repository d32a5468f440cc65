// Package mapset decides which maps are on offer: files, bundles, maps that come with a
// call, and what they import from the web; it compiles what they declare, once. It
// runs nothing of them. The runtime owns one set, and its rooms use it.
package mapset

import (
	"crypto/sha256"
	"encoding/json"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/upstream"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/checkcache"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
	"github.com/outrider-run/outrider/workflow"
)

// Maps are the site maps a host offers. Files come first; a bundle from a
// bridge is kept beside them and merged or replaced on import. A call may also
// bring its own map, which is seen by that call only.
type Maps struct {
	registry *primitives.Registry
	Engine   expr.Engine
	how      Options
	paths    []string // of the files

	reloading sync.Mutex // one reload at a time

	mu       sync.Mutex
	files    *sites.Library
	bundle   *sites.Bundle
	bundled  *sites.Library // of the bundle
	imported string         // when the bundle came, RFC 3339
	offered  *Offer
	supplied []suppliedOffer // most recent last

	web webImports
}

// Offer is a library with what was compiled of it, each thing at its first use.
type Offer struct {
	Library        *sites.Library
	programs       sync.Map // *manifest.Tool → *workflow.Program
	projections    sync.Map // *manifest.Projection → *projection.Projection
	postconditions sync.Map // *manifest.Tool → *postcondition, nil for none
	Plans          sync.Map // *manifest.Tool → *execution
	blocked        sync.Map // *sites.Map → []string
}

type suppliedOffer struct {
	key   [sha256.Size]byte
	offer *Offer
}

// maxSupplied bounds the maps kept for calls that bring the same map again, as
// a bridge does with every call of a site action.
const maxSupplied = 16

// New offers nothing until a bundle is imported or a call brings its map.
func New(registry *primitives.Registry, engine expr.Engine) *Maps {
	return &Maps{registry: registry, Engine: engine, offered: &Offer{}}
}

// Options say how maps are read.
type Options struct {
	// AcceptDrafts reads maps of before version 1; see manifest.Options.
	AcceptDrafts bool
	// Salvage reads a map as far as it can be read (quirks.MapsAsTheyCome); see
	// manifest.Options.
	Salvage bool
	// Whole refuses a map for one tool or state projection that breaks a rule, as
	// who checks maps wants it. A host offers the rest of such a map, unless it is
	// a file that the user names.
	Whole bool
	// Upstream knows the primitives and arguments of the extension only
	// (quirks.UpstreamVocabulary).
	Upstream bool
	// Arguments says what becomes of arguments of workflow steps that the
	// primitive does not take. A host finds them when the step runs, and offers
	// what else the map has; who checks a map wants to know before.
	Arguments ArgumentCheck
	// Inspect reports what a map declares that is certain to be refused when it is
	// used; see sites.Options. Nil is for hosts, which offer what else the map has.
	Inspect func(m *Maps, l *sites.Library, in *sites.Map) []manifest.Problem
	// Project are those of the paths that a project file names; see sites.Options.
	Project []string
	// Checked remembers the workflows that nothing is wrong with. Nil is nobody; so is every one where arguments are
	// checked, for then somebody wants to know.
	Checked *checkcache.Texts
}

// ArgumentCheck reports whether the written arguments of steps are checked when a
// map is read.
type ArgumentCheck int

const (
	// ArgumentsUnchecked leaves them to the call.
	ArgumentsUnchecked ArgumentCheck = iota
	// ArgumentsRefused: what a call is certain to refuse is an error of the map.
	ArgumentsRefused
	// ArgumentsCoerced: it is a warning, since the profile mends arguments
	// (quirks.LenientArguments) instead of refusing them.
	ArgumentsCoerced
)

// Read loads map files and storage folders in the background: the maps offer nothing until
// read has returned. An invalid map contributes nothing; its report has everything that is
// wrong with it. A path that cannot be read has a report with an error too.
func Read(
	paths []string, registry *primitives.Registry, engine expr.Engine, how Options,
) (m *Maps, read func() []sites.FileReport) {
	m = New(registry, engine)
	m.how, m.paths = how, paths
	if len(paths) == 0 {
		library, reports := sites.Load(paths, m.options())
		m.files, m.offered = library, &Offer{Library: library}
		return m, func() []sites.FileReport { return reports }
	}
	loaded := make(chan []sites.FileReport, 1)
	go func() {
		library, reports := sites.Load(paths, m.options())
		_ = how.Checked.Save() // without it the next start takes longer
		m.mu.Lock()
		m.files, m.offered = library, &Offer{Library: library}
		m.mu.Unlock()
		loaded <- reports
	}()
	return m, sync.OnceValue(func() []sites.FileReport { return <-loaded })
}

// FromBytes offers one map, which applies to every page unless name lies in
// a site folder.
func FromBytes(name string, data []byte, registry *primitives.Registry, engine expr.Engine) (*Maps, error) {
	m := New(registry, engine)
	how := m.options()
	how.Parts = false // who hands a map over wants to know what is wrong with it
	library, err := sites.FromMap(name, data, how)
	if err != nil {
		return nil, err
	}
	m.files, m.offered = library, &Offer{Library: library}
	return m, nil
}

// FromFiles is FromBytes for a map that lies among files, from which it
// may import.
func FromFiles(files fs.FS, name string, registry *primitives.Registry, engine expr.Engine) (*Maps, error) {
	m := New(registry, engine)
	how := m.options()
	how.Parts = false
	library, err := sites.FromFiles(files, name, how)
	if err != nil {
		return nil, err
	}
	m.files, m.offered = library, &Offer{Library: library}
	return m, nil
}

// As has maps that come from here on read as the options salvage and upstream set.
// It is called before the first of them.
func (m *Maps) As(salvage, upstream bool) {
	if salvage && !m.how.Salvage || upstream && !m.how.Upstream { // else somebody may be reading maps
		m.how.Salvage, m.how.Upstream = m.how.Salvage || salvage, m.how.Upstream || upstream
	}
}

// options wires the checks of the packages above sites into the map gate.
func (m *Maps) options() sites.Options {
	var needs func(*sites.Map) map[sites.Permission][]string
	if m.how.Arguments != ArgumentsUnchecked { // somebody checks the map
		needs = m.needs
	}
	var inspect func(*sites.Library, *sites.Map) (errors, warnings []manifest.Problem)
	if m.how.Inspect != nil {
		inspect = func(l *sites.Library, in *sites.Map) (errors, warnings []manifest.Problem) {
			found := m.how.Inspect(m, l, in)
			if m.how.Arguments == ArgumentsCoerced {
				return nil, found
			}
			return found, nil
		}
	}
	return sites.Options{
		Inspect:         inspect,
		Needs:           needs,
		AcceptDrafts:    m.how.AcceptDrafts,
		Salvage:         m.how.Salvage,
		Parts:           !m.how.Whole && m.how.Arguments == ArgumentsUnchecked,
		Known:           m.Known,
		Project:         m.how.Project,
		CheckProjection: m.projectionProblems,
		WarnProjection:  m.projectionWarnings,
		CheckWorkflow:   m.workflowProblems,
		WarnArguments:   m.stepArgumentWarnings,
	}
}

// Known reports whether the dictionary has a primitive.
func (m *Maps) Known(primitive string) bool {
	if m.how.Upstream && !upstream.Has(primitive) {
		return false
	}
	_, ok := m.registry.Lookup(primitive)
	return ok
}

// names lists the primitives that are known.
func (m *Maps) names() []string {
	return slices.DeleteFunc(m.registry.Names(), func(name string) bool { return !m.Known(name) })
}

// compiling is how workflows are compiled, without a check of arguments.
func (m *Maps) compiling() workflow.CompileOptions {
	how := workflow.CompileOptions{Engine: m.Engine, Known: m.Known, Names: m.names, DeferredExpressions: m.how.Salvage}
	if m.how.Upstream {
		how.Dictionary = "the extension"
	}
	return how
}

// Current returns the offer of this moment.
func (m *Maps) Current() *Offer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.offered
}

// Supplied returns what a map that came with a call offers, checking it again only
// when it changed.
func (m *Maps) Supplied(supplied *call.SuppliedMap) (*Offer, *fault.Error) {
	hash := sha256.New()
	hash.Write([]byte(supplied.Path))
	hash.Write([]byte{0})
	hash.Write(supplied.JSON)
	var key [sha256.Size]byte
	hash.Sum(key[:0])
	m.mu.Lock()
	for i, s := range m.supplied {
		if s.key == key {
			m.supplied = append(append(m.supplied[:i:i], m.supplied[i+1:]...), s)
			m.mu.Unlock()
			return s.offer, nil
		}
	}
	m.mu.Unlock()
	library, err := sites.FromMap(supplied.Path, supplied.JSON, m.options())
	if err != nil {
		return nil, err
	}
	o := &Offer{Library: library}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.supplied) == maxSupplied {
		m.supplied = m.supplied[1:]
	}
	m.supplied = append(m.supplied[:len(m.supplied):len(m.supplied)], suppliedOffer{key, o})
	return o, nil
}

// Bundle is the bundle that was imported, and when, RFC 3339; nil for none.
func (m *Maps) Bundle() (bundle *sites.Bundle, imported string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bundle, m.imported
}

// ImportBundle takes a storage bundle in place of, or merged into, the maps
// that an earlier bundle brought.
func (m *Maps) ImportBundle(raw json.RawMessage) (json.RawMessage, *fault.Error) {
	in, err := sites.ParseBundle(raw)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	merged, result := m.bundle.Import(in, time.Now())
	library, _ := merged.Library(m.options())
	m.bundle, m.imported = merged, result.ImportedAt
	m.bundled = library
	m.offered = &Offer{Library: sites.Join(m.files, library)}
	out, e := json.Marshal(result)
	if e != nil {
		return nil, fault.Wrap(fault.Internal, e, "encoding the import result")
	}
	return out, nil
}
