package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Finding is something that is wrong at a place of a file.
type Finding struct {
	Rule    string // a code, or what kind of thing was tested
	Level   string // error, warning or note
	Message string
	Place   Place
	Subject string // what it was found in: the id of a test; "" is the place
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
	quarantined := map[string]bool{}
	r.Walk(func(path []string, t *Test) {
		inside := quarantined[strings.Join(path, "\x00")]
		if inside || t.Outcome == Quarantined {
			quarantined[strings.Join(append(path[:len(path):len(path)], t.Name), "\x00")] = true
		}
		level := "error"
		switch {
		case t.told(): // its steps say it, each at its own place
			return
		case t.Outcome == Drifted, t.Outcome == Flaky, t.Outcome == Quarantined, t.Outcome.Red() && inside:
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
			found := Finding{
				Rule: rule, Level: level, Message: prefixes(path, t) + t.Name + ": " + f.Message, Place: place,
				Subject: cmp.Or(t.ID, idOf(path, t)),
			}
			all = append(all, ranked{found, levels[level], min(i, 1), t.weight()})
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

// told reports whether steps of the test say all that is wrong with it.
func (t *Test) told() bool {
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.Class != "" && (s.Outcome.shows() || s.Outcome == Drifted || s.told()) {
			return true
		}
	}
	return false
}

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

// files finds the file of a suite.
func (r Run) files() func(path []string) string {
	byName := map[string]string{}
	for _, s := range r.Suites {
		byName[s.Name] = s.File
	}
	return func(path []string) string { return byName[path[0]] }
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifRule struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	Short sarifText `json:"shortDescription"`
	Full  sarifText `json:"fullDescription"`
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
	// Fingerprints tell a finding in the next run as the same, and two at one place apart.
	Fingerprints map[string]string `json:"partialFingerprints"`
}

// SARIF is the findings of a version of the program, "" for an unknown one, as a document of SARIF 2.1.0.
func SARIF(findings []Finding, version string) ([]byte, error) {
	rules, results := []sarifRule{}, []sarifResult{}
	seen := map[string]int{}
	for _, f := range findings {
		at := slices.IndexFunc(rules, func(r sarifRule) bool { return r.ID == f.Rule })
		if at < 0 {
			at = len(rules)
			rules = append(rules, ruleOf(f.Rule))
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
		one.Fingerprints = map[string]string{fingerprint: fingerprintOf(f, seen)}
		results = append(results, one)
	}
	return indented(map[string]any{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"version": "2.1.0",
		"runs": []any{map[string]any{
			"tool":    map[string]any{"driver": driver(rules, version)},
			"results": results,
		}},
	})
}

// driver is the program that found it.
func driver(rules []sarifRule, version string) map[string]any {
	out := map[string]any{
		"name": "outrider", "informationUri": "https://github.com/outrider-run/outrider", "rules": rules,
	}
	if version != "" {
		out["version"] = version
	}
	return out
}

// fingerprint is the name of ours among the fingerprints of a result. A way to make it that gives other
// values has another number.
const fingerprint = "outrider/v1"

// fingerprintOf is the same for a finding in every run: of its rule, what it was found in and the place there
// as the file names it, never of its line and its text, which change. seen counts equal ones.
func fingerprintOf(f Finding, seen map[string]int) string {
	key := strings.Join([]string{f.Rule, fromHere(f.Place.File), f.Place.Pointer, f.Subject}, "\x00")
	if f.Subject == "" && f.Place.Pointer == "" {
		key += "\x00" + f.Message // nothing else tells it from its neighbours
	}
	n := seen[key]
	seen[key]++
	sum := sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(n)))
	return hex.EncodeToString(sum[:16])
}

// ruleTexts say what is tested, by the first part of rules.
var ruleTexts = map[string]string{
	"checks":   "A check of the maps of a page",
	"states":   "A state that a map declares",
	"page":     "The document of a page, and what must hold beside its checks",
	"plan":     "A case or a step of a plan",
	"repair":   "A target that repair looked at",
	"fleet":    "A job of a fleet",
	"lint":     "What could be better in a map",
	"validate": "A rule of the format of maps",
}

// outcomeTexts say what the outcomes mean that are the last part of a rule.
var outcomeTexts = map[Outcome]string{
	Failed:  "did not hold",
	Broken:  "could not be judged",
	Drifted: "holds for another element than the map names",
	Flaky:   "failed first, and held when it was tried again",

	Quarantined: "did not hold, and is quarantined",
}

// ruleOf is a rule with its texts.
func ruleOf(id string) sarifRule {
	kind, rest, _ := strings.Cut(id, ".")
	short := cmp.Or(ruleTexts[kind], "A test of the kind "+kind)
	meaning, isOutcome := outcomeTexts[Outcome(rest)]
	if !isOutcome {
		words := strings.ReplaceAll(rest, "_", " ")
		return sarifRule{id, id, sarifText{kind + ": " + words}, sarifText{short + ": " + words + "."}}
	}
	return sarifRule{id, id, sarifText{kind + ": " + rest}, sarifText{short + " " + meaning + "."}}
}

// noFile stands for the file of what was found without a map or a plan.
const noFile = "actions.json"

// artifactOf is a path as SARIF has it: below the folder of the run it is relative to the
// root of the sources, elsewhere it is an address.
func artifactOf(path string) sarifArtifact {
	path = fromHere(path)
	if !filepath.IsAbs(path) {
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
