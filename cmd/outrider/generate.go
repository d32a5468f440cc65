package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/authoring/gogen"
	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// generateCommand is the verb generate.
func (a *app) generateCommand() *cobra.Command {
	var out, name string
	cmd := &cobra.Command{
		Use:   "generate FILE",
		Short: "Write typed Go methods for a map",
		Long: "Write a Go package for an actions.json file: a method for each action and each state, with types from " +
			"the map's schemas.\n" +
			"A schema that no type of Go fits is an error with its place in the map. With --out, the file has a line " +
			"for go generate,\n" +
			"which writes it again: the same map gives the same file.",
		Example: "  outrider generate sites/shop/actions.json --out shop/shop.go",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			m, reports, err := readMap(args[0])
			if err != nil {
				return err
			}
			o := gogen.Options{Package: name, Source: filepath.Base(args[0])}
			if out != "" {
				o.Directive = directive(args[0], out, name)
			}
			var file []byte
			if m != nil {
				var problems []manifest.Problem
				file, problems = gogen.File(m, o)
				reports[0].Errors = append(reports[0].Errors, problems...)
				reports[0].OK = len(problems) == 0
			}
			if !reports[0].OK && a.json {
				a.printJSON(reports)
			}
			if !reports[0].OK {
				if !a.json {
					a.printReport(reports[0])
				}
				return &exit{code: exitFailed}
			}
			if out == "" {
				_, err := a.stdout.Write(file)
				return err
			}
			if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
				return err
			}
			if err := outfile.Write(out, file, 0o644); err != nil {
				return err
			}
			if a.json {
				a.printJSON(map[string]string{"file": out})
			} else {
				fmt.Fprintln(a.stdout, out)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file to write, with folders that are missing (default: standard output)")
	cmd.Flags().StringVar(&name, "package", "", "name of the package (default: the first word that all names share)")
	return cmd
}

// readMap reads a map under every rule of validate. The map is nil when it is invalid.
func readMap(path string) (*manifest.Manifest, []sites.FileReport, error) {
	engine, err := expr.New("native", nil)
	if err != nil {
		return nil, nil, err
	}
	defer engine.Close()
	how := runtime.MapsIn(quirks.Set{})
	how.Arguments = runtime.ArgumentsRefused
	how.Whole = true
	_, reports := runtime.LoadMaps([]string{path}, catalog.Standard(), engine, how)
	if err := withMaps(reports); err != nil {
		return nil, nil, err
	}
	if len(reports) != 1 {
		return nil, nil, usage("generate writes the package of one map, and %s has %d", path, len(reports))
	}
	if !reports[0].OK {
		return nil, reports, nil
	}
	text, err := outfile.Read(reports[0].Path, manifest.MaxBytes)
	if err != nil {
		return nil, nil, err
	}
	m, _ := manifest.Parse(text, manifest.Options{})
	return m, reports, nil
}

// directive is the command of go generate, in the folder of the file.
func directive(source, out, name string) string {
	words := []string{"go run github.com/outrider-run/outrider/cmd/outrider generate"}
	from, err := filepath.Abs(source)
	if err != nil {
		from = source
	}
	folder, err := filepath.Abs(filepath.Dir(out))
	if err != nil {
		folder = filepath.Dir(out)
	}
	if below, err := filepath.Rel(folder, from); err == nil {
		from = below
	}
	words = append(words, quoted(filepath.ToSlash(from)), "--out", quoted(filepath.Base(out)))
	if name != "" {
		words = append(words, "--package", name)
	}
	return strings.Join(words, " ")
}

// quoted is a word as go generate reads it.
func quoted(word string) string {
	if strings.ContainsAny(word, " \t\"$") {
		return fmt.Sprintf("%q", strings.ReplaceAll(word, "$", "$DOLLAR"))
	}
	return word
}
