package outrider_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// pageLibrary is where readTexts keeps the names of page JavaScript, whose functions Go comments name too.
const pageLibrary = "the page library"

// otherNames are names in comments and pages that are not names of this repository, each with its reason.
var otherNames = map[string]string{
	"state.NAME": "an event, whose second word is the name of a state",
}

// otherPaths are paths in comments and pages that are not paths of this repository, each with its reason.
var otherPaths = map[string]string{
	"sites/shop":        "a map in the example project of a user",
	"sites/todo":        "a map in the example project of a user",
	"sites/127.0.0.1":   "a map in the storage folder of a user",
	"sites/example.com": "a map in the storage folder of a user",
}

// A text is a comment or a page that may name something.
type text struct {
	file string
	line int
	body string
	page bool // only what stands in backticks is a name
}

// A declaring package has names that a text can mean.
type declaring struct {
	name    string
	names   map[string]bool // of the package, and of the members of its types
	members map[string]bool // Type.Member
}

var (
	backticks   = regexp.MustCompile("`([^`\n]+)`")
	decision    = regexp.MustCompile(`\bADR ([0-9]{4})\b`)
	placeholder = regexp.MustCompile(`/[A-Z]+\b`)
	jsName      = regexp.MustCompile(`(?m)^(?:async )?(?:function\*?|const|let|class) ([A-Za-z_]\w*)`)
	seeName     = regexp.MustCompile(`\b[Ss]ee (?:also )?([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)`)
	qualified   = regexp.MustCompile(`(?:^|[^\w./"-])([a-z][a-z0-9]*)\.([A-Z][A-Za-z0-9_]*)(?:\.([A-Z][A-Za-z0-9_]*))?`)
	repoPath    = regexp.MustCompile(`(?:^|[^\w./@:<"'-])((?:[a-z][a-z0-9_-]*)(?:/[A-Za-z0-9_.*<>{}…-]+)+/?)`)
)

// TestNamesInTextsExist: a path, a "see Name" and a package.Name of a comment or a page is there.
func TestNamesInTextsExist(t *testing.T) {
	texts, packages := readTexts(t)
	byName := map[string][]*declaring{}
	for _, p := range packages {
		byName[p.name] = append(byName[p.name], p)
	}
	met := map[string]bool{}
	for _, x := range texts {
		for _, name := range missingNames(x, packages, byName) {
			if _, ok := otherNames[name]; ok {
				met[name] = true
				continue
			}
			t.Errorf("%s:%d names %s, which is not there", x.file, x.line, name)
		}
		for _, name := range missingPaths(x) {
			if at, ok := excepted(name); ok {
				met[at] = true
				continue
			}
			t.Errorf("%s:%d names the path %s, which is not there", x.file, x.line, name)
		}
	}
	for _, list := range []map[string]string{otherNames, otherPaths} {
		for name := range list {
			if !met[name] {
				t.Errorf("no text names %s: take it out of the exceptions", name)
			}
		}
	}
	if len(texts) < 10000 || len(packages) < 100 {
		t.Errorf("found only %d texts and %d packages", len(texts), len(packages))
	}
}

func missingNames(x text, packages map[string]*declaring, byName map[string][]*declaring) []string {
	var missing []string
	body := x.body
	if x.page {
		var names strings.Builder
		for _, m := range backticks.FindAllStringSubmatch(body, -1) {
			names.WriteString(m[1] + "\n")
		}
		body = names.String()
	}
	own := packages[path.Dir(x.file)]
	if !x.page && own != nil {
		for _, m := range seeName.FindAllStringSubmatch(body, -1) {
			first, second, dotted := strings.Cut(m[1], ".")
			if !looksLikeName(m[1]) || dotted && byName[first] != nil {
				continue // prose, or what the next rule judges
			}
			if !own.names[first] && !packages[pageLibrary].names[first] || dotted && !own.members[m[1]] {
				missing = append(missing, strings.TrimSuffix(first+"."+second, "."))
			}
		}
	}
	for _, m := range qualified.FindAllStringSubmatch(body, -1) {
		list := byName[m[1]]
		if list == nil {
			continue // a variable, or a package of others
		}
		found := false
		for _, p := range list {
			found = found || p.names[m[2]] && (m[3] == "" || p.members[m[2]+"."+m[3]])
		}
		if !found {
			missing = append(missing, strings.TrimSuffix(m[1]+"."+m[2]+"."+m[3], "."))
		}
	}
	return missing
}

// looksLikeName: a word of prose has no capital within, and begins with one only at the head of a sentence.
func looksLikeName(word string) bool {
	return strings.ContainsFunc(word, unicode.IsUpper) && word != strings.ToUpper(word)
}

