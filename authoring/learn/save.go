package learn

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/outrider-run/outrider/authoring/ident"
	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Saved is a learned action in a storage folder.
type Saved struct {
	File string `json:"file"`
	Diff string `json:"diff"`
}

// Save writes the map of a learned action into a storage folder, in the private scope of
// its site. A map of an earlier one of the same name is replaced; the difference says how.
func (l *Learned) Save(root string) (Saved, error) {
	u, err := url.Parse(l.Start)
	if err != nil || u.Hostname() == "" || strings.ContainsAny(u.Hostname(), `/\:`) ||
		strings.Contains(u.Hostname(), "..") {
		return Saved{}, fault.New(
			fault.InvalidInput, "the start %s names no site to save the action for", fault.Clip(l.Start, 100),
		)
	}
	name := ident.First(ident.Slug(strings.ReplaceAll(l.Action, ".", " ")), "action")
	file := filepath.Join(
		root, "scopes", "private", "sites", strings.ToLower(u.Hostname()), "learned", name, "actions.json",
	)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return Saved{}, fmt.Errorf("making the folder of the map: %w", err)
	}
	old, err := os.ReadFile(file)
	from := filepath.ToSlash(file)
	if err != nil {
		old, from = nil, "/dev/null"
	}
	text := append(bytes.TrimRight(l.Map, "\n"), '\n')
	if err := outfile.Write(file, text, 0o600); err != nil {
		return Saved{}, fmt.Errorf("writing the map: %w", err)
	}
	patch := diff.Diff(from, old, filepath.ToSlash(file), text)
	if i := bytes.IndexByte(patch, '\n'); bytes.HasPrefix(patch, []byte("diff ")) && i >= 0 {
		patch = patch[i+1:]
	}
	return Saved{file, string(patch)}, nil
}

// Read reads the calls of a recording, those numbered from and to included; 0 is the
// first and the last. Calls of other tabs than that of the first are left out.
func Read(path string, from, to int) ([]record.Call, error) {
	r, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	all := record.Calls(r.Events)
	if to <= 0 || to > len(all) {
		to = len(all)
	}
	from = max(from, 1)
	if from > to {
		return nil, fault.New(
			fault.InvalidInput, "the recording %s has %d calls: it has none from %d to %d", path, len(all), from, to,
		)
	}
	return OfTab(all[from-1:to], 0), nil
}

// OfTab are the calls of one tab that ended; 0 is the tab of the first.
func OfTab(calls []record.Call, tab int) []record.Call {
	var out []record.Call
	for _, c := range calls {
		if tab == 0 {
			tab = c.Tab
		}
		if c.Tab == tab && c.Finished {
			out = append(out, c)
		}
	}
	return out
}

// Print shows what was learned for people.
func (l *Learned) Print(w io.Writer) {
	word := "learned "
	if !l.Verified {
		word = "unproven"
	}
	fmt.Fprintf(w, "%s   %s(%s)\n", word, l.Action, strings.Join(l.Inputs, ", "))
	for _, part := range []struct {
		word  string
		texts []string
	}{{"proven", l.Proven}, {"open", l.Unproven}, {"note", l.Notes}} {
		for _, t := range part.texts {
			fmt.Fprintf(w, "%-10s %s\n", part.word, report.Printable(t))
		}
	}
	fmt.Fprintf(
		w, "cost       1 call and %d bytes in place of %d calls and %d bytes\n",
		l.Cost.ActionBytes, l.Cost.SessionCalls, l.Cost.SessionBytes,
	)
}

// Command is the verb learn: it learns, saves where a folder is given, and shows the
// outcome.
func Command(
	ctx context.Context, h Host, sessions [][]record.Call, o Options, root string, w io.Writer, asJSON bool,
) error {
	l, err := Learn(ctx, h, sessions, o)
	if err != nil {
		return err
	}
	return l.Show(root, w, asJSON)
}

// Show saves what was learned where a folder is given, and shows it.
func (l *Learned) Show(root string, w io.Writer, asJSON bool) error {
	var saved *Saved
	if root != "" {
		s, err := l.Save(root)
		if err != nil {
			return err
		}
		saved = &s
	}
	if asJSON {
		_, err := fmt.Fprintf(w, "%s\n", encode(struct {
			OK bool `json:"ok"`
			*Learned
			Saved *Saved `json:"saved,omitempty"`
		}{true, l, saved}))
		return err
	}
	l.Print(w)
	if saved == nil {
		_, err := fmt.Fprintf(w, "%s\n", l.Map)
		return err
	}
	fmt.Fprintf(w, "saved      %s\n%s", saved.File, saved.Diff)
	return nil
}
