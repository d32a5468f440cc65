package outrider_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
)

// markdown is one page of the repository without its fenced blocks.
type markdown struct {
	text    string // links and headings of the prose
	source  string
	anchors map[string]bool
}

// pages reads every page of the repository, by its path.
func pages(t *testing.T) map[string]markdown {
	t.Helper()
	all := map[string]markdown{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".md" || strings.HasPrefix(name, "testdata") {
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		all[filepath.ToSlash(name)] = parse(string(source))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Fatalf("found only %d pages", len(all))
	}
	return all
}

func parse(source string) markdown {
	m := markdown{source: source, anchors: map[string]bool{}}
	fenced := false
	var prose strings.Builder
	for line := range strings.Lines(source) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if fenced {
			continue
		}
		prose.WriteString(line)
		if heading := strings.TrimLeft(line, "#"); heading != line && strings.HasPrefix(heading, " ") {
			anchor := anchorOf(strings.TrimSpace(heading))
			for n, name := 1, anchor; ; n++ { // a heading that occurs again gets a number
				if !m.anchors[name] {
					m.anchors[name] = true
					break
				}
				name = anchor + "-" + string(rune('0'+n))
			}
		}
	}
	m.text = prose.String()
	return m
}

var linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// anchorOf is what GitHub makes of a heading.
func anchorOf(heading string) string {
	heading = linkText.ReplaceAllString(heading, "$1")
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_', r == '-':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	all := pages(t)
	checked := 0
	for name, m := range all {
		for _, found := range link.FindAllStringSubmatch(m.text, -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, ":") {
				continue // another site
			}
			checked++
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: the link %s leads nowhere", name, found[1])
				continue
			}
			if to, ok := all[file]; ok && anchor != "" && !to.anchors[anchor] {
				t.Errorf("%s: %s has no heading for the link %s", name, file, found[1])
			}
		}
	}
	if checked < 100 {
		t.Errorf("found only %d links", checked)
	}
}

func TestLinesOfPagesAreShort(t *testing.T) {
	const limit = 120
	for name, m := range pages(t) {
		n := 0
		for line := range strings.Lines(m.source) {
			n++
			if got := utf8.RuneCountInString(strings.TrimRight(line, "\n")); got > limit {
				t.Errorf("%s:%d: the line has %d characters, at most %d are wanted", name, n, got, limit)
			}
		}
	}
}

var (
	docPath = regexp.MustCompile(`\bdocs/[a-zA-Z0-9_/-]+\.md\b`)
	goTest  = regexp.MustCompile(`(?m)^(?:[A-Z_]+=\S+ )*go test .*?(\./[a-z][a-zA-Z0-9_/.-]*)`)
)

// question is a row of the questions in CONTRIBUTING.md.
var question = regexp.MustCompile(`(?m)^\| ([^|]+\?) \| ([^|]+) \|$`)

func TestQuestionsAreAnsweredByFiles(t *testing.T) {
	const want = 20
	source, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := question.FindAllStringSubmatch(string(source), -1)
	if len(rows) != want {
		t.Errorf("CONTRIBUTING.md has %d questions, want %d", len(rows), want)
	}
	for _, row := range rows {
		answers := backticks.FindAllStringSubmatch(row[2], -1)
		if len(answers) == 0 {
			t.Errorf("%q is answered by no file", row[1])
		}
		for _, answer := range answers {
			if _, err := os.Stat(answer[1]); err != nil {
				t.Errorf("%q is answered by %s, which is not there", row[1], answer[1])
			}
		}
	}
}

// TestNamedPagesExist: comments, tests and pages name pages and packages that are there.
// maxPageWords is what a reader takes in within five minutes.
const maxPageWords = 1200

func TestPagesAreReadInFiveMinutes(t *testing.T) {
	for name, page := range pages(t) {
		switch path.Dir(name) {
		case "docs/tutorial", "docs/how-to", "docs/explanation":
			if n := len(strings.Fields(page.source)); n > maxPageWords {
				t.Errorf("%s has %d words: expected at most %d", name, n, maxPageWords)
			}
		}
	}
}

