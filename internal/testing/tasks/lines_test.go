package tasks_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const linesPage = "../../../docs/lines.md"

// longer says why a task takes more lines than that of the other library.
var longer = map[string]string{
	"chromedp/8 evaluate with a typed result":  "it looks at each error, there at the first",
	"chromedp/9 emulate a device":              "each step has its error; there they are one list",
	"chromedp/16 tap on a touch screen":        "as 9",
	"chromedp/26 call a Go func from the page": "as 8",
	"chromedp/28 events of all types in order": "it turns domains on by name, and says when it ends",
}

// ours counts the lines of each task.
func ours(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, source, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil {
				continue
			}
			for _, c := range f.Doc.List {
				if name, ok := strings.CutPrefix(c.Text, "//task:"); ok {
					out[name] = codeLines(bodyOf(files, source, f))
				}
			}
		}
	}
	return out
}

// bodyOf is the text between the braces of a function.
func bodyOf(files *token.FileSet, source []byte, f *ast.FuncDecl) string {
	return string(source[files.Position(f.Body.Lbrace).Offset+1 : files.Position(f.Body.Rbrace).Offset])
}

// codeLines counts the lines that have a part of the program.
func codeLines(source string) int {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), nil, 0)
	lines := map[int]bool{}
	for {
		at, tok, text := s.Scan()
		if tok == token.EOF {
			return len(lines)
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue
		}
		first := file.Line(at)
		for i := range strings.Count(text, "\n") + 1 {
			lines[first+i] = true
		}
	}
}

// TestLinesAreCurrent: docs/lines.md has the lines that the tasks take. OUTRIDER_LINES=1 counts the others too, in the
// modules that the proxy gives, and writes the page.
func TestLinesAreCurrent(t *testing.T) {
	count := ours(t)
	if os.Getenv("OUTRIDER_LINES") == "1" {
		theirs := map[string]int{}
		countRod(t, theirs)
		countChromedp(t, theirs)
		countPlaywright(t, theirs)
		if err := os.WriteFile(linesPage, []byte(linesText(t, count, theirs)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(linesPage)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); len(cells) == 6 {
			rows[strings.TrimSpace(cells[1])] = strings.TrimSpace(cells[3])
		}
	}
	for name, n := range count {
		if rows[name] != fmt.Sprint(n) {
			t.Errorf("%s takes %d lines, and docs/lines.md says %q: OUTRIDER_LINES=1 writes it", name, n, rows[name])
		}
	}
}

func linesText(t *testing.T, ours, theirs map[string]int) string {
	t.Helper()
	var names []string
	notLonger, total := 0, 0
	for name := range ours {
		if theirs[name] == 0 {
			t.Errorf("%s is not found in the other library", name)
			continue
		}
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		ofA, a, _ := strings.Cut(a, "/")
		ofB, b, _ := strings.Cut(b, "/")
		var na, nb int
		_, _ = fmt.Sscan(a, &na)
		_, _ = fmt.Sscan(b, &nb)
		if ofA == ofB && na != nb {
			return na - nb
		}
		return strings.Compare(ofA+a, ofB+b)
	})
	var rows strings.Builder
	for _, name := range names {
		reason := ""
		total++
		if ours[name] <= theirs[name] {
			notLonger++
		} else {
			reason = longer[name]
			if reason == "" {
				t.Errorf("%s takes %d lines, %d there, and nothing says why", name, ours[name], theirs[name])
			}
		}
		fmt.Fprintf(&rows, "| %s | %d | %d | %s |\n", name, theirs[name], ours[name], reason)
	}
	return fmt.Sprintf(linesHead, notLonger, total) + rows.String()
}

const linesHead = `# Lines beside other libraries

What the examples of other Go libraries do, written with this one. %d of %d tasks take no more lines here.

The tasks are in [internal/testing/tasks](../internal/testing/tasks), and the tests run them on pages of this machine.
The others are rod 0.116.2, chromedp 0.23.0 and playwright-go 0.6401.0.

- A line counts when it has a part of the program: no blank lines, no comments. gofmt breaks all of them.
- Counted are the bodies of functions, without those that serve pages.
- rod's examples end with a panic where something fails. Ours are tests, which fail there: ` + "`outridertest`" + `.
- The snippets of chromedp begin with a browser that has started, and look at each error. So do ours. Number 12 runs an
  action of its old interface, and number 17 leaves a tab open for a later program: they have no counterpart.
- The examples of playwright-go are whole programs, and so are ours. That of a test is a test here. In place of a video,
  ours writes a trace.
- Ours of the proxy signs in to none: the library has no passwords for proxies.

` + "`OUTRIDER_LINES=1 go test -run TestLinesAreCurrent ./internal/testing/tasks`" + ` counts again.

| task | lines there | lines here | why it is longer |
|---|---|---|---|
`

// module is the folder of a module, which the proxy gives.
func module(t *testing.T, name string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", name)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	var in struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &in)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return in.Dir
}

// serving are the names of functions that serve pages or other data for an example.
var serving = regexp.MustCompile(`(?i)server|newProxy|RoundTrip|getAlexaTopDomains`)

// countPrograms counts the lines of the programs below a folder.
func countPrograms(t *testing.T, dir, prefix string, out map[string]int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && !serving.MatchString(f.Name.Name) {
				out[prefix+filepath.Base(filepath.Dir(path))] += codeLines(bodyOf(files, source, f))
			}
		}
	}
}

func countRod(t *testing.T, out map[string]int) {
	t.Helper()
	dir := module(t, "github.com/go-rod/rod@v0.116.2")
	countPrograms(t, filepath.Join(dir, "lib/examples/compare-chromedp"), "rod/", out)
}

func countPlaywright(t *testing.T, out map[string]int) {
	t.Helper()
	dir := module(t, "github.com/mxschmitt/playwright-go@v0.6401.0")
	countPrograms(t, filepath.Join(dir, "examples"), "playwright-go/", out)
}

// countChromedp counts the first snippet of each example, that of the new code.
func countChromedp(t *testing.T, out map[string]int) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(module(t, "github.com/chromedp/chromedp@v0.23.0"), "docs", "API.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range ours(t) {
		number, ok := strings.CutPrefix(name, "chromedp/")
		if !ok {
			continue
		}
		number, _, _ = strings.Cut(number, " ")
		_, section, _ := strings.Cut(string(page), "\n### "+number+". ")
		section, _, _ = strings.Cut(section, "\n### ")
		if _, after, ok := strings.Cut(section, "\nAfter"); ok {
			section = after
		}
		_, snippet, _ := strings.Cut(section, "```go\n")
		snippet, _, _ = strings.Cut(snippet, "```")
		out[name] = codeLines(snippet)
	}
}
