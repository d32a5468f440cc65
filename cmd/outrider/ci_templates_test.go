package main

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stubOutrider notes its arguments, a line for each, and ends as a variable says.
const stubOutrider = `#!/bin/sh
printf '%s\n' "$@" "--" >>"$CALLS"
case $1 in validate) exit "${ENDS_VALIDATE:-0}" ;; check) exit "${ENDS_CHECK:-0}" ;; run) exit "${ENDS_RUN:-0}" ;; esac
`

// ciRun is what the CI templates do with inputs, by the name of their variable.
type ciRun struct {
	name   string
	inputs map[string]string
	ends   map[string]string // exit codes of verbs
	github bool              // only where GitHub says so
	exit   int
	calls  []string // each with its arguments, behind one another with |
	says   string
}

func reportsAt(folder, name, more string) string {
	at := folder + "/" + name
	return "--report=junit=" + at + ".xml,json=" + at + ".json,html=" + at + ".html" + more
}

var ciRuns = []ciRun{
	{name: "nothing", exit: 2, says: "there is nothing to check and no plan to run: expected maps and open, or plan"},
	{name: "no address", inputs: map[string]string{"MAPS": "sites/"}, exit: 2, says: "there is nothing to check"},
	{name: "no maps", inputs: map[string]string{"OPEN": "http://x/"}, exit: 2, says: "there is nothing to check"},
	{
		name:   "a misspelt input",
		inputs: map[string]string{"MAP": "sites/", "OPEN": "http://x/"},
		exit:   2,
		says:   "there is nothing to check",
	},
	{name: "blanks", inputs: map[string]string{"PLAN": " \n "}, exit: 2, says: "there is nothing to check"},
	{
		name:   "a check that is switched off",
		inputs: map[string]string{"MAPS": "sites/", "OPEN": "http://x/", "CHECK": "false"},
		exit:   2,
		says:   "there is nothing to check",
	},
	{
		name:   "a check that is asked for",
		inputs: map[string]string{"MAPS": "sites/", "CHECK": "true", "PLAN": "a.yaml"},
		exit:   2,
		says:   "a check needs maps and open",
	},
	{
		name:   "an odd check",
		inputs: map[string]string{"MAPS": "sites/", "OPEN": "http://x/", "CHECK": "yes"},
		exit:   2,
		says:   "the input check is none of auto, true and false",
	},
	{
		name:   "an odd strict",
		inputs: map[string]string{"PLAN": "a.yaml", "STRICT": "yes"},
		exit:   2,
		says:   "the input strict is neither true nor false",
	},
	{
		name: "a plan alone", inputs: map[string]string{"PLAN": "a.yaml"},
		calls: []string{"run|" + reportsAt("outrider-reports", "plan", "") + "|--artifacts=outrider-reports|--|a.yaml"},
	},
	{
		name:   "a red check does not hide the plan",
		inputs: map[string]string{"MAPS": "sites/", "OPEN": "http://x/", "PLAN": "a.yaml"},
		ends:   map[string]string{"CHECK": "1"},
		exit:   1,
		calls: []string{
			"validate|--|sites/",
			"check|--open=http://x/|--maps=sites/|" + reportsAt("outrider-reports", "check", ""),
			"run|--maps=sites/|" + reportsAt("outrider-reports", "plan", "") +
				"|--artifacts=outrider-reports|--|a.yaml",
		},
	},
	{
		name: "the worse counts",
		inputs: map[string]string{
			"MAPS":    "sites/",
			"OPEN":    "http://x/",
			"CHECK":   "true",
			"PLAN":    "a.yaml",
			"REPORTS": "my reports",
		},
		ends: map[string]string{"VALIDATE": "2", "CHECK": "1", "RUN": "3"},
		exit: 3,
		calls: []string{
			"validate|--|sites/",
			"check|--open=http://x/|--maps=sites/|" + reportsAt("my reports", "check", ""),
			"run|--maps=sites/|" + reportsAt("my reports", "plan", "") + "|--artifacts=my reports|--|a.yaml",
		},
	},
	{
		name: "every input, and what a shell would read",
		inputs: map[string]string{
			"MAPS":        "my \"maps\"/$(touch pwned)\n  it's; touch pwned  ",
			"OPEN":        "http://x/?a=1&b=`touch pwned`\n\nhttp://y/*",
			"REQUIRE":     "shop.list\nshop.open",
			"STRICT":      "true",
			"PLAN":        "-a plan's $HOME.yaml\n*.yaml",
			"GREP":        "a b|\"c\"$",
			"SHARD":       "1/2",
			"WORKERS":     "4",
			"RETRIES":     "1",
			"SECRETS":     "PW=env:A\nPIN=env:B",
			"CHECK_FLAGS": "--before=sign in.yaml\n--settle=1s",
			"PLAN_FLAGS":  "--var=a=b c\n--fail-on-flaky",
		},
		calls: []string{
			"validate|--|my \"maps\"/$(touch pwned)|it's; touch pwned",
			"check|--open=http://x/?a=1&b=`touch pwned`|--open=http://y/*|--maps=my \"maps\"/$(touch " +
				"pwned)|--maps=it's; touch pwned|--require=shop.list|--require=shop.open|" +
				"--secret=PW=env:A|--secret=PIN=env:B|--strict-checks|" + reportsAt("outrider-reports", "check", "") +
				"|--before=sign in.yaml|--settle=1s",
			"run|--maps=my \"maps\"/$(touch pwned)|--maps=it's; " +
				"touch pwned|--secret=PW=env:A|--secret=PIN=env:B|--grep=a " +
				"b|\"c\"$|--shard=1/2|--workers=4|--retries=1|" +
				reportsAt("outrider-reports", "plan", "") +
				"|--artifacts=outrider-reports|--var=a=b c|--fail-on-flaky|--|-a plan's $HOME.yaml|*.yaml",
		},
	},
	{
		name:   "nothing, on GitHub",
		github: true,
		exit:   2,
		says:   "::error title=outrider::outrider: there is nothing to check",
	},
	{
		name:   "annotations and the summary of the job",
		github: true,
		inputs: map[string]string{"MAPS": "sites/", "OPEN": "http://x/\nhttp://y/", "PLAN": "a.yaml"},
		calls: []string{
			"validate|--|sites/",
			"check|--open=http://x/|--open=http://y/|--maps=sites/|" +
				reportsAt("outrider-reports", "check", ",github=-,github=summary.md"),
			"run|--open=http://x/|--maps=sites/|" +
				reportsAt("outrider-reports", "plan", ",github=-,github=summary.md") +
				"|--artifacts=outrider-reports|--|a.yaml",
		},
	},
}

