package main

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestVersionOfABuild(t *testing.T) {
	module := func(v string) func() (*debug.BuildInfo, bool) {
		return func() (*debug.BuildInfo, bool) { return &debug.BuildInfo{Main: debug.Module{Version: v}}, true }
	}
	for name, c := range map[string]struct {
		linked string
		read   func() (*debug.BuildInfo, bool)
		want   string
	}{
		"release":                 {"1.2.3", module("v1.0.0"), "1.2.3"},
		"release with its tag":    {"v1.2.3", module(""), "1.2.3"},
		"go install of a version": {"", module("v1.2.3"), "1.2.3"},
		"build from a clone": {
			"", module("v1.2.4-0.20261122101112-0123456789ab+dirty"), "1.2.4-0.20261122101112-0123456789ab+dirty",
		},
		"build without a history":  {"", module("(devel)"), unreleased},
		"build without build info": {"", func() (*debug.BuildInfo, bool) { return nil, false }, unreleased},
	} {
		t.Run(name, func(t *testing.T) {
			if got := versionOf(c.linked, c.read); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func source(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestVersionsAgree: everything that is published names the newest release.
func TestVersionsAgree(t *testing.T) {
	newest := regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\]`).FindStringSubmatch(source(t, "CHANGELOG.md"))
	if newest == nil {
		t.Fatal("CHANGELOG.md has no release")
	}
	if got := strings.TrimSuffix(unreleased, "-dev"); got != newest[1] {
		t.Errorf("cmd/outrider/version.go says %s, the newest release of CHANGELOG.md is %s", unreleased, newest[1])
	}
	for path, pattern := range map[string]string{
		"docs/server.json":           `"version": "([^"]+)"`,
		"dist/npm/package.json":      `"version": "([^"]+)"`,
		"dist/install.sh":            `version=\$\{1:-([^}]+)\}`,
		"action.yml":                 `X\.Y\.Z\.\n    default: "([^"]+)"`,
		"dist/templates/gitlab.yml":  `(?:outrider:|outrider/v)(\d[^\s/]*)`,
		"dist/templates/Jenkinsfile": `outrider:(\d[^']*)'`,

		"dist/fleet/compose.yaml":       `image: \S*outrider:(\S+)`,
		"dist/fleet/kubernetes.yaml":    `image: \S*outrider:(\S+)`,
		"dist/services/compose.yaml":    `image: \S*outrider:(\S+)`,
		"dist/services/kubernetes.yaml": `image: \S*outrider:(\S+)`,
		"docs/how-to/install.md":        `(?:outrider[:@]v?|outrider/v)(\d+\.\d+\.\d+)`,
		"docs/how-to/run-in-ci.md":      `(?:outrider[:@]v?|outrider/v)(\d+\.\d+\.\d+)`,
	} {
		found := regexp.MustCompile(pattern).FindAllStringSubmatch(source(t, path), -1)
		if len(found) == 0 {
			t.Errorf("%s names no version", path)
		}
		for _, m := range found {
			if m[1] != newest[1] {
				t.Errorf("%s names the version %s, the newest release of CHANGELOG.md is %s", path, m[1], newest[1])
			}
		}
	}
}

// ciTemplate is a file that runs outrider on a CI server.
type ciTemplate struct {
	shell []string // lines that it runs, those of dist/ci.sh included
	env   []string // names of variables that it sets
	// script is what it runs to check and run plans, by this program.
	script string
	by     []string
	// inputs are its inputs with their defaults, by the name of their variable, and fixed are other variables
	// of the script.
	inputs, fixed map[string]string
}

// ciScript is dist/ci.sh as templates have it in them, without its first line.
func ciScript(t *testing.T) string {
	t.Helper()
	_, script, _ := strings.Cut(source(t, "dist/ci.sh"), "\n")
	return strings.TrimSpace(script)
}

// templates reads all of them. What is said of each one's form is tested here.
func templates(t *testing.T) map[string]ciTemplate {
	t.Helper()
	return map[string]ciTemplate{
		"action.yml":                 githubAction(t),
		"dist/templates/gitlab.yml":  gitlabTemplate(t),
		"dist/templates/Jenkinsfile": jenkinsfile(t),
	}
}

func githubAction(t *testing.T) ciTemplate {
	t.Helper()
	var action struct {
		Inputs map[string]struct {
			Description string
			Default     *string
		}
		Runs struct {
			Using string
			Steps []struct {
				Name, Run, Shell, If string
				Env                  map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(source(t, "action.yml")), &action); err != nil {
		t.Fatalf("action.yml: %v", err)
	}
	if action.Runs.Using != "composite" {
		t.Errorf("action.yml is of the kind %q, want composite", action.Runs.Using)
	}
	out := ciTemplate{
		by:     []string{"bash", "--noprofile", "--norc", "-eo", "pipefail"},
		inputs: map[string]string{},
		fixed:  map[string]string{"PLAN_OPEN": "OPEN"},
	}
	used := map[string]bool{}
	for _, step := range action.Runs.Steps {
		if step.Shell == "" {
			t.Errorf("action.yml: %s: a step of a composite action needs a shell", step.Name)
		}
		if strings.Contains(step.Run, "${{") {
			t.Errorf("action.yml: %s: an expression in a command lets its value run as one: pass it in env", step.Name)
		}
		out.shell = append(out.shell, step.Run)
		runs := strings.Contains(step.Run, "/dist/ci.sh")
		if runs {
			out.script = step.Run
			out.shell = append(out.shell, ciScript(t))
		}
		if m := regexp.MustCompile(`^\$\{\{ inputs\.([a-z-]+) != 'true' \}\}$`).FindStringSubmatch(step.If); m != nil {
			used[m[1]] = true
		} else if step.If != "" {
			t.Errorf("action.yml: %s is run if %s: what was asked for and is left out has to fail", step.Name, step.If)
		}
		for name, value := range step.Env {
			out.env = append(out.env, name)
			m := regexp.MustCompile(`^\$\{\{ inputs\.([a-z-]+) \}\}$`).FindStringSubmatch(value)
			if m == nil || action.Inputs[m[1]].Description == "" || action.Inputs[m[1]].Default == nil {
				t.Errorf("action.yml: %s: %s is %s, which is no declared input with a default", step.Name, name, value)
				continue
			}
			used[m[1]] = true
			if runs && out.fixed[name] == "" {
				out.inputs[name] = *action.Inputs[m[1]].Default
			}
		}
	}
	for name := range action.Inputs {
		if !used[name] {
			t.Errorf("action.yml: no step uses the input %s", name)
		}
	}
	return out
}

func gitlabTemplate(t *testing.T) ciTemplate {
	t.Helper()
	const path = "dist/templates/gitlab.yml"
	header, jobs, ok := strings.Cut(source(t, path), "\n---\n")
	if !ok {
		t.Fatalf("%s has no header of inputs", path)
	}
	var spec struct {
		Spec struct {
			Inputs map[string]struct{ Default *string }
		}
	}
	var all map[string]struct {
		Script    []string
		Variables map[string]string
	}
	if err := errors.Join(yaml.Unmarshal([]byte(header), &spec), yaml.Unmarshal([]byte(jobs), &all)); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	job := all["outrider"]
	out := ciTemplate{
		shell:  job.Script,
		script: strings.Join(job.Script, "\n"),
		by:     []string{"sh", "-e"},
		inputs: map[string]string{},
		fixed:  map[string]string{},
	}
	if strings.Contains(out.script, "$[[") {
		t.Errorf("%s: an input in a command lets its value run as one: pass it in variables", path)
	}
	for name, value := range job.Variables {
		out.env = append(out.env, name)
		if input, ok := strings.CutPrefix(value, "$[[ inputs."); ok {
			of := spec.Spec.Inputs[strings.TrimSuffix(input, " ]]")]
			if of.Default == nil {
				t.Errorf("%s: %s is %s, which is no input with a default", path, name, value)
				continue
			}
			out.inputs[name] = *of.Default
		}
	}
	return out
}

func jenkinsfile(t *testing.T) ciTemplate {
	t.Helper()
	const path = "dist/templates/Jenkinsfile"
	pipeline := source(t, path)
	m := regexp.MustCompile(`(?s) sh \'\'\'\n(.*?)\'\'\'\n`).FindAllStringSubmatch(pipeline, -1)
	if len(m) != 1 || strings.Contains(m[0][1], `\`) {
		t.Fatalf("%s has %d scripts, expected one, without a backslash, which Groovy reads", path, len(m))
	}
	out := ciTemplate{
		shell:  []string{m[0][1]},
		script: m[0][1],
		by:     []string{"sh", "-xe"},
		inputs: map[string]string{},
		fixed:  map[string]string{},
	}
	for _, m := range regexp.MustCompile(`(?m)^\s*(?:string|text)\(name: '([A-Z_]+)', defaultValue: '([^']*)'`).
		FindAllStringSubmatch(pipeline, -1) {
		out.inputs[m[1]] = m[2]
	}
	for _, m := range regexp.MustCompile(`(?m)^\s*([A-Z_]+) = '`).FindAllStringSubmatch(pipeline, -1) {
		out.env = append(out.env, m[1])
	}
	return out
}

// TestTemplatesHaveTheScript: what is tried of dist/ci.sh is so of each template.
func TestTemplatesHaveTheScript(t *testing.T) {
	want := ciScript(t)
	for _, path := range []string{"dist/templates/gitlab.yml", "dist/templates/Jenkinsfile"} {
		lines := strings.Split(strings.TrimSpace(templates(t)[path].script), "\n")
		margin := ""
		for _, line := range lines[1:] {
			trimmed := strings.TrimLeft(line, " ")
			if trimmed != "" && (margin == "" || len(line)-len(trimmed) < len(margin)) {
				margin = line[:len(line)-len(trimmed)]
			}
			if margin == "" {
				break
			}
		}
		for i, line := range lines {
			lines[i] = strings.TrimPrefix(line, margin)
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("%s has not the text of dist/ci.sh in it: copy it there", path)
		}
	}
}

// TestTemplatesNameWhatExists: verbs, flags and variables of the CI templates are
// those of the program, and each template validates, checks and runs a plan.
func TestTemplatesNameWhatExists(t *testing.T) {
	root := commandTree()
	call := regexp.MustCompile(`(?m)(?:^ *|[;&|] *|then )outrider ([a-z]+)([^\n;&|]*)`)
	for path, tpl := range templates(t) {
		verbs := map[string]bool{}
		for _, m := range call.FindAllStringSubmatch(strings.Join(tpl.shell, "\n"), -1) {
			verbs[m[1]] = true
			c, _, err := root.Find([]string{m[1]})
			if err != nil || c == root {
				t.Errorf("%s: there is no verb %s", path, m[1])
				continue
			}
			for _, f := range longFlag.FindAllStringSubmatch(m[2], -1) {
				if c.Flag(f[1]) == nil && c.InheritedFlags().Lookup(f[1]) == nil {
					t.Errorf("%s: %s has no flag --%s", path, m[1], f[1])
				}
			}
		}
		for _, verb := range []string{"validate", "check", "run"} {
			if !verbs[verb] {
				t.Errorf("%s does not call outrider %s; it calls %v", path, verb, verbs)
			}
		}
		run, _, _ := root.Find([]string{"run"})
		for _, name := range tpl.env {
			flag, ours := strings.CutPrefix(name, "OUTRIDER_")
			flag = strings.ToLower(strings.ReplaceAll(flag, "_", "-"))
			if ours && run.Flag(flag) == nil {
				t.Errorf("%s sets %s, and run has no flag --%s", path, name, flag)
			}
		}
	}
}

// TestReleasesUseTheLinkersName: the variable that a release sets exists.
func TestReleasesUseTheLinkersName(t *testing.T) {
	program := source(t, "cmd/outrider/version.go")
	for _, path := range []string{"dist/goreleaser.yaml", "dist/Containerfile", "scripts/try-distribution"} {
		found := regexp.MustCompile(`-X main\.([a-zA-Z]+)=`).FindAllStringSubmatch(source(t, path), -1)
		if len(found) == 0 {
			t.Errorf("%s sets no version", path)
		}
		for _, m := range found {
			if !strings.Contains(program, "\nvar "+m[1]+" string\n") {
				t.Errorf("%s sets main.%s, which cmd/outrider/version.go does not declare", path, m[1])
			}
		}
	}
	var release struct {
		Version  int
		Builds   []struct{ Main, Binary string }
		Archives []struct {
			Name string `yaml:"name_template"`
		}
	}
	if err := yaml.Unmarshal([]byte(source(t, "dist/goreleaser.yaml")), &release); err != nil {
		t.Fatal(err)
	}
	if release.Version != 2 || len(release.Builds) != 1 || len(release.Archives) != 1 {
		t.Fatalf("dist/goreleaser.yaml: %+v", release)
	}
	if _, err := os.Stat("../../" + release.Builds[0].Main); err != nil {
		t.Error(err)
	}
	name := strings.NewReplacer("{{ .Version }}", "${version}", "{{ .Os }}", "${os}", "{{ .Arch }}", "${arch}").
		Replace(release.Archives[0].Name)
	if !strings.Contains(source(t, "dist/install.sh"), "archive="+name+".tar.gz") {
		t.Errorf("dist/install.sh does not ask for %s.tar.gz, which the release has", name)
	}
	var npm struct{ Bin map[string]string }
	if err := json.Unmarshal([]byte(source(t, "dist/npm/package.json")), &npm); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("../../dist/npm/" + npm.Bin["outrider"]); err != nil || npm.Bin["outrider"] == "" {
		t.Errorf("dist/npm/package.json names the program %q: %v", npm.Bin["outrider"], err)
	}
}
