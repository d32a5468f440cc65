package outrider_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// Limits of the house's style. CONTRIBUTING.md says them in words.
const (
	maxColumns   = 120 // of a line; a tab is four
	maxParallel  = 2   // values that one assignment gives to as many places
	maxOnLine    = 5   // fields of a literal whose lines hold several
	maxOperators = 4   // && and || of one condition
	maxExported  = 60  // names that a package exports, without methods and fields
)

// othersText are files that are not checked, each with its reason.
var othersText = map[string]string{
	"projection/expr/jsonata/testdata/repairs.js": "holds pieces of another program, as they stand there",
}

// styleExceptions are findings that stay, by file and rule, each with its reason. One that is not met any more fails.
var styleExceptions = map[string]string{
	"primitives/inject/base/pattern.js: columns": "a regular expression, which reads worse in pieces",
}

// manyNames are the packages that export more than maxExported names: how many at most, and why.
var manyNames = map[string]struct {
	most   int
	reason string
}{
	"client":            {420, "a function and its types for each primitive of the dictionary"},
	"evidence/record":   {70, "one type for each kind of entry of a recording"},
	"evidence/report":   {70, "one type for each part of a report, and one writer for each format"},
	"plan":              {70, "one type for each part of what a run, a proof and a review come to"},
	"primitives":        {137, "what every family of primitives and every page is made of"},
	"primitives/fault":  {190, "one constant for each error code, from one list"},
	"primitives/quirks": {75, "one constant for each quirk, from one list"},
	"sites":             {70, "what a map declares, and the library that finds it"},
	"sites/manifest":    {70, "one type for each object of actions.json"},
}

// A finding is one place that does not follow a rule.
type finding struct {
	file string
	line int
	rule string // the rule's name, the same in each finding of it
	text string
}

// TestStyle checks what gofmt does not: widths of lines, one thought a line, groups of imports, sizes of packages.
func TestStyle(t *testing.T) {
	var (
		found []finding
		mu    sync.Mutex
		wg    sync.WaitGroup
		names = map[string][]string{} // that a package exports
		files = make(chan string)
	)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for name := range files {
				list, exported, err := styleOf(name)
				mu.Lock()
				if err != nil {
					t.Error(err)
				}
				found = append(found, list...)
				names[filepath.Dir(name)] = append(names[filepath.Dir(name)], exported...)
				mu.Unlock()
			}
		})
	}
	count := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(path, ".min.js") || othersText[filepath.ToSlash(path)] != "":
		case slices.Contains([]string{".go", ".js", ".mjs"}, filepath.Ext(path)):
			count++
			files <- filepath.ToSlash(path)
		}
		return nil
	})
	close(files)
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if count < 1000 {
		t.Errorf("found only %d files", count)
	}
	met := map[string]bool{}
	slices.SortFunc(found, func(a, b finding) int {
		if a.file != b.file {
			return strings.Compare(a.file, b.file)
		}
		return a.line - b.line
	})
	for _, f := range found {
		key := f.file + ": " + f.rule
		if _, ok := styleExceptions[key]; ok {
			met[key] = true
			continue
		}
		t.Errorf("%s:%d: %s: %s", f.file, f.line, f.rule, f.text)
	}
	for key := range styleExceptions {
		if !met[key] {
			t.Errorf("the exception %q is not needed any more", key)
		}
	}
	for dir, exported := range names {
		few := manyNames[dir]
		if most := max(maxExported, few.most); len(exported) > most {
			t.Errorf("%s:1: exports: %d names, at most %d are wanted", dir, len(exported), most)
		} else if few.most > 0 && len(exported) <= maxExported {
			t.Errorf("the exception of package %s is not needed any more", dir)
		}
	}
}

// Rules of styleOf.
const (
	ruleColumns    = "columns"
	ruleFormat     = "gofmt"
	ruleImports    = "imports"
	ruleParallel   = "parallel assignment"
	ruleAssignIf   = "assignment in an if"
	ruleFields     = "fields on a line"
	ruleConditions = "operators"
)

