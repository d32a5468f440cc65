package runtime

import (
	"crypto/sha256"
	"encoding/json"
	"io/fs"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
	"github.com/outrider-run/outrider/workflow"
)

// Maps are the site maps a host offers. Files come first; a bundle from a
// bridge is kept beside them and merged or replaced on import. A call may also
// bring its own map, which is seen by that call only.
type Maps struct {
	registry *primitives.Registry
	engine   expr.Engine
	how      MapOptions
	paths    []string // of the files

	reloading sync.Mutex // one reload at a time

	mu       sync.Mutex
	files    *sites.Library
	bundle   *sites.Bundle
	bundled  *sites.Library // of the bundle
	imported string         // when the bundle came, RFC 3339
	offered  *offer
	supplied []suppliedOffer // most recent last

	web webImports
}

// offer is a library with what was compiled of it, each thing at its first use.
type offer struct {
	library        *sites.Library
	programs       sync.Map // *manifest.Tool → *workflow.Program
	projections    sync.Map // *manifest.Projection → *projection.Projection
	postconditions sync.Map // *manifest.Tool → *postcondition, nil for none
	executions     sync.Map // *manifest.Tool → *execution
	blocked        sync.Map // *sites.Map → []string
}

type suppliedOffer struct {
	key   [sha256.Size]byte
	offer *offer
}

// maxSupplied bounds the maps kept for calls that bring the same map again, as
// a bridge does with every call of a site action.
const maxSupplied = 16

// NoMaps offers nothing until a bundle is imported or a call brings its map.
func NoMaps(registry *primitives.Registry, engine expr.Engine) *Maps {
	return &Maps{registry: registry, engine: engine, offered: &offer{}}
}

// MapOptions say how maps are read.
type MapOptions struct {
	// AcceptDrafts reads maps of before version 1; see manifest.Options.
	AcceptDrafts bool
	// Salvage reads a map as far as it can be read (quirks.MapsAsTheyCome); see
	// manifest.Options.
	Salvage bool
	// Arguments says what becomes of arguments of workflow steps that the
	// primitive does not take. A host finds them when the step runs, and offers
	// what else the map has; who checks a map wants to know before.
	Arguments ArgumentCheck
}

// ArgumentCheck says whether the written arguments of steps are checked when a
// map is read.
type ArgumentCheck int

const (
	// ArgumentsUnchecked leaves them to the call.
	ArgumentsUnchecked ArgumentCheck = iota
	// ArgumentsRefused: what a call is certain to refuse is an error of the map.
	ArgumentsRefused
	// ArgumentsMended: it is a warning, since the profile mends arguments
	// (quirks.LenientArguments) instead of refusing them.
	ArgumentsMended
)

// LoadMaps loads map files and storage folders. An invalid map contributes
// nothing; its report has everything that is wrong with it. A path that cannot
// be read has a report with an error too.
func LoadMaps(paths []string, registry *primitives.Registry, engine expr.Engine, how MapOptions) (*Maps, []sites.FileReport) {
	m := NoMaps(registry, engine)
	m.how, m.paths = how, paths
	library, reports := sites.Load(paths, m.options())
	m.files, m.offered = library, &offer{library: library}
	return m, reports
}

// MapFromBytes offers one map, which applies to every page unless name lies in
// a site folder.
func MapFromBytes(name string, data []byte, registry *primitives.Registry, engine expr.Engine) (*Maps, error) {
	m := NoMaps(registry, engine)
	library, err := sites.FromMap(name, data, m.options())
	if err != nil {
		return nil, err
	}
	m.files, m.offered = library, &offer{library: library}
	return m, nil
}

// MapFromFiles is MapFromBytes for a map that lies among files, from which it
// may import.
func MapFromFiles(files fs.FS, name string, registry *primitives.Registry, engine expr.Engine) (*Maps, error) {
	m := NoMaps(registry, engine)
	library, err := sites.FromFiles(files, name, m.options())
	if err != nil {
		return nil, err
	}
	m.files, m.offered = library, &offer{library: library}
	return m, nil
}

