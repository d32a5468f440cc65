// Package terminal is what the verbs do differently where somebody watches: progress and
// colour. It decides nothing about what is written. The verbs give it their writers.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/outrider-run/outrider/evidence/report"
)

// Progress says on a terminal what runs. It is quiet elsewhere, and in continuous
// integration.
func Progress(w io.Writer) *report.Progress {
	if os.Getenv("CI") != "" || os.Getenv("TERM") == "dumb" || !Is(w) {
		return report.NewProgress(nil, nil)
	}
	return report.NewProgress(w, func() int {
		if f, ok := file(w); ok {
			if width, _, err := term.GetSize(int(f.Fd())); err == nil {
				return width
			}
		}
		return 0
	})
}

// Coloured writes outcomes in colour where w is a terminal that does not refuse it.
func Coloured(w io.Writer) io.Writer {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !Is(w) {
		return w
	}
	return report.Coloured(w)
}

// Is says whether w writes to a terminal.
func Is(w io.Writer) bool {
	f, ok := file(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// file is what a writer writes to in the end, when that is a file.
func file(w io.Writer) (*os.File, bool) {
	for {
		outer, ok := w.(interface{ Unwrap() io.Writer })
		if !ok {
			break
		}
		w = outer.Unwrap()
	}
	f, ok := w.(*os.File)
	return f, ok
}