// styleOf checks one file, and says what it exports to other packages.
func styleOf(name string) (found []finding, exported []string, err error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	if !strings.HasSuffix(name, ".go") {
		return longLines(name, src, nil), nil, nil
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	// What programs and tests of other modules declare is nobody's to import.
	if !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "testdata/") && file.Name.Name != "main" {
		exported = exportedNames(file)
	}
	if ast.IsGenerated(file) {
		return nil, exported, nil
	}
	s := &styled{name: name, src: src, fset: fset}
	s.found = longLines(name, src, s.unbroken(file))
	s.imports(file)
	var formatted bytes.Buffer
	if err := format.Node(&formatted, fset, file); err != nil {
		return nil, nil, err
	}
	if !bytes.Equal(formatted.Bytes(), src) {
		s.add(file.Pos(), ruleFormat, "gofmt would change the file")
	}
	var above []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return false
		}
		s.node(n, above)
		above = append(above, n)
		return true
	})
	return s.found, exported, nil
}

// styled is a file that is checked.
type styled struct {
	name  string
	src   []byte
	fset  *token.FileSet
	found []finding
}

func (s *styled) line(p token.Pos) int { return s.fset.Position(p).Line }

func (s *styled) add(p token.Pos, rule, text string, args ...any) {
	s.found = append(s.found, finding{s.name, s.line(p), rule, fmt.Sprintf(text, args...)})
}

// longLines are those that are too wide and could be broken. A line without a blank is one word: a regular expression,
// an address. A comment for a linter does not count, since it has to stand on the line that it is about.
func longLines(name string, src []byte, unbroken map[int]bool) (found []finding) {
	n := 0
	for line := range bytes.Lines(src) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		line, _, _ = bytes.Cut(line, []byte(" //nolint"))
		if len(line) <= maxColumns/4 || unbroken[n] {
			continue
		}
		columns := utf8.RuneCount(line) + 3*bytes.Count(line, []byte("\t"))
		if columns > maxColumns && bytes.ContainsAny(bytes.TrimSpace(line), " ") {
			text := fmt.Sprintf("the line has %d columns, at most %d are wanted", columns, maxColumns)
			found = append(found, finding{name, n, ruleColumns, text})
		}
	}
	return found
}

// unbroken are the lines that cannot be broken: texts of another language in raw strings of several lines, tags of
// fields, and directives.
func (s *styled) unbroken(file *ast.File) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.Field:
			if x.Tag != nil {
				lines[s.line(x.Tag.Pos())] = true
			}
		case *ast.BasicLit:
			first, last := s.line(x.Pos()), s.line(x.End())
			for l := first; first < last && l <= last; l++ {
				lines[l] = true
			}
		}
		return true
	})
	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:") {
				lines[s.line(c.Pos())] = true
			}
		}
	}
	return lines
}

// imports: those of the standard library come first, and no group holds both.
func (s *styled) imports(file *ast.File) {
	others := false
	last := 0
	ours := false
	for _, spec := range file.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		first, _, _ := strings.Cut(path, "/")
		other := strings.Contains(first, ".")
		if other && !ours && last == s.line(spec.Pos())-1 {
			s.add(spec.Pos(), ruleImports, "%s stands in a group of the standard library", path)
		}
		if !other && others {
			s.add(spec.Pos(), ruleImports, "%s stands below packages that are not of the standard library", path)
		}
		others = others || other
		ours = other
		last = s.line(spec.End())
	}
}

// node checks one node below others.
func (s *styled) node(n ast.Node, above []ast.Node) {
	switch x := n.(type) {
	case *ast.AssignStmt:
		if len(x.Rhs) > maxParallel && len(x.Lhs) == len(x.Rhs) && !exchanges(x.Lhs, x.Rhs) {
			s.add(x.Pos(), ruleParallel, "%d values are given at once: one a line", len(x.Rhs))
		}
	case *ast.ValueSpec:
		if len(x.Values) > maxParallel {
			s.add(x.Pos(), ruleParallel, "%d values are given at once: one a line", len(x.Values))
		}
	case *ast.IfStmt:
		// In an else if there is no place before it.
		outer, _ := above[len(above)-1].(*ast.IfStmt)
		elseIf := outer != nil && outer.Else == x
		if as, ok := x.Init.(*ast.AssignStmt); ok && as.Tok != token.DEFINE && !elseIf {
			s.add(x.Pos(), ruleAssignIf, "%s is assigned in the if: assign before it", types.ExprString(as.Lhs[0]))
		}
	case *ast.CompositeLit:
		s.literal(x)
	case *ast.BinaryExpr:
		if operators := booleans(x); operators > maxOperators && !withinCondition(above) {
			s.add(x.Pos(), ruleConditions, "%d of && and ||: name a part of it", operators)
		}
	}
}

