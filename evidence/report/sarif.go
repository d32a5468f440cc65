package report

import (
	"cmp"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Finding is something that is wrong at a place of a file.
type Finding struct {
	Rule    string // a code, or what kind of thing was tested
	Level   string // error, warning or note
	Message string
	Place   Place
}

// Findings are what the red and the drifted tests say about files: of each test its first
// failure before the further ones of any, what is red before what is not, and what could
// not be judged or is critical before the rest.
func (r Run) Findings() []Finding {
	type ranked struct {
		Finding
		level, further, weight int
	}
	var all []ranked
	prefixes, files := r.prefixes(), r.files()
	r.Each(func(path []string, t *Test) {
		level := "error"
		switch {
		case t.Outcome == Drifted || t.Outcome == Flaky:
			level = "warning"
		case !t.Outcome.Red():
			return
		}
		rule, _, _ := strings.Cut(t.Class, ".")
		rule += "." + string(t.Outcome)
		failures := t.Failures
		if len(failures) == 0 {
			failures = []Failure{{Message: t.Message}}
		}
		for i, f := range failures {
			place := f.Place
			if place.File == "" {
				place = t.Place
			}
			if place.File == "" {
				place.File = files(path)
			}
			all = append(all, ranked{Finding{rule, level, prefixes(path, t) + t.Name + ": " + f.Message, place}, levels[level], min(i, 1), t.weight()})
		}
	})
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.further, b.further), cmp.Compare(a.weight, b.weight))
	})
	out := make([]Finding, len(all))
	for i, f := range all {
		out[i] = f.Finding
	}
	return out
}

var levels = map[string]int{"error": 0, "warning": 1, "note": 2}

// weight says how early a reader wants a test that is not well.
func (t *Test) weight() int {
	weights := map[string]int{"checks.critical": 1, "checks.major": 3, "checks.minor": 4, "checks.info": 5}
	switch w, ok := weights[t.Class]; {
	case t.Outcome == Broken:
		return 0
	case ok:
		return w
	}
	return 2
}

// files finds the file of a suite, or of the one around it.
func (r Run) files() func(path []string) string {
	byPath := map[string]string{}
	var walk func(path []string, file string, suites []Suite)
	walk = func(path []string, file string, suites []Suite) {
		for _, s := range suites {
			at := append(path[:len(path):len(path)], s.Name)
			own := cmp.Or(s.File, file)
			byPath[strings.Join(at, "\x00")] = own
			walk(at, own, s.Suites)
		}
	}
	walk(nil, "", r.Suites)
	return func(path []string) string { return byPath[strings.Join(path, "\x00")] }
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifRule struct {
	ID string `json:"id"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId,omitempty"`
}

type sarifLocation struct {
	Physical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	} `json:"physicalLocation"`
	Logical []map[string]string `json:"logicalLocations,omitempty"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

// SARIF is the findings as a document of SARIF 2.1.0.
func SARIF(findings []Finding) ([]byte, error) {
	rules, results := []sarifRule{}, []sarifResult{}
	for _, f := range findings {
		at := slices.IndexFunc(rules, func(r sarifRule) bool { return r.ID == f.Rule })
		if at < 0 {
			at = len(rules)
			rules = append(rules, sarifRule{f.Rule})
		}
		one := sarifResult{RuleID: f.Rule, RuleIndex: at, Level: f.Level, Message: sarifText{line(f.Message)}}
		// Code scanning refuses a document whole when one result of it is nowhere.
		var l sarifLocation
		l.Physical.Artifact = artifactOf(cmp.Or(f.Place.File, noFile))
		l.Physical.Region = sarifRegion{max(f.Place.Line, 1)}
		if f.Place.Pointer != "" {
			l.Logical = []map[string]string{{"fullyQualifiedName": f.Place.Pointer}}
		}
		one.Locations = []sarifLocation{l}
		results = append(results, one)
	}
	return indented(map[string]any{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"version": "2.1.0",
		"runs": []any{map[string]any{
			"tool":    map[string]any{"driver": map[string]any{"name": "outrider", "informationUri": "https://github.com/outrider-run/outrider", "rules": rules}},
			"results": results,
		}},
	})
}

// noFile stands for the file of what was found without a map or a plan.
const noFile = "actions.json"

// artifactOf is a path as SARIF has it: below the folder of the run it is relative to the
// root of the sources, elsewhere it is an address.
func artifactOf(path string) sarifArtifact {
	if path = fromHere(path); !filepath.IsAbs(path) {
		return sarifArtifact{(&url.URL{Path: filepath.ToSlash(path)}).String(), "%SRCROOT%"}
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	if !strings.HasPrefix(u.Path, "/") { // a drive
		u.Path = "/" + u.Path
	}
	return sarifArtifact{URI: u.String()}
}

// fromHere is a path relative to the working directory, when it is below it.
func fromHere(path string) string {
	if !filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

func indented(v any) ([]byte, error) {
	content, err := json.MarshalIndent(v, "", "  ")
	return append(content, '\n'), err
}
