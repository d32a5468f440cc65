package plan

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/evidence/report"
)

// updating is held while a plan is written: its cases may run at once.
var updating sync.Mutex

// updateSnapshot writes the rows of a page into a plan, in place of a snapshot of one of its steps. It must stand there
// as a block: snapshot: | and its rows below.
func updateSnapshot(at report.Place, was, is string) error {
	updating.Lock()
	defer updating.Unlock()
	text, err := os.ReadFile(at.File)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	for i := max(0, at.Line-1); i < len(lines); i++ {
		key, rest, ok := strings.Cut(strings.TrimLeft(strings.TrimSpace(lines[i]), "- "), ":")
		if !ok || key != "snapshot" || !strings.HasPrefix(strings.TrimSpace(rest), "|") {
			continue
		}
		end, indent := blockOf(lines, i)
		if !sameRows(lines[i+1:end], was) {
			continue
		}
		var rows []string
		for row := range strings.Lines(is) {
			rows = append(rows, indent+strings.TrimRight(row, "\n"))
		}
		out := append(append(append([]string{}, lines[:i+1]...), rows...), lines[end:]...)
		return outfile.Write(at.File, []byte(strings.Join(out, "\n")), 0o644)
	}
	return fmt.Errorf("the snapshot is not written as a block below snapshot: |, so it is left; the page has\n%s", is)
}

// blockOf is where the block ends that begins after a line, and how its rows are indented.
func blockOf(lines []string, key int) (end int, indent string) {
	indented := func(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
	least := indented(lines[key])
	end = key + 1
	last := end
	for ; end < len(lines); end++ {
		if strings.TrimSpace(lines[end]) == "" {
			continue
		}
		if indented(lines[end]) <= least {
			break
		}
		if indent == "" {
			indent = lines[end][:indented(lines[end])]
		}
		last = end + 1
	}
	if indent == "" {
		indent = strings.Repeat(" ", least+2)
	}
	return last, indent
}

// sameRows reports whether a block has the rows of a snapshot, but for how they are indented.
func sameRows(block []string, snapshot string) bool {
	rows := func(text string) string {
		var out []string
		for row := range strings.Lines(text) {
			out = append(out, strings.TrimSpace(row))
		}
		return strings.Join(slices.DeleteFunc(out, func(row string) bool { return row == "" }), "\n")
	}
	return rows(strings.Join(block, "\n")) == rows(snapshot)
}
