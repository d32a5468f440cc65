package primitives

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed dictionary/*.json dictionary/fragments/*.json
var dictionary embed.FS

const dictionaryFolder = "dictionary"

// recordFile returns the text of the record of the named primitive.
func recordFile(name string) ([]byte, error) {
	return dictionary.ReadFile(dictionaryFolder + "/" + name + ".json")
}

func parseRecord(text []byte) (*Record, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var r Record
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("decoding the record: %w", err)
	}
	var err error
	if r.InputSchema, err = expand(r.InputSchema); err != nil {
		return nil, err
	}
	if r.Acts {
		extended := withEffects(r.InputSchema)
		r.ownEffects = bytes.Equal(extended, r.InputSchema)
		r.InputSchema = extended
	}
	if r.OutputSchema, err = expand(r.OutputSchema); err != nil {
		return nil, err
	}
	return &r, nil
}

// records is every record of the dictionary folder, by name. It is independent
// of the catalog, so that a test can compare the two.
var records = sync.OnceValue(func() []*Record {
	entries, err := dictionary.ReadDir(dictionaryFolder)
	if err != nil {
		panic(err) // embedded
	}
	var out []*Record
	for _, e := range entries {
		if e.IsDir() {
			continue // fragments
		}
		text, err := recordFile(strings.TrimSuffix(e.Name(), ".json"))
		if err != nil {
			panic(err) // embedded
		}
		r, err := parseRecord(text)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", e.Name(), err)) // embedded
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Record) int { return strings.Compare(a.Name, b.Name) })
	return out
})

// Dictionary returns every record, sorted by name. The records are shared: do
// not change them.
func Dictionary() []*Record { return slices.Clone(records()) }
