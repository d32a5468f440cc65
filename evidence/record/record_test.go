package record_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/primitives/fault"
)

// write makes a recording of n calls with one step and one resource each.
func write(t *testing.T, path string, n int, finish bool) {
	t.Helper()
	f, err := record.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	l := record.NewLog(record.Header{Program: "test"}, nil, f)
	for i := range n {
		calls(l, i)
	}
	if finish {
		if err := l.Finish(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func calls(l *record.Log, i int) {
	id := "c" + string(rune('a'+i))
	l.Put(record.KindCallBegin, 1, record.CallBegin{ID: id, Name: "pointer.click", URL: "http://shop.test/"})
	l.Put(record.KindStepBegin, 1, record.StepBegin{
		ID:        "s" + id,
		Call:      id,
		Primitive: "pointer.click",
		Arguments: json.RawMessage(`{"x":1}`),
		Acts:      true,
	})
	name := l.Keep("application/json", []byte(`["HTML",{},`+strings.Repeat(`"text",`, 200)+`"`+id+`"]`))
	l.Put(record.KindSnapshot, 1, record.Snapshot{Step: "s" + id, Phase: "before", Main: true, Resource: name}, name)
	l.Put(record.KindStepEnd, 1, record.StepEnd{ID: "s" + id, OK: true})
	l.Put(record.KindCallEnd, 1, record.CallEnd{
		ID:        id,
		Name:      "pointer.click",
		Arguments: json.RawMessage(`{"x":1}`),
		OK:        true,
		Output:    json.RawMessage(`{"ok":true}`),
	})
}

func TestARecordingIsReadAsItWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	write(t, path, 3, true)
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Cut || r.Header.Program != "test" || r.Header.Version != record.Version {
		t.Errorf("cut %v, header %+v", r.Cut, r.Header)
	}
	all := record.Calls(r.Events)
	if len(all) != 3 {
		t.Fatalf("%d calls: expected 3", len(all))
	}
	for i, c := range all {
		if !c.Finished || !c.OK || len(c.Steps) != 1 || c.Before != "http://shop.test/" {
			t.Fatalf("call %d: %+v", i, c)
		}
		if c.Steps[0].End == nil || len(c.Steps[0].Snapshots) != 1 {
			t.Fatalf("call %d: %+v", i, c)
		}
		data, err := r.Data(c.Steps[0].Snapshots[0].Resource)
		if err != nil || !bytes.Contains(data, []byte(`"`+c.ID+`"`)) {
			t.Errorf("call %d: its snapshot is %.40q, %v", i, data, err)
		}
	}
}

// A process that is killed leaves a file that ends anywhere.
func TestACutRecordingIsReadToItsLastWholeEntry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	write(t, path, 3, true)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before := -1
	for n := len(whole) - 1; n > 200; n -= 37 {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := record.Open(path)
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		if !r.Cut {
			t.Errorf("cut after %d bytes: the recording says that it is whole", n)
		}
		if before >= 0 && (len(r.Events) > before || len(r.Events) < before-1) {
			t.Errorf("cut after %d bytes: %d events, with 37 bytes more %d", n, len(r.Events), before)
		}
		before = len(r.Events)
		for _, e := range r.Events {
			if e.Kind != record.KindSnapshot {
				continue
			}
			s, err := record.Of[record.Snapshot](e)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Data(s.Resource); err != nil {
				t.Errorf("cut after %d bytes: %v", n, err)
			}
		}
		r.Close()
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "text": "hello\n", "json": `{"seq":1,"kind":"call_begin","data":{}}` + "\n",
		"newer": `{"seq":1,"t":0,"kind":"recording","data":{"format":"outrider-recording","version":99,` +
			`"program":"x"}}` +
			"\n",
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := record.Open(path); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%s: %v: expected %s", name, err, fault.InvalidInput)
		}
	}
}

func TestARingForgetsTheOldestAndSavesTheRest(t *testing.T) {
	ring := record.NewRing(time.Hour, 3000)
	l := record.NewLog(record.Header{Program: "ring"}, nil, ring)
	name := l.Keep("application/json", []byte(`{"tools":[]}`))
	l.Put(record.KindMap, 0, record.Map{Path: "actions.json", Resource: name}, name)
	for i := range 20 {
		calls(l, i)
	}
	path := filepath.Join(t.TempDir(), "ring.rec")
	if _, err := ring.Save(path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 6000 {
		t.Errorf("the ring wrote %d bytes, its limit is 3000: %v", info.Size(), err)
	}
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Header.Program != "ring" || r.Events[1].Kind != record.KindMap {
		t.Errorf("the header or the map was forgotten: %+v, %s", r.Header, r.Events[1].Kind)
	}
	if _, err := r.Data(name); err != nil {
		t.Errorf("the map: %v", err)
	}
	all := record.Calls(r.Events)
	if len(all) == 0 || len(all) > 6 || all[len(all)-1].ID != "c"+string(rune('a'+19)) {
		t.Errorf("%d calls: expected the newest few", len(all))
	}
}

func TestWhatIsOldLeavesTheRing(t *testing.T) {
	ring := record.NewRing(61*time.Second, 1<<20)
	l := record.NewLog(record.Header{}, nil, ring)
	now := time.Now()
	for i := range 10 {
		l.PutAt(now.Add(time.Duration(i)*20*time.Second), record.KindConsole, 1, record.Console{Text: "x"})
	}
	if n := len(ring.Events()); n != 5 { // the header and those of the last minute
		t.Errorf("%d events are remembered: expected 5", n)
	}
}

func TestSecretsAreNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	f, err := record.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	l := record.NewLog(
		record.Header{}, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("canary"), []byte("***")) }, f,
	)
	name := l.Keep("text/html", []byte("<p>canary</p>"))
	l.Put(record.KindConsole, 1, record.Console{Text: "the canary sings"}, name)
	if err := l.Finish(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if raw, err := os.ReadFile(path); err != nil || bytes.Contains(raw, []byte("canary")) ||
		!bytes.Contains(raw, []byte("the *** sings")) {
		t.Errorf("%v: %s", err, raw)
	}
}