func missingPaths(x text) []string {
	var missing []string
	for _, m := range repoPath.FindAllStringSubmatch(x.body, -1) {
		name := strings.TrimRight(m[1], "./…-")
		first, _, _ := strings.Cut(name, "/")
		if !topFolders()[first] || strings.ContainsAny(name, "<>{}…") {
			continue
		}
		name = strings.TrimSuffix(name, "/...")
		if !exists(name) && !exists(path.Join(path.Dir(x.file), name)) {
			missing = append(missing, name)
		}
	}
	for _, m := range decision.FindAllStringSubmatch(x.body, -1) {
		if !exists("docs/adr/" + m[1] + "-*.md") {
			missing = append(missing, m[0])
		}
	}
	return missing
}

// exists: a segment in capitals stands for any.
func exists(name string) bool {
	found, err := filepath.Glob(placeholder.ReplaceAllString(name, "/*"))
	return err == nil && len(found) > 0
}

// excepted says whether a path, or a folder it is in, is an exception, and which.
func excepted(name string) (string, bool) {
	for at := name; at != "."; at = path.Dir(at) {
		if _, ok := otherPaths[at]; ok {
			return at, true
		}
	}
	return "", false
}

// topFolders are the folders at the top of the repository.
var topFolders = sync.OnceValue(func() map[string]bool {
	folders := map[string]bool{}
	entries, _ := os.ReadDir(".")
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			folders[e.Name()] = true
		}
	}
	return folders
})

// readTexts reads all comments and pages, and what the packages declare.
func readTexts(t *testing.T) ([]text, map[string]*declaring) {
	t.Helper()
	var (
		texts    []text
		packages = map[string]*declaring{}
		mu       sync.Mutex
		wg       sync.WaitGroup
		files    = make(chan string)
	)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for name := range files {
				found, pkg := textsOf(t, name)
				mu.Lock()
				texts = append(texts, found...)
				switch {
				case pkg == nil:
				case filepath.Ext(name) == ".js":
					merge(packages, pageLibrary, pkg)
				default:
					merge(packages, path.Dir(name), pkg)
				}
				mu.Unlock()
			}
		})
	}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		isPageCode := filepath.Ext(name) == ".js" && strings.HasPrefix(name, "primitives/inject/")
		if isPageCode || filepath.Ext(name) == ".go" || filepath.Ext(name) == ".md" && name != "CHANGELOG.md" {
			files <- name
		}
		return nil
	})
	close(files)
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return texts, packages
}

func merge(packages map[string]*declaring, dir string, pkg *declaring) {
	have := packages[dir]
	if have == nil {
		packages[dir] = pkg
		return
	}
	for name := range pkg.names {
		have.names[name] = true
	}
	for name := range pkg.members {
		have.members[name] = true
	}
}

func textsOf(t *testing.T, file string) ([]text, *declaring) {
	source, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	if filepath.Ext(file) == ".md" {
		var out []text
		n := 0
		for line := range strings.Lines(string(source)) {
			n++
			out = append(out, text{file, n, line, true})
		}
		return out, nil
	}
	if filepath.Ext(file) == ".js" {
		p := &declaring{names: map[string]bool{}, members: map[string]bool{}}
		for _, m := range jsName.FindAllStringSubmatch(string(source), -1) {
			p.names[m[1]] = true
		}
		return nil, p
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	var out []text
	for _, group := range parsed.Comments {
		out = append(out, text{file, set.Position(group.Pos()).Line, group.Text(), false})
	}
	return out, declared(parsed)
}

// declared are the names of a file: of its package, of members, and of what stands within functions.
func declared(f *ast.File) *declaring {
	p := &declaring{
		name:    strings.TrimSuffix(f.Name.Name, "_test"),
		names:   map[string]bool{},
		members: map[string]bool{},
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			p.names[n.Name.Name] = true
			if n.Recv != nil && len(n.Recv.List) > 0 {
				p.members[receiver(n.Recv.List[0].Type)+"."+n.Name.Name] = true
			}
		case *ast.TypeSpec:
			p.names[n.Name.Name] = true
			p.addMembers(n.Name.Name, n.Type)
		case *ast.Field:
			for _, id := range n.Names {
				p.names[id.Name] = true
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				p.names[id.Name] = true
			}
		case *ast.ImportSpec:
			if n.Name != nil {
				p.names[n.Name.Name] = true
			}
		}
		return true
	})
	return p
}

func (p *declaring) addMembers(owner string, of ast.Expr) {
	var fields *ast.FieldList
	switch of := of.(type) {
	case *ast.StructType:
		fields = of.Fields
	case *ast.InterfaceType:
		fields = of.Methods
	default:
		return
	}
	for _, field := range fields.List {
		for _, id := range field.Names {
			p.members[owner+"."+id.Name] = true
		}
	}
}

func receiver(of ast.Expr) string {
	for {
		switch x := of.(type) {
		case *ast.StarExpr:
			of = x.X
		case *ast.IndexExpr:
			of = x.X
		case *ast.IndexListExpr:
			of = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
