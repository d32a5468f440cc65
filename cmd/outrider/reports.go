package main

import (
	"cmp"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/mask"
)

// reportFlags are the flags of a verb that writes reports.
type reportFlags struct {
	files   string
	history []string
}

func (r *reportFlags) add(f *pflag.FlagSet) {
	f.StringVar(&r.files, "report", "", "files to write, as "+report.FormatsHelp)
	listVar(
		f, &r.history, "history", "json report of an earlier run, whose outcomes the html report shows (repeatable)",
	)
}

// maxPast bounds a report of an earlier run.
const maxPast = 256 << 20

// reports are the reports to write.
type reports struct {
	files report.Files
	past  []report.Past
}

// open reads the flags and what they name, before a browser starts.
func (r *reportFlags) open(a *app) (reports, error) {
	files, err := report.ParseFiles(r.files)
	if err != nil {
		return reports{}, usage("%w", err)
	}
	if a.json && files.Annotates() {
		return reports{}, usage("--json and github=- both write to standard output: expected one of them")
	}
	out := reports{files: files}
	for _, path := range r.history {
		content, err := outfile.Read(path, maxPast)
		if err != nil {
			return reports{}, usage("--history: %w", err)
		}
		past, err := report.ReadPast(content)
		if err != nil {
			return reports{}, usage("--history %s: %w", path, err)
		}
		out.past = append(out.past, past)
	}
	slices.SortStableFunc(out.past, func(x, y report.Past) int { return cmp.Compare(x.StartedAt, y.StartedAt) })
	return out, nil
}

// spares refuses reports that would be written over a file that the run reads, such as its plan.
func (r reports) spares(read ...string) error {
	for format, to := range r.files {
		for _, path := range read {
			if to == report.Stdout || !sameFile(to, path) {
				continue
			}
			return usage("--report %s=%s would be written over %s, which the run reads", format, to, path)
		}
	}
	return nil
}

// writeReports comes after the result: a full disk must not take what was found
// out from standard output too. artifacts is the folder for pictures, "" for none.
func (a *app) writeReports(out reports, run report.Run, artifacts string) (complete bool) {
	run = run.Masked(a.secrets)
	run.Past, run.Version = out.past, version
	var failed []error
	if artifacts != "" {
		if err := run.SaveScreenshots(a.folder("artifacts"), artifacts); err != nil {
			failed = append(failed, err)
		}
	}
	failed = append(failed, out.files.Write(a.folder("report"), mask.Written(a.stdout), run)...)
	for _, err := range failed {
		a.warn(err)
	}
	return len(failed) == 0
}

// progress says on a terminal what runs. It is quiet with --json.
func (a *app) progress() *report.Progress {
	if a.json {
		return report.NewProgress(nil, nil)
	}
	return terminalProgress(a.stderr)
}

// coloured is standard output, with outcomes in colour where it is a terminal.
func (a *app) coloured() io.Writer { return colouredWriter(a.stdout) }
