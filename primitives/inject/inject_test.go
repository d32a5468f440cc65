package inject_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/inject"
)

func TestFilesNameOnlyDeclaredCodes(t *testing.T) {
	code := regexp.MustCompile(`(?:new Fault\(\s*|\bcode:\s*)'([^']*)'`)
	total := 0
	for _, name := range allFiles() {
		for _, m := range code.FindAllStringSubmatch(inject.Source(name), -1) {
			total++
			if _, ok := fault.Lookup(fault.Code(m[1])); !ok {
				t.Errorf("%s: code %q is not declared", name, m[1])
			}
		}
	}
	if total < 10 {
		t.Errorf("found only %d codes: the pattern is wrong", total)
	}
}

// All files share one scope. A second function of the same name would replace
// the first without a word.
func TestTopLevelNamesAreUnique(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^(?:async )?(?:function\*?|const|let|var|class) +([A-Za-z_$][\w$]*)`)
	query := regexp.MustCompile(`(?m)^queries\.(\w+) =`)
	seen := map[string]string{}
	for _, name := range allFiles() {
		src := inject.Source(name)
		for _, m := range declared.FindAllStringSubmatch(src, -1) {
			if first, ok := seen[m[1]]; ok {
				t.Errorf("%s is declared in %s and in %s", m[1], first, name)
			}
			seen[m[1]] = name
		}
		for _, m := range query.FindAllStringSubmatch(src, -1) {
			if first, ok := seen["queries."+m[1]]; ok {
				t.Errorf("query %s is in %s and in %s", m[1], first, name)
			}
			seen["queries."+m[1]] = name
		}
	}
}

func TestFilesAreWrittenLikeTheOthers(t *testing.T) {
	for _, name := range allFiles() {
		src := inject.Source(name)
		if !strings.HasPrefix(src, "// "+firstWord(name)) {
			t.Errorf("%s does not begin with a comment that says what it answers", name)
		}
		if !strings.HasSuffix(src, "\n") {
			t.Errorf("%s does not end with a newline", name)
		}
		// What the library leaves out of its files goes by lines.
		if m := regexp.MustCompile("(?m)(?:[=(,:+?]|return) *`[^`\n]*$|\\\\$").FindString(src); m != "" {
			t.Errorf("%s has a text over several lines: %s", name, m)
		}
		if m := regexp.MustCompile(`(?m)^.*\S.*/\*\*.*$|^ */\*\*.*\*/.+$`).FindString(src); m != "" {
			t.Errorf("%s has a comment beside something else: %s", name, m)
		}
		if strings.Contains(src, "sourceMappingURL") {
			t.Errorf("%s names a source map", name)
		}
		if strings.Contains(src, "globalThis.") || strings.Contains(src, "window.") {
			t.Errorf("%s touches the global object by name", name)
		}
		// Named properties of the document and of forms hide these.
		if m := regexp.MustCompile(`\bdocument\.\w+`).FindString(src); m != "" {
			t.Errorf("%s uses %s: a named element can hide it", name, m)
		}
	}
	lib := inject.Library()
	if i := strings.IndexFunc(lib, func(r rune) bool { return r > 126 }); i >= 0 {
		t.Errorf("the library is not ASCII: %q", lib[i:i+20])
	}
	if !strings.HasSuffix(lib, "\n//# sourceURL=outrider-library.js\n") {
		t.Errorf("the library ends with %q", lib[len(lib)-60:])
	}
}

// allFiles are those of the library and those that follow a person, which share its scope.
func allFiles() []string { return append(inject.Files(), inject.PersonFiles()...) }

func firstWord(file string) string {
	word, _, _ := strings.Cut(strings.TrimSuffix(path.Base(file), ".js"), "_")
	return word
}

func TestNodeParsesEveryFile(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	texts := map[string]string{"library.js": inject.Library(), "person.js": inject.Person()}
	for _, name := range allFiles() {
		texts[name] = "'use strict';\n" + inject.Source(name)
	}
	encoded, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	// One process for all. It compiles them as --check does: as the body of a function.
	const parse = `const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
for (const [filename, text] of Object.entries(texts)) {
  try { require('vm').compileFunction(text, [], {filename}); } catch (e) { console.log(e.stack); }
}
console.log(Object.keys(texts).length + ' files');`
	cmd := exec.CommandContext(t.Context(), node, "-e", parse)
	cmd.Stdin = bytes.NewReader(encoded)
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != fmt.Sprintf("%d files\n", len(texts)) {
		t.Errorf("%v\n%s", err, out)
	}
}

// Expressions of locators are run by pattern.js, not by the platform: it says the
// same of any text, and takes no more than a moment for expressions on which the
// platform's engine takes for ever.
func TestPatternsAreThoseOfThePlatformInBoundedTime(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	out, err := exec.CommandContext(
		t.Context(), node, filepath.Join("testdata", "patterns.js"), filepath.Join("base", "pattern.js"),
	).Output()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	var got struct {
		Compared, Refused int
		Wrong             [][]any
		Slow              map[string]int
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for _, w := range got.Wrong {
		t.Errorf("/%s/%s on %q: the platform says %v", w...)
	}
	for text, ms := range got.Slow {
		if ms > 5000 {
			t.Errorf("/%s/ takes %d ms", text, ms)
		}
	}
	if got.Compared < 8000 || got.Refused != 4 {
		t.Errorf("%d expressions were compared, %d of 4 refused", got.Compared, got.Refused)
	}
}
