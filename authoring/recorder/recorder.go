// Package recorder follows what a person does in a browser and makes calls of it, from which package learn makes an
// action. It does not decide how elements are named, and runs nothing itself. The verb record calls it.
package recorder

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/authoring/ident"
	"github.com/outrider-run/outrider/authoring/view"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/inject"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

// Options say how a person is followed.
type Options struct {
	// Each is called with each step when it is done, and with undone when it is taken back. It may
	// be nil.
	Each func(line Line)
	// View, which may be nil, shows the tabs and their dialogs to a person who has no window.
	View *view.View
	// Files is a folder for what the person uploads, so that a trial can upload the same. "" keeps nothing.
	Files string
}

// Line is one step, for people.
type Line struct {
	Number int    `json:"step"`
	Text   string `json:"text"`
	Undone bool   `json:"undone,omitempty"`
}

// Recorder follows one person. It implements runtime.Recorder.
type Recorder struct {
	opts Options

	mu          sync.Mutex
	waiting     []pageReport
	more        chan struct{} // has one element while something waits
	closed      bool
	open        map[int]bool                                 // tabs, by their ids
	ids         map[primitives.Page]string                   // runtime ids of the pages
	earlyFrames map[primitives.Page]*browser.ScreencastFrame // pictures of pages whose ids are not known yet

	steps    []*step
	start    string
	secrets  map[string]string // what was typed into secret fields, by name
	fields   map[string]string // names of secrets by their field
	tabs     map[*browser.Tab]*tab
	at       *tab  // where the last step was
	tab      *step // a Tab key that counts when what follows names no element
	shown    int   // steps that Each has heard of, in their newest form
	notes    []string
	finished bool
}

// pageReport is one event of a page.
type pageReport struct {
	tab    *browser.Tab
	report said
	dialog *primitives.Dialog
}

// tab is what is known of a tab.
type tab struct {
	number int
	page   *browser.Tab
	url    string
	acted  bool // a step was done since its document came
}

// step is one step as it is known so far.
type step struct {
	primitive string
	args      map[string]any
	target    *record.Target
	to        *record.Target
	intent    record.Intent
	tab       *tab
	url       string
	from      said // the report that began it
}

// said is what the script of the page says; its texts are the page's.
type said struct {
	What      string            `json:"what"`
	Doc       string            `json:"doc"`
	Top       bool              `json:"top"`
	URL       string            `json:"url"`
	Element   *likeness.Seen    `json:"element"`
	Handle    string            `json:"handle"`
	To        *likeness.Seen    `json:"to"`
	Secret    bool              `json:"secret"`
	Editable  bool              `json:"editable"`
	Field     bool              `json:"field"`
	Sink      bool              `json:"sink"`
	Missed    bool              `json:"missed"` // a click whose element was replaced between press and release
	Button    string            `json:"button"`
	Modifiers []string          `json:"modifiers"`
	Choice    *choice           `json:"choice"`
	Key       string            `json:"key"`
	Text      string            `json:"text"`
	Tabbed    bool              `json:"tabbed"`
	Type      string            `json:"type"`
	Limits    map[string]string `json:"limits"`
	Values    []string          `json:"values"`
	Options   []string          `json:"options"`
	Multiple  bool              `json:"multiple"`
	Files     []file            `json:"files"`
	How       string            `json:"how"`
	Do        string            `json:"do"`
	X         float64           `json:"x"`
	Y         float64           `json:"y"`
}

type choice struct {
	Title   string   `json:"title"`
	Options []string `json:"options"`
}

type file struct {
	Name string `json:"name"`
	Size int    `json:"size"`
	Data []byte `json:"data"`
}

const (
	// maxWaiting bounds what is waiting to be understood: a page can make a person's script report, but not for ever.
	maxWaiting = 10000
	// pickTime bounds the page calls that find what was pointed at.
	pickTime = 5 * time.Second
)

// New makes a recorder of one person.
func New(opts Options) *Recorder {
	return &Recorder{
		opts:        opts,
		more:        make(chan struct{}, 1),
		open:        map[int]bool{},
		ids:         map[primitives.Page]string{},
		earlyFrames: map[primitives.Page]*browser.ScreencastFrame{},
		secrets:     map[string]string{},
		fields:      map[string]string{},
		tabs:        map[*browser.Tab]*tab{},
	}
}

