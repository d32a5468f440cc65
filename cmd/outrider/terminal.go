package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/outrider-run/outrider/evidence/report"
)

// terminalProgress says on a terminal what runs. It is quiet elsewhere, and in continuous
// integration.
func terminalProgress(w io.Writer) *report.Progress {
	if os.Getenv("CI") != "" || os.Getenv("TERM") == "dumb" || !isTerminal(w) {
		return report.NewProgress(nil, nil)
	}
	return report.NewProgress(w, func() int {
		if f, ok := terminalFile(w); ok {
			if width, _, err := term.GetSize(int(f.Fd())); err == nil {
				return width
			}
		}
		return 0
	})
}

// colouredWriter writes outcomes in colour where w is a terminal that does not refuse it.
func colouredWriter(w io.Writer) io.Writer {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !isTerminal(w) {
		return w
	}
	return report.Coloured(w)
}

// isTerminal reports whether w writes to a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := terminalFile(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// wrapping is a writer that writes to another.
type wrapping interface{ Unwrap() io.Writer }

// terminalFile is the file below a writer, when there is one.
func terminalFile(w io.Writer) (*os.File, bool) {
	for {
		outer, ok := w.(wrapping)
		if !ok {
			break
		}
		w = outer.Unwrap()
	}
	f, ok := w.(*os.File)
	return f, ok
}