// exchanges reports whether a value is made of what another is assigned to, as in a swap.
func exchanges(places, values []ast.Expr) bool {
	for i, place := range places {
		word := regexp.MustCompile(`(^|[^\w.])` + regexp.QuoteMeta(types.ExprString(place)) + `($|\W)`)
		for j, value := range values {
			if i != j && word.MatchString(types.ExprString(value)) {
				return true
			}
		}
	}
	return false
}

// literal: of a struct with many fields each has its line, and so has each member of a map on one line that is neither
// a set nor a table of numbers.
func (s *styled) literal(x *ast.CompositeLit) {
	if len(x.Elts) <= maxOnLine {
		return
	}
	fields := true
	for _, e := range x.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		_, named := pair.Key.(*ast.Ident)
		fields = fields && named
	}
	_, isMap := x.Type.(*ast.MapType)
	_, isArray := x.Type.(*ast.ArrayType)
	if isMap || isArray || !fields {
		if s.line(x.Lbrace) != s.line(x.Rbrace) || plainValues(x.Elts) {
			return
		}
	}
	for i, e := range x.Elts {
		if i > 0 && s.line(x.Elts[i-1].End()) == s.line(e.Pos()) {
			s.add(x.Pos(), ruleFields, "a literal of %d fields has several on a line", len(x.Elts))
			return
		}
	}
}

// plainValues reports whether all values are true, false, numbers or empty.
func plainValues(elts []ast.Expr) bool {
	for _, e := range elts {
		switch v := e.(*ast.KeyValueExpr).Value.(type) {
		case *ast.BasicLit:
			if v.Kind == token.STRING {
				return false
			}
		case *ast.Ident:
			if v.Name != "true" && v.Name != "false" {
				return false
			}
		case *ast.CompositeLit:
			if len(v.Elts) > 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// booleans counts && and || of a condition. A range, low <= x && x <= high, counts as one comparison.
func booleans(e ast.Expr) int {
	switch x := e.(type) {
	case *ast.ParenExpr:
		return booleans(x.X)
	case *ast.UnaryExpr:
		return booleans(x.X)
	case *ast.BinaryExpr:
		if x.Op != token.LAND && x.Op != token.LOR || bounds(x) {
			return 0
		}
		return 1 + booleans(x.X) + booleans(x.Y)
	}
	return 0
}

// bounds reports whether an expression holds one value between two others.
func bounds(x *ast.BinaryExpr) bool {
	low, ok := x.X.(*ast.BinaryExpr)
	high, also := x.Y.(*ast.BinaryExpr)
	if !ok || !also || x.Op != token.LAND {
		return false
	}
	ordered := []token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}
	return slices.Contains(ordered, low.Op) && slices.Contains(ordered, high.Op) &&
		types.ExprString(low.X) == types.ExprString(high.X)
}

// withinCondition reports whether what stands above an expression is a condition that was counted with it.
func withinCondition(above []ast.Node) bool {
	for _, n := range slices.Backward(above) {
		switch x := n.(type) {
		case *ast.ParenExpr, *ast.UnaryExpr:
		case *ast.BinaryExpr:
			return x.Op == token.LAND || x.Op == token.LOR
		default:
			return false
		}
	}
	return false
}

// exportedNames are the exported names that a file declares at its top, without methods.
func exportedNames(file *ast.File) (names []string) {
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names = append(names, id.Name)
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						add(id)
					}
				}
			}
		}
	}
	return names
}
