package recorder

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/authoring/learn"
	"github.com/outrider-run/outrider/authoring/scaffold"
	"github.com/outrider-run/outrider/authoring/view"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Command is the verb record.
type Command struct {
	// Open opens a host, after change has changed its options.
	Open    func(ctx context.Context, change func(*runtime.Options) error) (*runtime.Host, func(), error)
	URL     string
	Out     string // folder for the map and the plan
	Keep    string // file for the steps; "" for none
	Headed  bool
	View    string // HOST:PORT where the page is shown without a window; "" is any port of this machine
	Force   bool
	Secrets *mask.Set
	Version string
	Learn   learn.Options
	Words   io.Writer // for what is said meanwhile
}

// Done is what came of a recording.
type Done struct {
	OK bool `json:"ok"`
	*learn.Learned
	Files []string `json:"files"`
}

// Run follows a person until the end, runs what was done again in another browser, and
// writes the map and the plan.
func (c Command) Run(ctx context.Context) (*Done, error) {
	if err := scaffold.Free(c.Out, c.Force); err != nil {
		return nil, err
	}
	files, err := os.MkdirTemp("", "outrider-uploads-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for uploads: %w", err)
	}
	defer os.RemoveAll(files)
	opts := Options{Files: files, Each: func(l Line) {
		word := "step"
		if l.Undone {
			word = "undone"
		}
		fmt.Fprintf(c.Words, "%-10s %d %s\n", word, l.Number, report.Printable(l.Text))
	}}
	var shown *view.View
	if !c.Headed {
		shown = view.New()
		opts.View = shown
	}
	r := New(opts)
	if err := c.follow(ctx, r, shown); err != nil {
		return nil, err
	}
	if r.Steps() == 0 {
		return nil, fault.New(fault.InvalidInput, "nothing was done that an action could repeat")
	}
	if c.Keep != "" {
		if err := r.Save(c.Keep, "outrider "+c.Version); err != nil {
			return nil, err
		}
	}
	done, err := c.write(ctx, r, files)
	if err != nil && c.Keep == "" { // what somebody did is not lost
		kept := strings.TrimRight(c.Out, "/") + ".rec"
		if r.Save(kept, "outrider "+c.Version) == nil {
			fmt.Fprintf(c.Words, "kept       %s, for outrider learn\n", report.Printable(kept))
		}
	}
	return done, err
}

// follow opens the page for a person, in a window or in a view.
func (c Command) follow(ctx context.Context, r *Recorder, shown *view.View) error {
	h, closing, err := c.Open(ctx, func(o *runtime.Options) error {
		if o.Recorder != nil {
			return fault.New(fault.InvalidInput, "record follows a person: use --keep in place of --record and --trace")
		}
		o.Open = []string{c.URL}
		o.Browser.Headed = c.Headed
		r.Follow(o)
		return nil
	})
	if err != nil {
		return err
	}
	defer closing()
	if shown != nil {
		address := c.View
		if address == "" {
			address = "127.0.0.1:0"
		}
		at, stop, err := shown.Serve(address, h)
		if err != nil {
			return fault.New(fault.InvalidInput, "--view: %v", err)
		}
		defer stop()
		fmt.Fprintf(c.Words, "open       %s\n", at)
	}
	return r.Run(ctx)
}

// write learns the action, and writes its files.
func (c Command) write(ctx context.Context, r *Recorder, uploads string) (*Done, error) {
	for _, name := range slices.Sorted(maps.Keys(r.Secrets())) {
		if err := c.Secrets.Add(name, r.Secrets()[name]); err != nil {
			return nil, err
		}
	}
	h, closing, err := c.Open(ctx, func(o *runtime.Options) error {
		o.Open = nil
		o.Browser.Headed = false
		o.Browser.UploadDirs = append(o.Browser.UploadDirs, uploads)
		return nil
	})
	if err != nil {
		return nil, err
	}
	defer closing()
	l, err := learn.Learn(ctx, h, [][]record.Call{r.Calls()}, c.Learn)
	if err != nil {
		return nil, err
	}
	l.Notes = append(l.Notes, r.Notes()...)
	plan, err := planOf(l, r, c.Learn.Now())
	if err != nil {
		return nil, err
	}
	paths, err := scaffold.WriteInto(c.Out, c.Force, append(bytes.TrimRight(l.Map, "\n"), '\n'), plan)
	return &Done{OK: err == nil, Learned: l, Files: paths}, err
}

// planOf is a plan that runs the action with the values of the recording.
func planOf(l *learn.Learned, r *Recorder, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(
		&b, "# Written by outrider record. The action was run with these values on %s.\n",
		at.UTC().Format(time.DateOnly),
	)
	text := func(v any) string {
		one, err := jsonout.Line(v)
		if err != nil {
			return `""`
		}
		return string(one) // JSON is YAML
	}
	fmt.Fprintf(&b, "open: %s\nmaps: [actions.json]\n", text(l.Start))
	if names := slices.Sorted(maps.Keys(r.Secrets())); len(names) > 0 {
		b.WriteString("secrets:\n")
		for _, n := range names {
			fmt.Fprintf(&b, "  %s: {env: %s}\n", n, strings.ToUpper(n))
		}
	}
	fmt.Fprintf(&b, "steps:\n  - action: %s\n    args: %s\n", text(l.Action), text(l.Values))
	return b.Bytes(), nil
}
