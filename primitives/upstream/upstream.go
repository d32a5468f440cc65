// Package upstream says which primitives the upstream extension has and which arguments it reads. It answers
// from a table that a test generates from the extension's manifest, and from a few lines about its code. It
// checks no value and runs nothing. Package primitives asks it under the quirk upstream_vocabulary.
package upstream

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"sync"
)

// Vocabulary has the primitives that the manifest of the extension declares.
type Vocabulary struct {
	// Version of the extension that the table was made from.
	Version string `json:"version"`
	// Arguments are the names that a primitive declares, by its name.
	Arguments map[string][]string `json:"arguments"`
}

//go:embed data/vocabulary.json
var table []byte

var vocabulary = sync.OnceValue(func() Vocabulary {
	var v Vocabulary
	if err := json.Unmarshal(table, &v); err != nil {
		panic(err) // embedded
	}
	return v
})

// undeclared are arguments that the code of the extension reads although no
// schema of its manifest declares them, with the function that reads them.
var undeclared = map[string][]string{
	"cursor.move_to":       {"id"},                                        // markerMoveTo
	"dom.observe.visible":  {"frame", "max_matches", "max_payload_bytes"}, // domObserveVisible
	"dom.snapshot_text":    {"frame"},                                     // domSnapshotText
	"locator.element_info": {"auto_scroll"},                               // locatorElementInfo
	"marker.query":         {"marker"},                                    // markerQuery
	"pointer.drag":         {"trusted", "points", "move_delay_ms"},        // dispatchTrustedDrag
	"pointer.move_to":      {"id"},                                        // markerMoveTo
}

// Has reports whether the extension has a primitive of this name.
func Has(primitive string) bool {
	_, ok := vocabulary().Arguments[primitive]
	return ok
}

// Reads reports whether the extension reads the argument of the primitive. It
// ignores every other.
func Reads(primitive, argument string) bool {
	return slices.Contains(vocabulary().Arguments[primitive], argument) ||
		slices.Contains(undeclared[primitive], argument)
}

// added are the members of locators that this host added.
var added = []string{
	"ref", "role", "name", "label", "near", "placeholder", "test_id",
	"has_text", "xpath", "within", "has", "nearest_to", "nth", "exact", "strict", "pierce",
}

// AddedToLocators reports whether a member of a locator is one that this host
// added. The extension ignores it.
func AddedToLocators(member string) bool { return slices.Contains(added, member) }

// Names lists the primitives of the extension, sorted.
func Names() []string { return slices.Sorted(maps.Keys(vocabulary().Arguments)) }
