package report_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
)

// readJUnit prints what junitparser of PyPI reads of a report: the suites, the cases with what they ended
// with, and the totals.
const readJUnit = `
import sys
from junitparser import JUnitXml, Failure, Error, Skipped
x = JUnitXml.fromfile(sys.argv[1])
for s in x:
    print("suite", s.name, s.tests, s.failures, s.errors, s.skipped)
    for c in s:
        r = c.result
        ended, message = (type(r[0]).__name__, r[0].message) if r else ("passed", "")
        print("case", c.classname, "|", c.name, "|", ended, "|", message)
y = JUnitXml()
y += x
y.update_statistics()
print("all", x.tests, x.failures, x.errors, x.skipped, "counted", y.tests, y.failures, y.errors, y.skipped)
`

// TestJUnitIsReadByOthers reads a report with the reader that most tools of Python use.
func TestJUnitIsReadByOthers(t *testing.T) {
	browsertest.OnlyLong(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	command := func(name string, args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
		return string(out), err
	}
	if out, err := command(python, "-m", "venv", filepath.Join(dir, "venv")); err != nil {
		t.Skipf("python3 makes no environment: %v\n%s", err, out)
	}
	python = filepath.Join(dir, "venv", "bin", "python")
	if out, err := command(python, "-m", "pip", "install", "--quiet", "junitparser==3.2.0"); err != nil {
		t.Skipf("PyPI is out of reach: %v\n%s", err, out)
	}
	run := rows(2)
	run.Suites[0].Tests = append(run.Suites[0].Tests, report.Test{
		Name: "known", Class: "plan", Outcome: report.Quarantined, Message: "no order (quarantined until 2999-12-31)",
		Steps: []report.Test{{Name: "order", Class: "plan", Outcome: report.Failed, Message: hostile}},
	})
	text, err := report.JUnit(run)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "junit.xml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := command(python, "-c", readJUnit, path)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"suite shop.plan.yaml 3 2 0 1\n",
		"case shop.plan.yaml | shop.order [1] | Failure | no order\n",
		"case shop.plan.yaml | known | Skipped | no order (quarantined until 2999-12-31)\n",
		"case /items?x=1 page | page | Failure | the status is 500\n",
		"all 10 4 2 1 counted 10 4 2 1\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in what it reads:\n%s", want, out)
		}
	}
}