// Follow has the browser of a host that is opened with options report to the recorder.
func (r *Recorder) Follow(options *runtime.Options) {
	options.Recorder = r
	options.Browser.Follow = inject.Person()
	options.Browser.OnPerson = r.Report
}

// Report takes what the script says on a page of a tab. It waits for nothing.
func (r *Recorder) Report(t *browser.Tab, text []byte) {
	var m said
	if json.Unmarshal(text, &m) == nil {
		r.enqueue(pageReport{tab: t, report: m})
	}
}

func (r *Recorder) enqueue(h pageReport) {
	r.mu.Lock()
	if len(r.waiting) < maxWaiting && !r.closed {
		r.waiting = append(r.waiting, h)
	}
	r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default:
	}
}

// Wants implements runtime.Recorder.
func (r *Recorder) Wants() runtime.PageWants {
	return runtime.PageWants{Pictures: r.opts.View != nil}
}

// Opened implements runtime.Recorder.
func (r *Recorder) Opened(runtime.Info) {}

// Event implements runtime.Recorder: when the last tab is closed, the recording ends.
func (r *Recorder) Event(e runtime.Event) {
	if e.Kind != runtime.TabRemoved {
		return
	}
	r.mu.Lock()
	delete(r.open, e.Tab.TabID)
	none := len(r.open) == 0
	r.mu.Unlock()
	if none {
		_ = r.Close()
	}
}

// Call implements runtime.Recorder: calls are not what the person does.
func (r *Recorder) Call(runtime.TabStatus, runtime.Call) (string, func(runtime.Reply)) {
	return "", func(runtime.Reply) {}
}

// Primitive implements runtime.Recorder.
func (r *Recorder) Primitive(context.Context, runtime.Invocation) func(primitives.Result) {
	return func(primitives.Result) {}
}

// Page implements runtime.Recorder. It reports how dialogs are answered, which no script of a
// page can observe.
func (r *Recorder) Page(p primitives.Page, e runtime.PageEvent) {
	if e.Tab != nil {
		r.mu.Lock()
		r.open[e.Tab.TabID] = true
		r.ids[p] = e.Tab.RuntimeID
		e.Picture = r.earlyFrames[p] // a page that stays as it is shows no other
		delete(r.earlyFrames, p)
		r.mu.Unlock()
	}
	if w := r.opts.View; w != nil {
		r.mu.Lock()
		id := r.ids[p]
		if id == "" && e.Picture != nil {
			r.earlyFrames[p] = e.Picture
		}
		r.mu.Unlock()
		switch {
		case e.Picture != nil && id != "":
			w.Picture(id, *e.Picture)
		case e.Dialog != nil && e.Open:
			w.Dialog(e.Dialog)
		case e.Dialog != nil:
			w.Dialog(nil)
		}
	}
	if t, ok := p.(*browser.Tab); ok && e.Dialog != nil && !e.Open {
		r.enqueue(pageReport{tab: t, dialog: e.Dialog})
	}
}

// Close implements runtime.Recorder: with the browser the recording ends too.
func (r *Recorder) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default:
	}
	return nil
}

