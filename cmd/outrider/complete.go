package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

// mapLoader loads the maps that the flags and files of a verb give. A map that cannot be read is left out.
type mapLoader func(cmd *cobra.Command) (*runtime.Maps, error)

// completeVerbs gives the shell the values of flags and arguments of every verb.
func completeVerbs(root *cobra.Command, maps mapLoader) {
	values := map[string]cobra.CompletionFunc{
		"profile": completeOneOf(
			quirks.StrictProfile+"\tthe default", "extension\tas the upstream Chrome extension",
		),
		"expr-engine": completeOneOf(expr.Native, expr.Blues),
		"log-level":   completeOneOf("debug", "info", "warn", "error"),
		"log-format":  completeOneOf("text", "json"),
		"report":      completeReports,
		"action":      completeFromMaps(maps, actionNames),
	}
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		for name, f := range values {
			// Only a flag that does not exist or has one already is an error.
			if cmd.Flags().Lookup(name) != nil || cmd.PersistentFlags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, f)
			}
		}
		switch cmd.Name() {
		case "call":
			cmd.ValidArgsFunction = completeFirst(completePrimitives)
		case "state":
			cmd.ValidArgsFunction = completeFirst(completeFromMaps(maps, projectionNames))
		}
	}
}

// completePrimitives reads the records of all primitives, which no other start of the program needs.
func completePrimitives(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return completeOneOf(catalog.Standard().Names()...)(cmd, args, typed)
}

// completeOneOf completes values, each with a description after a tab if it has one.
func completeOneOf(values ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return withPrefix(values, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// withPrefix returns the values that begin with what was typed.
func withPrefix(values []string, typed string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !strings.HasPrefix(v, typed) })
}

// completeFirst completes the first argument only.
func completeFirst(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(cmd, args, typed)
	}
}

// completeReports completes the format of the last of several reports, and leaves its
// file to the shell.
func completeReports(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := ""
	if i := strings.LastIndexByte(typed, ','); i >= 0 {
		before = typed[:i+1]
	}
	if strings.Contains(typed[len(before):], "=") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var out []string
	for _, f := range report.Formats() {
		if !strings.Contains(before, f+"=") {
			out = append(out, before+f+"=")
		}
	}
	return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// completeFromMaps completes names out of maps.
func completeFromMaps(maps mapLoader, names func(m *runtime.Maps) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		m, err := maps(cmd)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		out := names(m)
		slices.Sort(out)
		return slices.Compact(withPrefix(out, typed)), cobra.ShellCompDirectiveNoFileComp
	}
}

func actionNames(m *runtime.Maps) (out []string) {
	for _, in := range m.Current().Library.Maps() {
		for i := range in.Manifest.Tools {
			if t := &in.Manifest.Tools[i]; t.AgentCallable() {
				out = append(out, t.Name+"\t"+firstLine(t.Description))
			}
		}
	}
	return out
}

func projectionNames(m *runtime.Maps) (out []string) {
	for _, in := range m.Current().Library.Maps() {
		for i := range in.Manifest.StateProjections {
			out = append(out, in.Manifest.StateProjections[i].Name)
		}
	}
	return out
}

// firstLine keeps a description to what a line of a shell has room for; the text is the
// map's.
func firstLine(text string) string {
	const width = 60
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	runes := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, line))
	return string(runes[:min(len(runes), width)])
}