// A state is what a call has left when the next call on the same tab found it, or its tab ended right after it. What
// another tab shows, such as the empty one beside that of a plan, is of no call.
func TestAStateIsOfTheCallThatLeftIt(t *testing.T) {
	event := func(kind record.Kind, tab int, data string) record.Event {
		return record.Event{Kind: kind, Tab: tab, Data: json.RawMessage(data)}
	}
	list := record.Calls([]record.Event{
		event(record.KindCallBegin, 2, `{"id":"c1"}`), event(record.KindState, 2, `{"call":"c1","state_hash":"a"}`),
		event(record.KindCallBegin, 2, `{"id":"c2"}`), event(record.KindState, 2, `{"call":"c2","state_hash":"b"}`),
		event(record.KindState, 2, `{"state_hash":"c"}`),
		event(record.KindCallBegin, 3, `{"id":"c3"}`), event(record.KindState, 3, `{"call":"c3","state_hash":"d"}`),
		event(record.KindState, 1, `{"state_hash":"empty"}`), event(record.KindState, 3, `{"state_hash":"e"}`),
	})
	got := ""
	for _, c := range list {
		for _, s := range c.After {
			got += c.ID + s.Hash + " "
		}
	}
	if got != "c1b c2c c3e " {
		t.Errorf("%q", got)
	}
}

// TestARingHoldsTheDataOfAnEventOnce fills a ring with long events: as many stay as fit.
func TestARingHoldsTheDataOfAnEventOnce(t *testing.T) {
	const limit, long = 1_000_000, 10_000
	ring := record.NewRing(time.Hour, limit)
	l := record.NewLog(record.Header{}, nil, ring)
	for range 300 {
		l.Put(record.KindConsole, 1, record.Console{Text: strings.Repeat("x", long)})
	}
	events := ring.Events()
	if n := len(events); n < limit/(long+1000) || n > limit/long {
		t.Errorf("%d events of %d bytes are remembered in %d bytes", n, long, limit)
	}
	newest := events[len(events)-1]
	if text, err := record.Of[record.Console](newest); err != nil || len(text.Text) != long {
		t.Errorf("the newest event: %v", err)
	}
}

// TestARemovedTabLeavesTheRing opens and closes tabs whose addresses are long.
func TestARemovedTabLeavesTheRing(t *testing.T) {
	const limit = 50_000
	ring := record.NewRing(time.Hour, limit)
	l := record.NewLog(record.Header{}, nil, ring)
	long := strings.Repeat("y", 1000)
	l.Put(record.KindTab, 1, record.Tab{State: "opened", URL: "https://stays.example/"})
	for i := range 500 {
		l.Put(record.KindTab, i+2, record.Tab{State: "opened", URL: "https://a.example/#" + long})
		l.Put(record.KindTab, i+2, record.Tab{State: "removed", URL: "https://a.example/#" + long})
	}
	size, stays := 0, false
	for _, e := range ring.Events() {
		size += len(e.Data)
		stays = stays || e.Tab == 1
	}
	if size > limit {
		t.Errorf("%d bytes are remembered: expected at most %d", size, limit)
	}
	if !stays {
		t.Error("the tab that is open has been forgotten")
	}
}

// TestLongStatesOfTabsCount has many tabs that stay open and leaves room for what comes after.
func TestLongStatesOfTabsCount(t *testing.T) {
	const limit = 50_000
	ring := record.NewRing(time.Hour, limit)
	l := record.NewLog(record.Header{}, nil, ring)
	for i := range 10 {
		l.Put(record.KindTab, i+1, record.Tab{State: "opened", URL: "https://a.example/#" + strings.Repeat("y", 1000)})
	}
	for range 500 {
		l.Put(record.KindConsole, 1, record.Console{Text: strings.Repeat("x", 100)})
	}
	size, tabs := 0, 0
	for _, e := range ring.Events() {
		size += len(e.Data)
		if e.Kind == record.KindTab {
			tabs++
		}
	}
	if size > limit || tabs != 10 {
		t.Errorf("%d bytes and %d tabs are remembered: expected at most %d bytes and 10 tabs", size, tabs, limit)
	}
}