// TestTemplatesRun runs the templates of CI as their servers do, with a program in the place of outrider.
func TestTemplatesRun(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "outrider"), []byte(stubOutrider), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for path, tpl := range templates(t) {
		if _, err := exec.LookPath(tpl.by[0]); err != nil {
			t.Logf("%s is not tried: there is no %s", path, tpl.by[0])
			continue
		}
		for _, c := range ciRuns {
			if c.github && path != "action.yml" {
				continue
			}
			t.Run(filepath.Base(path)+"/"+strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
				work := t.TempDir()
				env := []string{
					"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + work,
					"CALLS=" + filepath.Join(work, "calls"), "GITHUB_ACTION_PATH=" + root,
				}
				for verb, code := range c.ends {
					env = append(env, "ENDS_"+verb+"="+code)
				}
				if c.github {
					env = append(env, "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=summary.md")
				}
				env = append(env, tpl.values(c)...)
				cmd := exec.CommandContext(
					t.Context(), tpl.by[0], append(slices.Clone(tpl.by[1:]), "-c", tpl.script)...,
				)
				cmd.Dir, cmd.Env = work, env
				out, err := cmd.CombinedOutput()
				code, ended := 0, (*exec.ExitError)(nil)
				if errors.As(err, &ended) {
					code = ended.ExitCode()
				} else if err != nil {
					t.Fatal(err)
				}
				if code != c.exit || !strings.Contains(string(out), c.says) {
					t.Errorf("exit code %d, expected %d and %q in\n%s", code, c.exit, c.says, out)
				}
				said, err := os.ReadFile(filepath.Join(work, "calls"))
				if err != nil && len(c.calls) > 0 {
					t.Fatal(err)
				}
				// A line "--" ends a call; one of the arguments is followed by others.
				got := strings.ReplaceAll(strings.TrimSuffix(string(said), "\n--\n"), "\n", "|")
				want := strings.Join(c.calls, "|--|")
				if !c.github {
					got, want = withoutOpen(got), withoutOpen(want)
				}
				if got != want {
					t.Errorf("it calls\n%s\nexpected\n%s", got, want)
				}
				if _, err := os.Stat(filepath.Join(work, "pwned")); err == nil {
					t.Error("a value was run as a command")
				}
			})
		}
	}
}

// withoutOpen are calls without the address of a plan, which only the action gives.
func withoutOpen(calls string) string {
	head, run, ok := strings.Cut(calls, "run|--open=")
	if !ok {
		return calls
	}
	_, rest, _ := strings.Cut(run, "|")
	return head + "run|" + rest
}

// values is the environment of the template's script for the inputs of a run.
func (tpl ciTemplate) values(c ciRun) []string {
	var out []string
	given := func(name string) string { return cmp.Or(c.inputs[name], tpl.inputs[name]) }
	for _, name := range slices.Sorted(maps.Keys(tpl.inputs)) {
		value := given(name)
		if name == "MAPS" && c.inputs[name] == "" {
			value = "" // that of Jenkins is an example
		}
		out = append(out, name+"="+value)
	}
	for name, of := range tpl.fixed {
		out = append(out, name+"="+given(of))
	}
	if _, is := tpl.inputs["REPORTS"]; !is {
		out = append(out, "REPORTS="+cmp.Or(c.inputs["REPORTS"], "outrider-reports"))
	}
	return out
}