// Run follows until the person is done, the window is closed or ctx ends. It is called once.
func (r *Recorder) Run(ctx context.Context) error {
	for {
		r.mu.Lock()
		batch := r.waiting
		r.waiting = nil
		over := r.closed
		r.mu.Unlock()
		for _, h := range batch {
			r.take(ctx, h)
			if r.finished {
				return nil
			}
		}
		if over && len(batch) == 0 {
			return nil
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-r.more:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Secrets are what was typed into secret fields, by the names that the steps have for them.
func (r *Recorder) Secrets() map[string]string {
	out := maps.Clone(r.secrets)
	for again := range r.repeated() {
		delete(out, again)
	}
	return out
}

// repeated are the names of secrets that were typed into a field before, such as a password that is asked for twice,
// with the name of the first. What a field holds is known only when the recording ends.
func (r *Recorder) repeated() map[string]string {
	out := map[string]string{}
	first := map[string]string{} // by the value
	for _, s := range r.steps {
		name := r.fields[s.from.field()]
		value := r.secrets[name]
		if name == "" || value == "" {
			continue
		}
		if known := first[value]; known == "" {
			first[value] = name
		} else if known != name {
			out[name] = known
		}
	}
	return out
}

// Notes say what could not be followed.
func (r *Recorder) Notes() []string { return r.notes }

// Steps is how many steps there are.
func (r *Recorder) Steps() int { return len(r.steps) }

// Calls are the steps as calls of a session.
func (r *Recorder) Calls() []record.Call {
	out := make([]record.Call, len(r.steps))
	repeated := r.repeated()
	for i, s := range r.steps {
		given := s.args
		if known, ok := repeated[r.fields[s.from.field()]]; ok && given["text"] != nil {
			given = maps.Clone(given)
			given["text"] = mask.Placeholder(known)
		}
		args, err := json.Marshal(given)
		if err != nil {
			args = []byte("{}")
		}
		url := s.url
		if i+1 < len(r.steps) {
			url = r.steps[i+1].url
		} else if s.tab != nil {
			url = s.tab.url
		}
		id := fmt.Sprintf("s%d", i+1)
		intent := s.intent
		out[i] = record.Call{
			CallEnd:  record.CallEnd{ID: id, Name: s.primitive, Arguments: args, OK: true, URL: url},
			Before:   s.url,
			Finished: true,
			Steps: []record.Step{{
				StepBegin: record.StepBegin{
					ID:        id,
					Call:      id,
					Primitive: s.primitive,
					Arguments: args,
					Acts:      s.intent.Keep == "",
					URL:       s.url,
					Target:    s.target,
					To:        s.to,
					Intent:    &intent,
				},
				End: &record.StepEnd{ID: id, OK: true},
			}},
		}
	}
	return out
}

// Save writes the steps as a recording, for learning from several of them.
func (r *Recorder) Save(path, program string) error {
	f, err := record.Create(path)
	if err != nil {
		return err
	}
	log := record.NewLog(record.Header{Program: program, Verb: "record"}, nil, f)
	for _, c := range r.Calls() {
		log.Put(record.KindCallBegin, 1, record.CallBegin{ID: c.ID, Name: c.Name, URL: c.Before})
		log.Put(record.KindStepBegin, 1, c.Steps[0].StepBegin)
		log.Put(record.KindStepEnd, 1, c.Steps[0].End)
		log.Put(record.KindCallEnd, 1, c.CallEnd)
	}
	err = log.Finish()
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// field tells the fields of all documents apart.
func (m said) field() string { return m.Doc + " " + m.Handle }

// secret is the name of what is typed into a secret field.
func (r *Recorder) secret(m said) string {
	key := m.field()
	name := r.fields[key]
	if name == "" {
		base := ident.First(
			ident.Slug(m.Element.Attributes["name"]), ident.Slug(m.Element.Name),
			ident.Slug(m.Element.Attributes["id"]), "password",
		)
		taken := ident.Names{}
		for _, n := range r.fields {
			taken[n] = true
		}
		name = taken.Free(base)
		r.fields[key] = name
	}
	r.secrets[name] = m.Text
	return name
}

// keep writes what was uploaded into the folder for it, and returns the names.
func (r *Recorder) keep(files []file) []string {
	names := []string{}
	for _, f := range files {
		name := filepath.Base(filepath.FromSlash(strings.ReplaceAll(f.Name, `\`, "/")))
		if name == "." || name == ".." || name == string(filepath.Separator) {
			continue
		}
		names = append(names, name)
		if r.opts.Files == "" {
			continue
		}
		if len(f.Data) < f.Size {
			r.notes = append(
				r.notes, fmt.Sprintf("the file %s is too large to be tried: give it in a folder of --upload-dir", name),
			)
			continue
		}
		if err := os.WriteFile(filepath.Join(r.opts.Files, name), f.Data, 0o600); err != nil {
			r.notes = append(r.notes, fmt.Sprintf("the file %s was not kept: %v", name, err))
		}
	}
	return names
}
