package replay

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// VersionDifference says which call goes otherwise in another build of this program.
type VersionDifference struct {
	Call   int     `json:"call"` // 0: none does
	Name   string  `json:"name,omitempty"`
	Here   Outcome `json:"here"`
	There  Outcome `json:"there"`
	Report *Report `json:"report"` // of the other build
}

// BisectVersion replays a log with another build, and compares with a replay of this one.
func BisectVersion(ctx context.Context, l *Log, o Options, binary string, args []string) (*VersionDifference, error) {
	here, err := Play(ctx, l, o)
	if err != nil {
		return nil, err
	}
	var out, words bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Stdout, cmd.Stderr = &out, &words
	err = cmd.Run()
	var code *exec.ExitError
	if err != nil && !errors.As(err, &code) {
		return nil, fault.Wrap(fault.InvalidInput, err, "running the other build")
	}
	there := &Report{}
	if json.Unmarshal(out.Bytes(), there) != nil || there.Verdict == "" {
		return nil, fault.New(fault.InvalidInput, "the other build gave no report of a replay").
			With("words", fault.Clip(strings.TrimSpace(words.String()), 500))
	}
	d := &VersionDifference{Report: there}
	for i := range max(len(here.Calls), len(there.Calls)) {
		var a, b CallResult
		if i < len(here.Calls) {
			a = here.Calls[i]
		}
		if i < len(there.Calls) {
			b = there.Calls[i]
		}
		if a.Verdict != b.Verdict || a.Is.OK != b.Is.OK || a.Is.Code != b.Is.Code || a.Is.Step != b.Is.Step {
			d.Call = i + 1
			d.Name = cmp.Or(a.Name, b.Name)
			d.Here = a.Is
			d.There = b.Is
			break
		}
	}
	return d, nil
}

// Print writes it for people.
func (d *VersionDifference) Print(w io.Writer) {
	if d.Call == 0 {
		fmt.Fprintln(w, "both builds give the same results")
		return
	}
	fmt.Fprintf(w, "call %d %s: %s here, %s in the other build\n", d.Call, d.Name, outcome(d.Here), outcome(d.There))
}
