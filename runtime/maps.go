package runtime

import (
	"encoding/json"
	"sync"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
	"github.com/outrider-run/outrider/workflow"
)

// Maps are the site maps a host offers, together with their compiled
// workflows. Files come first; a bundle from a bridge is kept beside them and
// replaced or merged on import.
type Maps struct {
	registry *primitives.Registry
	engine   expr.Engine
	files    *sites.Library

	mu      sync.Mutex
	bundle  json.RawMessage // the merged bundle, nil for none
	library *sites.Library  // files and bundle joined

	programs sync.Map // *manifest.Tool → *workflow.Program
}

// NoMaps offers nothing until a bundle is imported or a call brings its map.
func NoMaps(registry *primitives.Registry, engine expr.Engine) *Maps {
	return &Maps{registry: registry, engine: engine}
}

// LoadMaps loads map files and storage folders. An invalid map contributes
// nothing and is reported with everything that is wrong with it; a path that
// cannot be read is an error.
func LoadMaps(paths []string, registry *primitives.Registry, engine expr.Engine) (*Maps, []sites.FileReport, error) {
	m := NoMaps(registry, engine)
	if len(paths) == 0 {
		return m, nil, nil
	}
	library, reports, err := sites.Load(paths, m.options())
	if err != nil {
		return nil, reports, err
	}
	m.files, m.library = library, library
	return m, reports, nil
}

// MapFromBytes offers one map that applies to every page.
func MapFromBytes(name string, data []byte, registry *primitives.Registry, engine expr.Engine) (*Maps, error) {
	m := NoMaps(registry, engine)
	library, err := sites.FromMap(name, data, m.options())
	if err != nil {
		return nil, err
	}
	m.files, m.library = library, library
	return m, nil
}

// options wires the checks of the packages above sites into the map gate.
func (m *Maps) options() sites.Options {
	return sites.Options{
		Known: m.known,
		CheckWorkflow: func(raw json.RawMessage) []manifest.Problem {
			_, problems := workflow.Compile(raw, workflow.CompileOptions{Engine: m.engine, Known: m.known})
			out := make([]manifest.Problem, len(problems))
			for i, p := range problems {
				out[i] = manifest.Problem{Pointer: p.Pointer, Code: p.Code, Message: p.Message}
			}
			return out
		},
	}
}

func (m *Maps) known(primitive string) bool {
	_, ok := m.registry.Lookup(primitive)
	return ok
}

// current is what is offered now.
func (m *Maps) current() *sites.Library {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.library
}

// program compiles the workflow of a tool, once.
func (m *Maps) program(tool *manifest.Tool) (*workflow.Program, *fault.Error) {
	if p, ok := m.programs.Load(tool); ok {
		return p.(*workflow.Program), nil
	}
	p, problems := workflow.Compile(tool.Workflow, workflow.CompileOptions{Engine: m.engine, Known: m.known})
	if len(problems) > 0 {
		first := problems[0]
		return nil, fault.New(first.Code, "%s", first.Message).With("pointer", first.Pointer).With("step_id", first.StepID).With("field", first.Field)
	}
	m.programs.Store(tool, p)
	return p, nil
}
