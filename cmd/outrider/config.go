package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/outrider-run/outrider/evidence/report"
)

// projectFile is read from the working directory. It is not trusted: it can
// come with a checkout, so it may set only what projectKeys lists and never a
// browser path, a proxy, an attach address or anything that loosens policy.
const projectFile = "outrider.yaml"

// projectOutputs are those by which files are written. A project file writes into
// its own folder only.
var projectOutputs = []string{"report", "artifacts"}

var projectKeys = []string{"maps", "open", "viewport", "call-timeout", "timeout", "report", "artifacts", "pacing"}

// origin says where the value of a flag comes from. The greater comes before the
// lesser.
type origin int

const (
	byDefault origin = iota
	fromUserFile
	fromProjectFile
	fromEnvironment
	fromCommandLine
)

// refuseGiven refuses flags of the command line that would have no effect. It is
// for those that loosen nothing by being ignored: their environment twins and
// what files set are for many verbs at once.
func (a *app) refuseGiven(why string, flags ...string) error {
	for _, name := range flags {
		if a.origins[name] == fromCommandLine {
			return usage("--%s has no effect %s", name, why)
		}
	}
	return nil
}

// configure fills the flags that the command line left alone: from the
// environment, then the project file, then the user file.
func (a *app) configure(cmd *cobra.Command) error {
	project, err := readConfig(projectFile)
	if err != nil {
		return err
	}
	for key := range project {
		if !slices.Contains(projectKeys, key) {
			return usage("%s sets %q: a project file may set only %s", projectFile, key, strings.Join(projectKeys, ", "))
		}
	}
	for _, key := range projectOutputs {
		for _, path := range outputPaths(key, project[key]) {
			if !filepath.IsLocal(path) {
				return usage("%s sets %s to %q: a project file may write only below its own folder", projectFile, key, path)
			}
		}
	}
	user := map[string][]string{}
	if dir, err := os.UserConfigDir(); err == nil {
		if user, err = readConfig(filepath.Join(dir, "outrider", "config.yaml")); err != nil {
			return err
		}
	}
	a.origins = map[string]origin{}
	var failed error
	set := func(f *pflag.Flag, values []string, from origin, source string) {
		a.origins[f.Name] = from
		failed = setFlag(f, values, source)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if failed != nil || f.Name == "help" {
			return
		}
		if f.Changed {
			a.origins[f.Name] = fromCommandLine
			return
		}
		env := "OUTRIDER_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if v, ok := os.LookupEnv(env); ok && v != "" {
			set(f, splitList(f, v), fromEnvironment, env)
			return
		}
		if v, ok := project[f.Name]; ok {
			set(f, v, fromProjectFile, projectFile)
			return
		}
		if v, ok := user[f.Name]; ok {
			set(f, v, fromUserFile, "the user's config.yaml")
		}
	})
	return failed
}

// outputPaths are the paths in the values of a key.
func outputPaths(key string, values []string) []string {
	if key != "report" {
		return values
	}
	var out []string
	for _, v := range values {
		for _, part := range strings.Split(v, ",") {
			if _, path, ok := strings.Cut(part, "="); ok {
				out = append(out, strings.TrimSpace(path))
			}
		}
	}
	return out
}

// folder is where the files of a flag may be written. What a project file names
// stays below its folder, symbolic links that come with a checkout included.
// Texts in them show no secret.
func (a *app) folder(flag string) report.Folder {
	if a.origins[flag] != fromProjectFile {
		return report.Changed(report.Anywhere, a.secrets.MaskBytes)
	}
	root, err := os.OpenRoot(".")
	if err != nil {
		return noFolder{err}
	}
	return report.Changed(root, a.secrets.MaskBytes)
}

// noFolder is a folder that cannot be opened.
type noFolder struct{ err error }

func (f noFolder) MkdirAll(string, fs.FileMode) error          { return f.err }
func (f noFolder) WriteFile(string, []byte, fs.FileMode) error { return f.err }

func setFlag(f *pflag.Flag, values []string, source string) error {
	for _, v := range values {
		if err := f.Value.Set(v); err != nil {
			return usage("%s: --%s: %w", source, f.Name, err)
		}
	}
	return nil
}

// splitList splits the environment twin of a repeatable flag at commas.
func splitList(f *pflag.Flag, v string) []string {
	if _, ok := f.Value.(pflag.SliceValue); ok {
		return strings.Split(v, ",")
	}
	return []string{v}
}

func readConfig(path string) (map[string][]string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usage("reading %s: %w", path, err)
	}
	var raw map[string]any
	if err := yaml.Unmarshal(data, &raw); err != nil {
		return nil, usage("%s: %w", path, err)
	}
	out := map[string][]string{}
	for k, v := range raw {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				out[k] = append(out[k], fmt.Sprint(item))
			}
		case map[string]any, nil:
			return nil, usage("%s: %s is not a value or a list of values", path, k)
		default:
			out[k] = []string{fmt.Sprint(v)}
		}
	}
	return out, nil
}
