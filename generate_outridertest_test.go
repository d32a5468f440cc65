package outrider_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const generatedFile = "outridertest/methods_generated.go"

// otherMethods are methods of the library that have none here by the generator.
var otherMethods = map[string]string{
	"Tab.ID":             "of tabs, which a test has one of",
	"Tab.Session":        "Page.Outrider has it",
	"Tab.Activate":       "a test has a tab of its own",
	"Tab.Close":          "the test closes its tab",
	"Tab.Call":           "Page.Outrider has it",
	"Tab.CallInto":       "Page.Outrider has it",
	"Tab.CDP":            "Page.Outrider has it",
	"Tab.OpenCDP":        "Page.Outrider has it",
	"Tab.Find":           "Page.Target takes any locator",
	"Tab.Route":          "ends with the test",
	"Tab.SetHeaders":     "ends with the test",
	"Locator.Query":      "the embedded Locator has it",
	"Locator.Tab":        "the embedded Locator has it",
	"Locator.String":     "the embedded Locator has it",
	"Locator.Within":     "Page.Patience says how long",
	"Locator.Read":       "Expect reads and waits",
	"Locator.Changed":    "Expect reads and waits",
	"Locator.One":        "the embedded Locator has it",
	"Locator.Attribute":  "has two results",
	"Tab.RunAction":      "Page.Outrider has it",
	"Tab.StateRows":      "Page.Outrider has it",
	"Tab.StateSummary":   "Page.Outrider has it",
	"Tab.FullScreenshot": "Page.Outrider has it",
}

// ofSession are the methods of a session that a page has.
var ofSession = []string{
	"Cookies", "SetCookies", "ClearCookies", "StorageState", "SetStorageState", "Grant", "Deny",
}

// loads are methods that wait for a page to load.
var loads = []string{"Goto", "Reload", "Back", "Forward", "SetContent", "WaitNavigation"}