// options wires the checks of the packages above sites into the map gate.
func (m *Maps) options() sites.Options {
	return sites.Options{
		AcceptDrafts:    m.how.AcceptDrafts,
		Salvage:         m.how.Salvage,
		Known:           m.known,
		CheckProjection: m.projectionProblems,
		WarnProjection:  m.projectionWarnings,
		CheckWorkflow:   m.workflowProblems,
		WarnArguments:   m.stepArgumentWarnings,
	}
}

// stepArgumentWarnings tells what is wrong with the arguments of an abstract
// step whose type is a primitive. They have no expressions. Whether the step
// runs at all is up to the mode, so nothing of them is an error.
func (m *Maps) stepArgumentWarnings(primitive string, args json.RawMessage) []manifest.Problem {
	if m.how.Arguments == ArgumentsUnchecked {
		return nil
	}
	var out []manifest.Problem
	for _, p := range m.registry.CheckArguments(primitive, args, func(string) bool { return false }) {
		out = append(out, manifest.Problem{Pointer: p.Path, Code: p.Code, Message: p.Message})
	}
	return out
}

// workflowProblems compiles a workflow once and tells what is wrong with it and
// what its author hardly meant.
func (m *Maps) workflowProblems(raw json.RawMessage) (problems, warnings []manifest.Problem) {
	program, wrong := workflow.Compile(raw, workflow.CompileOptions{Engine: m.engine, Known: m.known, Names: m.registry.Names, Arguments: m.arguments()})
	for _, p := range wrong {
		problems = append(problems, manifest.Problem{Pointer: p.Pointer, Code: p.Code, Message: p.Message})
	}
	if program == nil {
		return problems, nil
	}
	for _, p := range program.Warnings() {
		warnings = append(warnings, manifest.Problem{Pointer: p.Pointer, Code: p.Code, Message: p.Message})
	}
	if pc := program.Postcondition(); pc != nil {
		warnings = append(warnings, m.postconditionWarnings(pc)...)
		if len(problems) == 0 {
			if _, err := compilePostcondition(pc, "", m.engine); err != nil {
				problems = append(problems, manifest.Problem{Pointer: "/postcondition", Code: err.Code, Message: err.Message})
			}
		}
	}
	return problems, warnings
}

// arguments is the check of steps' arguments that the options ask for.
func (m *Maps) arguments() func(string, json.RawMessage, func(string) bool) []primitives.ArgumentProblem {
	if m.how.Arguments == ArgumentsUnchecked {
		return nil
	}
	return func(name string, args json.RawMessage, open func(string) bool) []primitives.ArgumentProblem {
		found := m.registry.CheckArguments(name, args, open)
		for i := range found {
			found[i].Certain = found[i].Certain && m.how.Arguments == ArgumentsRefused
		}
		return found
	}
}

func (m *Maps) known(primitive string) bool {
	_, ok := m.registry.Lookup(primitive)
	return ok
}

// current is what is offered now.
func (m *Maps) current() *offer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.offered
}

// of returns what a map that came with a call offers, checking it again only
// when it changed.
func (m *Maps) of(supplied *SuppliedMap) (*offer, *fault.Error) {
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
	o := &offer{library: library}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.supplied) == maxSupplied {
		m.supplied = m.supplied[1:]
	}
	m.supplied = append(m.supplied[:len(m.supplied):len(m.supplied)], suppliedOffer{key, o})
	return o, nil
}

// program compiles the workflow of a tool of o, once.
func (m *Maps) program(o *offer, tool *manifest.Tool) (*workflow.Program, *fault.Error) {
	if p, ok := o.programs.Load(tool); ok {
		return p.(*workflow.Program), nil
	}
	p, problems := workflow.Compile(tool.Workflow, workflow.CompileOptions{Engine: m.engine, Known: m.known, Names: m.registry.Names})
	if len(problems) > 0 {
		first := problems[0]
		return nil, fault.New(first.Code, "%s", first.Message).With("pointer", first.Pointer).With("step_id", first.StepID).With("field", first.Field)
	}
	o.programs.Store(tool, p)
	return p, nil
}

func (m *Maps) importBundle(raw json.RawMessage) (json.RawMessage, *fault.Error) {
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
	m.offered = &offer{library: sites.Join(m.files, library)}
	out, e := json.Marshal(result)
	if e != nil {
		return nil, fault.Wrap(fault.Internal, e, "encoding the import result")
	}
	return out, nil
}
