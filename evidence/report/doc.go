// Package report renders what a run found: as tables for people, and as HTML, JUnit,
// JSON, SARIF, TAP and the forms of GitHub, all rendered from one Run.
//
// It does not run anything and does not decide what counts as failed. Package
// plan makes the results; the verbs of cmd/outrider print them.
package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files are the files to write, by their format.
type Files map[string]string

// Stdout is the file name that stands for standard output. Only annotations of
// GitHub go there.
const Stdout = "-"

// annotations is the format of github=-; github=FILE is the summary.
const annotations = "annotations"

// Formats are the names of the formats that a report can be written in.
func Formats() []string { return slices.Clone(formats) }

var formats = []string{"junit", "json", "html", "sarif", "github", "tap"}

// FormatsHelp is the help text of the formats.
const FormatsHelp = "junit=FILE,json=FILE,html=FILE,sarif=FILE,github=FILE or -,tap=FILE"

// ParseFiles reads junit=FILE,json=FILE, in any choice of the formats. github=-
// and github=FILE may both be there.
func ParseFiles(text string) (Files, error) {
	out := Files{}
	if text == "" {
		return out, nil
	}
	for _, part := range parts(text) {
		format, file, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || file == "" || !slices.Contains(formats, format) {
			return nil, fmt.Errorf("--report is %q: expected %s, in any choice", text, FormatsHelp)
		}
		if file == Stdout {
			if format != "github" {
				return nil, fmt.Errorf("--report writes %s to %q: only github goes to standard output", format, file)
			}
			format = annotations
		}
		if out[format] != "" {
			return nil, fmt.Errorf("--report names %s twice", format)
		}
		out[format] = file
	}
	return out, nil
}

// parts are the formats with their files. A comma before what looks like a file is part of a name.
func parts(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if len(out) > 0 && !strings.Contains(part, "=") && strings.ContainsAny(part, "./") {
			out[len(out)-1] += "," + part
			continue
		}
		out = append(out, part)
	}
	return out
}

// Annotates reports whether annotations of GitHub go to standard output.
func (f Files) Annotates() bool { return f[annotations] != "" }

// ShowsScreenshots reports whether a format shows pictures.
func (f Files) ShowsScreenshots() bool { return f["html"] != "" || f["junit"] != "" || f["json"] != "" }

// Write renders the run into a folder, in each requested format. Pictures that JUnit and
// JSON refer to are written beside one of them, unless they are saved already. What
// goes to standard output goes to w. It returns one error for each file that could
// not be written.
func (f Files) Write(to Folder, w io.Writer, run Run) []error {
	var failed []error
	run = run.Distinct()
	if f.Annotates() {
		if _, err := w.Write(Annotations(run, f.elsewhere()...)); err != nil {
			failed = append(failed, err)
		}
	}
	for _, format := range []string{"junit", "json"} { // both refer to files
		file := f[format]
		if file == "" {
			continue
		}
		if err := run.SaveScreenshots(to, strings.TrimSuffix(file, filepath.Ext(file))+"-pictures"); err != nil {
			failed = append(failed, err)
		}
	}
	for _, format := range formats {
		file, wanted := f[format]
		if !wanted {
			continue
		}
		text, err := run.Render(format)
		if err == nil {
			err = write(to, format, file, text)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("the %s report could not be written to %s: %w", format, file, err))
		}
	}
	return failed
}

// elsewhere are the reports that have what annotations leave out.
func (f Files) elsewhere() []string {
	var out []string
	if file := f["github"]; file != "" {
		name := file
		if file == os.Getenv("GITHUB_STEP_SUMMARY") {
			name = "the summary of the job"
		}
		out = append(out, name)
	}
	if file := f["html"]; file != "" {
		out = append(out, file)
	}
	return out
}

// Render is the run in one format.
func (r Run) Render(format string) ([]byte, error) {
	switch format {
	case "junit":
		return JUnit(r)
	case "json":
		return JSON(r)
	case "html":
		return HTML(r)
	case "sarif":
		return SARIF(r.Findings(), r.Version)
	case "github":
		return Summary(r), nil
	case "tap":
		return TAP(r), nil
	}
	return nil, errors.New("there is no such format")
}

func write(to Folder, format, file string, content []byte) error {
	if err := to.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	// The file of a job's summary may hold what commands wrote that ran earlier.
	if format == "github" && file == os.Getenv("GITHUB_STEP_SUMMARY") {
		if a, ok := to.(appender); ok {
			return a.AppendFile(file, content, 0o644)
		}
	}
	return to.WriteFile(file, content, 0o644)
}