// TestGeneratedMethodsAreCurrent: Page and Target have what Tab and Locator have, without context and errors.
func TestGeneratedMethodsAreCurrent(t *testing.T) {
	want, err := methods(".")
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("OUTRIDER_GENERATE") == "1" {
		if err := os.WriteFile(generatedFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(generatedFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is not what the library has: run make generate", generatedFile)
	}
}

func methods(dir string) ([]byte, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var body strings.Builder
	imports := map[string]string{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		known := map[string]string{}
		for _, i := range file.Imports {
			name := strings.Trim(i.Path.Value, `"`)
			known[name[strings.LastIndex(name, "/")+1:]] = name
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !f.Name.IsExported() {
				continue
			}
			m := &method{decl: f, imports: imports, known: known}
			m.write(&body)
		}
	}
	var head strings.Builder
	head.WriteString("// Code generated from the methods of Tab and Locator by make generate. DO NOT EDIT.\n\n")
	head.WriteString("package outridertest\n\nimport (\n")
	var standard, ours []string
	for _, path := range imports {
		if strings.Contains(path, ".") {
			ours = append(ours, path)
		} else {
			standard = append(standard, path)
		}
	}
	ours = append(ours, "github.com/outrider-run/outrider")
	slices.Sort(standard)
	slices.Sort(ours)
	for _, path := range standard {
		fmt.Fprintf(&head, "\t%q\n", path)
	}
	head.WriteString("\n")
	for _, path := range ours {
		fmt.Fprintf(&head, "\t%q\n", path)
	}
	head.WriteString(")\n\n")
	return format.Source([]byte(head.String() + body.String()))
}

// method is one method of the library, of which one of a test's page is made.
type method struct {
	decl    *ast.FuncDecl
	imports map[string]string // that the file needs, by name
	known   map[string]string // of the file of the method
}

func (m *method) of() string {
	r := m.decl.Recv.List[0].Type
	if star, ok := r.(*ast.StarExpr); ok {
		r = star.X
	}
	return r.(*ast.Ident).Name
}

// typ is a type as the generated file has it.
func (m *method) typ(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		switch {
		case e.Name == "Locator":
			return "Target"
		case ast.IsExported(e.Name):
			return "outrider." + e.Name
		}
		return e.Name
	case *ast.SelectorExpr:
		name := e.X.(*ast.Ident).Name
		m.imports[name] = m.known[name]
		return name + "." + e.Sel.Name
	case *ast.StarExpr:
		if id, ok := e.X.(*ast.Ident); ok && id.Name == "Tab" {
			return "*Page"
		}
		return "*" + m.typ(e.X)
	case *ast.ArrayType:
		return "[]" + m.typ(e.Elt)
	case *ast.Ellipsis:
		return "..." + m.typ(e.Elt)
	case *ast.IndexListExpr: // iter.Seq2[T, error]
		m.imports["iter"] = "iter"
		return "iter.Seq[" + m.typ(e.Indices[0]) + "]"
	}
	return fmt.Sprintf("%T", e)
}

// parameter is one of the method.
type parameter struct{ name, typ string }

func (m *method) parameters() (all []parameter, hasContext bool) {
	for _, field := range m.decl.Type.Params.List {
		for _, name := range field.Names {
			switch t := field.Type.(type) {
			case *ast.SelectorExpr:
				if t.Sel.Name == "Context" {
					hasContext = true
					continue
				}
			case *ast.FuncType:
				all = append(all, parameter{name.Name, "func()"})
				continue
			}
			all = append(all, parameter{name.Name, m.typ(field.Type)})
		}
	}
	return all, hasContext
}

// results are the types of the results, without the error.
func (m *method) results() (all []string, hasError bool) {
	if m.decl.Type.Results == nil {
		return nil, false
	}
	for _, field := range m.decl.Type.Results.List {
		if id, ok := field.Type.(*ast.Ident); ok && id.Name == "error" {
			hasError = true
			continue
		}
		all = append(all, m.typ(field.Type))
	}
	return all, hasError
}

func (m *method) write(b *strings.Builder) {
	of, name := m.of(), m.decl.Name.Name
	receivers := map[string][2]string{
		"Tab": {"p *Page", "p"}, "Session": {"p *Page", "p"}, "Locator": {"x Target", "x.page"},
	}
	receiver, ok := receivers[of]
	_, other := otherMethods[of+"."+name]
	if !ok || other || of == "Session" && !slices.Contains(ofSession, name) {
		return
	}
	page := receiver[1]
	parameters, hasContext := m.parameters()
	results, hasError := m.results()
	var declared, given []string
	for _, p := range parameters {
		declared = append(declared, p.name+" "+p.typ)
		switch {
		case p.typ == "func()":
			given = append(given, "acting("+p.name+")")
		case p.typ == "Target":
			given = append(given, p.name+".Locator")
		case strings.HasPrefix(p.typ, "..."):
			given = append(given, p.name+"...")
		default:
			given = append(given, p.name)
		}
	}
	fmt.Fprintf(b, "// %s\n// See [outrider.%s.%s].\n", m.sentence(), of, name)
	fmt.Fprintf(b, "func (%s) %s(%s) ", receiver[0], name, strings.Join(declared, ", "))
	result := ""
	if len(results) > 0 {
		result = results[0]
	}
	target := map[string]string{"Tab": "p.tab", "Session": "p.session", "Locator": "x.Locator"}[of]
	call := fmt.Sprintf("%s.%s(%s)", target, name, strings.Join(given, ", "))
	switch {
	case !hasContext && result == "Target":
		fmt.Fprintf(b, "Target { return Target{%s, %s} }\n\n", call, page)
		return
	case !hasContext:
		fmt.Fprintf(b, "%s { return %s }\n\n", result, call)
		return
	}
	given = append([]string{"ctx"}, given...)
	if of == "Locator" {
		target += ".Within(x.page.Patience)"
	}
	call = fmt.Sprintf("%s.%s(%s)", target, name, strings.Join(given, ", "))
	if item, ok := strings.CutPrefix(result, "iter.Seq["); ok {
		m.iterator(b, strings.TrimSuffix(item, "]"), page, strings.Replace(call, "ctx", page+".t.Context()", 1))
		return
	}
	what := fmt.Sprintf("%q", name)
	if of == "Locator" {
		what = fmt.Sprintf("%q+x.String()", name+" ")
	}
	for _, p := range parameters {
		if p.typ == "string" && slices.Contains([]string{"address", "key", "name", "state"}, p.name) {
			what += `+" "+` + p.name
			break
		}
	}
	patience := page + ".Patience"
	if slices.Contains(loads, name) {
		patience = "openPatience"
	}
	if !hasError || len(results) > 1 {
		panic(fmt.Sprintf("%s.%s has other results: it belongs to otherMethods", of, name))
	}
	fmt.Fprintf(b, "%s {\n\t%s.t.Helper()\n", result, page)
	fmt.Fprintf(b, "\tctx, cancel := %s.within(%s)\n\tdefer cancel()\n", page, patience)
	switch result {
	case "":
		fmt.Fprintf(b, "\t%s.must(%s, %s)\n}\n\n", page, what, call)
	case "*Page":
		fmt.Fprintf(b, "\tout, err := %s\n\t%s.must(%s, err)\n\treturn %s.other(out)\n}\n\n", call, page, what, page)
	default:
		fmt.Fprintf(b, "\tout, err := %s\n\t%s.must(%s, err)\n\treturn out\n}\n\n", call, page, what)
	}
}

// iterator writes one whose errors fail the test.
func (m *method) iterator(b *strings.Builder, item, page, call string) {
	out := map[string]string{"Target": "Target{out, " + page + "}", "*Page": page + ".other(out)"}[item]
	if out == "" {
		out = "out"
	}
	fmt.Fprintf(b, "iter.Seq[%s] {\n\tall := %s\n\treturn func(yield func(%s) bool) {\n\t\t%s.t.Helper()\n",
		item, call, item, page)
	fmt.Fprintf(b, "\t\tfor out, err := range all {\n\t\t\t%s.must(%q, err)\n", page, m.decl.Name.Name)
	fmt.Fprintf(b, "\t\t\tif !yield(%s) {\n\t\t\t\treturn\n\t\t\t}\n\t\t}\n\t}\n}\n\n", out)
}

// sentence is the first one of the method's comment.
func (m *method) sentence() string {
	text := new(doc.Package).Synopsis(m.decl.Doc.Text())
	return strings.Join(wrapped(text, 116), "\n// ")
}

// wrapped breaks a text into lines.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

// TestNamesFitTwoScreens: go doc of the package has at most 100 lines.
func TestNamesFitTwoScreens(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "doc", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(out), "\n"); n > 100 {
		t.Errorf("go doc has %d lines", n)
	}
}
