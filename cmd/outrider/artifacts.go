package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/outrider-run/outrider/evidence/outfile"
)

// mostRuns bounds the runs that write pictures into one folder at the same time.
const mostRuns = 100

// artifactsFolder is where a run writes its pictures: the folder that was given or, while another run writes there, one
// of its own in it. leave ends that, and removes the folder where it is empty.
func (a *app) artifactsFolder(given string) (dir string, leave func()) {
	if given == "" {
		return "", func() {}
	}
	to := a.folder("artifacts")
	for n := 1; n <= mostRuns; n++ {
		dir = given
		if n > 1 {
			dir = filepath.Join(given, strconv.Itoa(n))
		}
		_, err := os.Stat(dir)
		isNew := errors.Is(err, os.ErrNotExist)
		if to.MkdirAll(dir, 0o755) != nil {
			break // who writes there says why
		}
		claimed, err := outfile.ClaimFolder(dir)
		if errors.Is(err, outfile.ErrHeld) {
			continue
		}
		if err != nil {
			break
		}
		if n > 1 {
			fmt.Fprintf(
				a.stderr, "outrider: another run writes into %s, so the pictures of this one are in %s\n", given, dir,
			)
		}
		return dir, func() {
			if isNew {
				_ = os.Remove(dir) // not when there is something in it
			}
			_ = claimed.Close()
		}
	}
	return given, func() {}
}
