// Package main prints what the tree measures: packages, lines, tokens, exported names, casts, and how often a click is
// decoded. It judges nothing: the style test does. Whoever changes the structure runs it before and after:
// go run ./scripts/measure [FOLDER].
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// most is how many columns a line may have. A tab is four.
const most = 120

// counts is what is counted of one kind of file.
type counts struct {
	lines    int
	long     int // lines of more than most columns
	tokens   int
	exported int
	upwards  int // imports that point up
	casts    int // to interfaces without a name
}

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := run(root, os.Stdout); err != nil { // layering:allow: a command
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) // layering:allow: a command
	}
}

func run(root string, out io.Writer) error {
	var code, tests, scripts counts
	packages := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") && path != root) {
			return filepath.SkipDir
		}
		isPage := strings.HasSuffix(name, ".js") && !strings.HasSuffix(name, ".min.js")
		if d.IsDir() || !strings.HasSuffix(name, ".go") && !isPage {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch {
		case isPage:
			scripts.addText(text)
		case strings.HasSuffix(name, "_test.go"):
			tests.addText(text)
			tests.tokens += tokensOf(text)
		default:
			packages[filepath.Dir(path)] = true
			code.addText(text)
			code.tokens += tokensOf(text)
			return code.addFile(root, path, text)
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "packages                     %7d\n", len(packages))
	fmt.Fprintf(out, "lines of code, tests         %7d %7d\n", code.lines, tests.lines)
	fmt.Fprintf(out, "lines of page JavaScript     %7d\n", scripts.lines)
	fmt.Fprintf(
		out, "lines over %d columns       %7d %7d, page JavaScript %d\n", most, code.long, tests.long, scripts.long,
	)
	fmt.Fprintf(out, "tokens of code, tests        %7d %7d\n", code.tokens, tests.tokens)
	fmt.Fprintf(out, "tokens a line of code        %7.2f\n", float64(code.tokens)/float64(max(code.lines, 1)))
	fmt.Fprintf(out, "exported names               %7d\n", code.exported)
	fmt.Fprintf(out, "imports against the floors   %7d\n", code.upwards)
	fmt.Fprintf(out, "casts to unnamed interfaces  %7d\n", code.casts)
	for _, line := range decodes(root) {
		fmt.Fprintln(out, "of a click,", line)
	}
	return nil
}

// decodes are what a test says of how often the arguments and the result of a click are decoded and encoded. It needs
// a browser.
func decodes(root string) []string {
	test := exec.Command("go", "test", "-count=1", "-v", "-run", "^TestDecodesOfAClick$", "./faces/mcp")
	test.Dir = root
	text, _ := test.CombinedOutput()
	var lines []string
	for line := range strings.Lines(string(text)) {
		if _, said, found := strings.Cut(line, "_test.go:"); found && strings.Contains(said, ": decoded ") {
			_, said, _ = strings.Cut(said, ": ")
			lines = append(lines, strings.TrimSpace(said))
		}
	}
	if len(lines) == 0 {
		return []string{"decodes are not measured: the test did not run"}
	}
	return lines
}

func (c *counts) addText(text []byte) {
	for line := range bytes.Lines(text) {
		c.lines++
		if columns(bytes.TrimRight(line, "\n")) > most {
			c.long++
		}
	}
}

func columns(line []byte) int {
	return len([]rune(string(line))) + 3*bytes.Count(line, []byte("\t"))
}

func tokensOf(text []byte) int {
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile("", files.Base(), len(text)), text, nil, 0)
	n := 0
	for {
		_, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return n
		case tok == token.SEMICOLON && literal == "\n": // nobody wrote it
		default:
			n++
		}
	}
}

// addFile counts the exported names that a file declares at its top, its imports that point up, and its casts.
func (c *counts) addFile(root, path string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		c.exported += exportedIn(d)
	}
	folder, err := filepath.Rel(root, filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, spec := range file.Imports {
		imported, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "github.com/outrider-run/outrider/")
		if ours && floor(imported) > floor(filepath.ToSlash(folder)) {
			c.upwards++
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if cast, ok := n.(*ast.TypeAssertExpr); ok {
			if of, ok := cast.Type.(*ast.InterfaceType); ok && len(of.Methods.List) > 0 {
				c.casts++
			}
		}
		return true
	})
	return nil
}

func exportedIn(d ast.Decl) int {
	n := 0
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			n++
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					n++
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if name.IsExported() {
						n++
					}
				}
			}
		}
	}
	return n
}

// floor is how high a folder stands: 0 is the ground, then the language, the engine, the rooms on it and the
// command.
func floor(folder string) int {
	for height, rooms := range [][]string{
		{
			"primitives", "internal/jsonout", "internal/lazyregexp", "internal/mask", "internal/element",
			"internal/mapedit", "internal/ownfolder",
		},
		{"workflow", "projection", "sites"},
		{"runtime"},
		{
			".", "faces", "bridgeclient", "conformance", "plan", "fleet", "authoring", "evidence", "internal",
		},
		{"cmd", "docs", "scripts"},
	} {
		for _, room := range rooms {
			if folder == room || strings.HasPrefix(folder, room+"/") {
				return height
			}
		}
	}
	return 0
}
