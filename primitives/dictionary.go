package primitives

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

// dictionary is the records of all families, <family>/<name>.json beside the
// handler, and fragments/<name>.json.
//
//go:embed */*.json
var dictionary embed.FS

const fragmentFolder = "fragments"

// recordPaths is where the record of each primitive is, by its name.
var recordPaths = sync.OnceValue(func() map[string]string {
	files, err := fs.Glob(dictionary, "*/*.json")
	if err != nil {
		panic(err) // the pattern is right
	}
	paths := make(map[string]string, len(files))
	for _, file := range files {
		if folder, name := path.Split(file); folder != fragmentFolder+"/" {
			paths[strings.TrimSuffix(name, ".json")] = file
		}
	}
	return paths
})

// recordFile returns the text of the record of the named primitive.
func recordFile(name string) ([]byte, error) {
	file, ok := recordPaths()[name]
	if !ok {
		return nil, fmt.Errorf("no family has a file %s.json: %w", name, fs.ErrNotExist)
	}
	return dictionary.ReadFile(file)
}

// steps are those that StepOf has read, by name.
var steps sync.Map

// StepOf returns how workflows and recordings treat the named primitive. It is the zero Step for a primitive
// that says nothing, and for a name of none.
func StepOf(name string) Step {
	if known, ok := steps.Load(name); ok {
		return known.(Step)
	}
	text, err := recordFile(name)
	if err != nil {
		return Step{} // not kept: a caller can give any name
	}
	var r struct {
		Step Step `json:"x_step"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		panic(fmt.Sprintf("%s: %v", name, err)) // embedded
	}
	steps.Store(name, r.Step)
	return r.Step
}

func parseRecord(text []byte) (*Record, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var r Record
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("decoding the record: %w", err)
	}
	var err error
	r.InputSchema, err = expand(r.InputSchema)
	if err != nil {
		return nil, err
	}
	if r.Acts {
		extended := withEffects(r.InputSchema)
		r.ownEffects = bytes.Equal(extended, r.InputSchema)
		r.InputSchema = extended
	}
	r.OutputSchema, err = expand(r.OutputSchema)
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// records is every record, by name. It is independent
// of the catalog, so that a test can compare the two.
var records = sync.OnceValue(func() []*Record {
	var out []*Record
	for name, file := range recordPaths() {
		text, err := dictionary.ReadFile(file)
		if err != nil {
			panic(err) // embedded
		}
		r, err := parseRecord(text)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", name, err)) // embedded
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Record) int { return strings.Compare(a.Name, b.Name) })
	return out
})

// Dictionary returns every record, sorted by name. The records are shared: do
// not change them.
func Dictionary() []*Record { return slices.Clone(records()) }
