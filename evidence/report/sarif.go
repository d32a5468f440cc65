package report

import (
	"encoding/json"
	"net/url"
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

// Findings are what the red and the drifted tests say about files.
func (r Run) Findings() []Finding {
	var out []Finding
	r.Each(func(_ []string, t *Test) {
		level := "error"
		switch {
		case t.Outcome == Drifted || t.Outcome == Flaky:
			level = "warning"
		case !t.Outcome.Red():
			return
		}
		rule, _, _ := strings.Cut(t.Class, ".")
		rule += "." + string(t.Outcome)
		if len(t.Failures) == 0 {
			out = append(out, Finding{rule, level, t.Name + ": " + t.Message, t.Place})
		}
		for _, f := range t.Failures {
			place := f.Place
			if place.File == "" {
				place = t.Place
			}
			out = append(out, Finding{rule, level, t.Name + ": " + f.Message, place})
		}
	})
	return out
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

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	} `json:"physicalLocation"`
	Logical []map[string]string `json:"logicalLocations,omitempty"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
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
		if f.Place.File != "" {
			var l sarifLocation
			l.Physical.Artifact.URI = fileURI(f.Place.File)
			if f.Place.Line > 0 {
				l.Physical.Region = &sarifRegion{f.Place.Line}
			}
			if f.Place.Pointer != "" {
				l.Logical = []map[string]string{{"fullyQualifiedName": f.Place.Pointer}}
			}
			one.Locations = []sarifLocation{l}
		}
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

// fileURI is a path as SARIF has it: relative ones stay so.
func fileURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}

func indented(v any) ([]byte, error) {
	content, err := json.MarshalIndent(v, "", "  ")
	return append(content, '\n'), err
}
