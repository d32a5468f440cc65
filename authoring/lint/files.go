package lint

import (
	"fmt"
	"os"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/sites"
)

// File is a map that was validated, with what lint says of it.
type File struct {
	sites.FileReport
	Lint Result `json:"lint"`
}

// Files judges maps that were validated. One that is invalid is judged as far as it can
// be read.
func Files(reports []sites.FileReport, calls []Call) []File {
	out := []File{}
	for _, r := range reports {
		f := File{FileReport: r, Lint: Result{Findings: []Finding{}}}
		if text, err := os.ReadFile(r.Path); err == nil {
			if judged, err := Map(text, calls); err == nil {
				f.Lint = judged
			}
		}
		out = append(out, f)
	}
	return out
}

// Findings are the problems of maps that were validated, as reports have them.
func Findings(files []File) []report.Finding {
	var out []report.Finding
	for _, f := range files {
		for _, p := range f.Errors {
			out = append(out, report.Finding{
				Rule:    "validate." + string(p.Code),
				Level:   "error",
				Message: p.Message,
				Place:   report.Place{File: f.Path, Line: p.Line, Pointer: p.Pointer},
			})
		}
		for _, p := range f.Warnings {
			out = append(out, report.Finding{
				Rule:    "validate." + string(p.Code),
				Level:   "warning",
				Message: p.Message,
				Place:   report.Place{File: f.Path, Line: p.Line, Pointer: p.Pointer},
			})
		}
		out = append(out, f.Lint.Reported(f.Path)...)
	}
	return out
}

// WriteSARIF writes the findings into a file.
func WriteSARIF(path, version string, files []File) error {
	text, err := report.SARIF(Findings(files), version)
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("the sarif report could not be written to %s: %w", path, err)
	}
	return nil
}
