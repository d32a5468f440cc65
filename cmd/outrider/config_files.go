package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/evidence/report"
)

// projectFile is read from the working directory. It is not trusted: it can
// come with a checkout, so it may set only what ProjectKeys lists and never a
// browser path, a proxy, an attach address or anything that loosens policy.
const projectFile = "outrider.yaml"

// projectOutputs are those by which files are written. A project file writes into
// its own folder only.
var projectOutputs = []string{"report", "artifacts"}

// projectKeys are the flags that a project file may set.
var projectKeys = []string{"maps", "open", "viewport", "call-timeout", "timeout", "report", "artifacts", "pacing"}

// trustedProjects is the key of the user's file that lists the folders whose project files are the
// user's own. It is no flag: a checkout cannot bring it.
const trustedProjects = "trusted_projects"

// trustsProject reports whether the user's file trusts what the project file in a folder names: the
// folder is one of trusted_projects, or lies below one.
func trustsProject(dir string) (bool, error) {
	user, err := readUser(io.Discard) // what is wrong with it was said when the flags were filled
	if err != nil {
		return false, err
	}
	here, err := realPath(dir)
	if err != nil {
		return false, err
	}
	for _, folder := range user[trustedProjects] {
		if rest, ok := strings.CutPrefix(folder, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return false, err
			}
			folder = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(folder) {
			return false, fmt.Errorf("the user's config.yaml: %s: %q is no absolute path", trustedProjects, folder)
		}
		top, err := realPath(folder)
		if err != nil {
			continue // it is not there any more
		}
		if inside, err := filepath.Rel(top, here); err == nil && filepath.IsLocal(inside) {
			return true, nil
		}
	}
	return false, nil
}

// realPath is where a folder is, without links.
func realPath(dir string) (string, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(full)
}

// valueOrigin says where the value of a flag comes from. The greater comes before the
// lesser.
type valueOrigin int

const (
	byDefault valueOrigin = iota
	fromUserFile
	fromProjectFile
	fromEnvironment
	fromCommandLine
)

// valueOrigins is where the value of each flag comes from, by its name.
type valueOrigins map[string]valueOrigin

// fillFlags fills the flags that the command line left alone: from the
// environment, then the project file, then the user file. An error names the source.
func fillFlags(cmd *cobra.Command) (valueOrigins, error) {
	text, err := outfile.ReadBelow(".", projectFile, maxConfig)
	project, err := readConfig(projectFile, text, err)
	if err != nil {
		return nil, err
	}
	for key := range project {
		if !slices.Contains(projectKeys, key) {
			return nil, fmt.Errorf(
				"%s sets %q: a project file may set only %s", projectFile, key, strings.Join(projectKeys, ", "),
			)
		}
	}
	for _, key := range projectOutputs {
		for _, path := range outputPaths(key, project[key]) {
			if !filepath.IsLocal(path) {
				return nil, fmt.Errorf(
					"%s sets %s to %q: a project file may write only below its own folder", projectFile, key, path,
				)
			}
			if report.Administrative(path) {
				return nil, fmt.Errorf(
					"%s sets %s to %q: a project file may not write into the folder of a version control system",
					projectFile, key, path,
				)
			}
		}
	}
	user, err := readUser(cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	origins := valueOrigins{}
	var failed error
	set := func(f *pflag.Flag, values []string, from valueOrigin, source string) {
		origins[f.Name] = from
		failed = setFlag(f, values, source)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if failed != nil || f.Name == "help" {
			return
		}
		if f.Changed {
			origins[f.Name] = fromCommandLine
			failed = expandHome(f)
			return
		}
		env := "OUTRIDER_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if v, ok := os.LookupEnv(env); ok && v != "" {
			if set(f, splitList(f, v), fromEnvironment, env); failed == nil {
				failed = expandHome(f)
			}
			return
		}
		if v, ok := project[f.Name]; ok {
			set(f, v, fromProjectFile, projectFile)
			return
		}
		if v, ok := user[f.Name]; ok {
			if set(f, v, fromUserFile, "the user's config.yaml"); failed == nil {
				failed = expandHome(f)
			}
		}
	})
	return origins, failed
}

// outputPaths are the paths in the values of a key.
func outputPaths(key string, values []string) []string {
	if key != "report" {
		return values
	}
	var out []string
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if _, path, ok := strings.Cut(part, "="); ok {
				out = append(out, strings.TrimSpace(path))
			}
		}
	}
	return out
}

func setFlag(f *pflag.Flag, values []string, source string) error {
	for _, v := range values {
		if err := f.Value.Set(v); err != nil {
			return fmt.Errorf("%s: --%s: %w", source, f.Name, err)
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

// maxConfig bounds a file of settings.
const maxConfig = 128 << 10

// readUser reads the user's file. A home that this user cannot look into has none.
func readUser(words io.Writer) (map[string][]string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, nil //nolint:nilerr // there is no home
	}
	path := filepath.Join(dir, "outrider", "config.yaml")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrPermission) {
		fmt.Fprintf(words, "outrider: %v: the user's settings are left out\n", err)
		return nil, nil
	}
	text, err := outfile.Read(path, maxConfig)
	return readConfig(path, text, err)
}

// readConfig reads the settings in a text; failed is why there is no text.
func readConfig(path string, text []byte, failed error) (map[string][]string, error) {
	if errors.Is(failed, fs.ErrNotExist) {
		return nil, nil
	}
	if failed != nil {
		return nil, fmt.Errorf("reading %s: %w", path, failed)
	}
	var raw map[string]configValues
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&raw); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var second yaml.Node
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: there is a second document: expected one document in a file", path)
	}
	out := map[string][]string{}
	for key, v := range raw {
		if v == nil {
			return nil, fmt.Errorf("%s: %s is not a value or a list of values", path, key)
		}
		out[key] = v
	}
	return out, nil
}

// configValues are the values of a setting as they are written: a number can be a code.
type configValues []string

// UnmarshalYAML implements yaml.Unmarshaler. Anything but a value and a list of values is nil.
func (v *configValues) UnmarshalYAML(n *yaml.Node) error {
	list := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		list = n.Content
	}
	out := configValues{}
	for _, item := range list {
		if item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		if item.Kind != yaml.ScalarNode || item.ShortTag() == "!!null" {
			return nil
		}
		out = append(out, item.Value)
	}
	*v = out
	return nil
}