func TestNamedPagesExist(t *testing.T) {
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		switch filepath.Ext(name) {
		case ".go", ".md", ".js", ".yml", ".yaml":
		default:
			if d.Name() != "Makefile" {
				return nil
			}
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, page := range docPath.FindAllString(string(source), -1) {
			if _, err := os.Stat(page); err != nil {
				t.Errorf("%s names %s, which is not there", name, page)
			}
		}
		for _, m := range goTest.FindAllStringSubmatch(string(source), -1) {
			if filepath.Ext(name) != ".md" {
				continue
			}
			if _, err := os.Stat(strings.TrimSuffix(m[1], "/...")); err != nil {
				t.Errorf("%s: there is no package %s", name, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEverythingWithANameIsDocumented: each primitive and each code is a heading
// or an entry of the generated reference. Verbs, flags and fields of maps are held
// to their pages where they are declared.
func TestEverythingWithANameIsDocumented(t *testing.T) {
	var primitivePages, codePage string
	for name, m := range pages(t) {
		switch {
		case strings.HasPrefix(name, "docs/reference/primitives/"):
			primitivePages += m.source
		case name == "docs/reference/errors.md":
			codePage += m.source
		}
	}
	for _, name := range catalog.Standard().Names() {
		if !strings.Contains(primitivePages, "# "+name+"\n") && !strings.Contains(primitivePages, "# `"+name+"`\n") {
			t.Errorf("the primitive %s has no section in the reference", name)
		}
	}
	for _, spec := range fault.All() {
		if !strings.Contains(codePage, "`"+string(spec.Code)+"`") {
			t.Errorf("the code %s is not in the reference", spec.Code)
		}
	}
}

// TestGlossary: at most eighty terms, each once, each with a meaning.
func TestGlossary(t *testing.T) {
	source, err := os.ReadFile("docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	terms := map[string]bool{}
	for line := range strings.Lines(string(source)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 7 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "word" {
			continue
		}
		term, meaning := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[5])
		if terms[term] {
			t.Errorf("%s is there twice", term)
		}
		terms[term] = true
		if !strings.HasSuffix(meaning, ".") && !strings.HasSuffix(meaning, ").") {
			t.Errorf("the meaning of %s is no sentence: %q", term, meaning)
		}
	}
	if len(terms) < 40 || len(terms) > 80 {
		t.Errorf("the glossary has %d terms, 40 to 80 are wanted", len(terms))
	}
}

var quoted = regexp.MustCompile("`([A-Za-z][A-Za-z0-9_./-]*/[A-Za-z0-9_./-]+)`")

// TestPathsOfContributingAreThere: each path that CONTRIBUTING names exists.
func TestPathsOfContributingAreThere(t *testing.T) {
	source, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range quoted.FindAllStringSubmatch(string(source), -1) {
		if strings.Contains(m[1], "/json") {
			continue // a media type
		}
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("CONTRIBUTING.md names %s, which is not there", m[1])
		}
	}
}

var benchRun = regexp.MustCompile(`go test .*-bench '?([A-Z][A-Za-z|]*)'? .*(\./[a-z][a-zA-Z0-9_/]*)`)

// TestNamedBenchmarksExist: what the page of measurements says to run is there.
func TestNamedBenchmarksExist(t *testing.T) {
	source, err := os.ReadFile("docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	all := benchRun.FindAllStringSubmatch(string(source), -1)
	if len(all) < 8 {
		t.Fatalf("found only %d commands in docs/performance.md", len(all))
	}
	for _, m := range all {
		files, err := filepath.Glob(m[2] + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		var code strings.Builder
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(text)
		}
		for name := range strings.SplitSeq(m[1], "|") {
			if !regexp.MustCompile(`func Benchmark\w*` + name).MatchString(code.String()) {
				t.Errorf("docs/performance.md runs the benchmark %s, which is not in %s", name, m[2])
			}
		}
	}
}

var skips = regexp.MustCompile(`\b(t|tb|b)\.Skip(f|Now)?\(`)

// TestSkipsAreListed holds the table of what is skipped to the tests: each folder that
// skips something is in it, and no other.
func TestSkipsAreListed(t *testing.T) {
	const page = "docs/explanation/testing.md"
	_, section, found := strings.Cut(pages(t)[page].source, "## What is skipped\n")
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			listed[name[1]] = false
		}
	}
	if !found || len(listed) < 5 {
		t.Fatalf("%s has no table of what is skipped", page)
	}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".go" || name == "docs_test.go" {
			return err
		}
		source, err := os.ReadFile(name)
		if err != nil || !skips.Match(source) {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(name))
		if _, ok := listed[folder]; !ok {
			t.Errorf("%s skips a test, and %s does not say when", name, page)
			return nil
		}
		listed[folder] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, skipping := range listed {
		if !skipping {
			t.Errorf("%s says what %s skips, which skips nothing", page, folder)
		}
	}
}
