package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tiktoken-go/tokenizer"
)

// driver is one server and how its tools are named. An agent knows what their
// descriptions say, and what they answer.
type driver struct {
	dialect
	name    string
	who     string // stands for {WHO}
	command []string
	shell   bool // a call is a run of the command, which is no MCP server
	// guide is what its documentation tells an agent to read first, begins what is run before the tasks, ends after
	// them; those of agent-browser when nil.
	guide, begins, ends []string
	env                 []string
	folder              string // where it may write

	transport sdk.Transport         // in place of command
	visited   func(context.Context) // after every look and act; may be nil

	log io.Writer // of every call and answer; may be nil

	session  *sdk.ClientSession
	schemas  map[string]string
	codec    tokenizer.Codec
	catalog  int // tokens of the list of tools
	spent    cost
	seen     string // the last look
	last     string // its id, where looks have one
	reported string // the answer of the last act
	page     int    // what chrome-devtools-mcp calls the page
}

// cost is what a task took.
type cost struct {
	calls, in, out int
	time           time.Duration
}

func (d *driver) start(ctx context.Context) error {
	if d.shell {
		// What its documentation tells an agent to read first stands for the list of tools.
		guide, err := d.run(ctx, "", or(d.guide, "skills", "get", "core")...)
		d.catalog = d.tokens(guide)
		if err == nil && d.begins != nil {
			_, err = d.run(ctx, "", d.begins...)
		}
		return err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "agents", Version: "1"}, nil)
	if d.transport == nil {
		cmd := exec.Command(d.command[0], d.command[1:]...)
		cmd.Dir = d.folder
		d.transport = &sdk.CommandTransport{Command: cmd, TerminateDuration: 5 * time.Second}
	}
	session, err := client.Connect(ctx, d.transport, nil)
	if err != nil {
		return err
	}
	d.session, d.schemas = session, map[string]string{}
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, t := range list.Tools {
		schema, _ := json.Marshal(t.InputSchema)
		d.schemas[t.Name] = string(schema)
	}
	if list, err := json.Marshal(list.Tools); err == nil {
		d.catalog = d.tokens(string(list))
	}
	if _, ok := d.schemas["list_pages"]; ok {
		pages, err := d.call(ctx, "list_pages", map[string]any{})
		if err != nil {
			return err
		}
		if m := regexp.MustCompile(`(?m)^(\d+):`).FindStringSubmatch(pages); m != nil {
			d.page, _ = strconv.Atoi(m[1])
		}
	}
	return nil
}

func or(given []string, usual ...string) []string {
	if given != nil {
		return given
	}
	return usual
}

// stop ends the server, and the browser that it has.
func (d *driver) stop(ctx context.Context) {
	if d.shell {
		_, _ = d.run(context.WithoutCancel(ctx), "", or(d.ends, "close")...)
		return
	}
	_ = d.session.Close()
}

func (d *driver) note(format string, args ...any) {
	if d.log != nil {
		_, _ = fmt.Fprintf(d.log, format+"\n", args...)
	}
}

func (d *driver) tokens(text string) int {
	ids, _, err := d.codec.Encode(text)
	if err != nil {
		return 0
	}
	return len(ids)
}

// call calls a tool and counts what an agent would read and write.
func (d *driver) call(ctx context.Context, tool string, args map[string]any) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if d.page > 0 && strings.Contains(d.schemas[tool], `"pageId"`) {
		args["pageId"] = d.page
	}
	encoded, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	d.spent.calls++
	d.spent.out += d.tokens(tool + string(encoded))
	r, err := d.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	n := d.tokens(b.String())
	d.spent.in += n
	if d.visited != nil && (tool == "act" || tool == "snapshot") {
		d.visited(ctx)
	}
	d.note("> %s %s\n< (%d tokens) %s", tool, encoded, n, b.String())
	if r.IsError {
		return b.String(), fmt.Errorf("%s %s: %.300s", tool, encoded, b.String())
	}
	return b.String(), nil
}

// run runs the command of a server that is none of MCP, and counts what an agent would write into its shell and read.
func (d *driver) run(ctx context.Context, input string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.command[0], args...)
	cmd.Dir = d.folder
	cmd.Env = append(cmd.Environ(), d.env...)
	cmd.Stdin = strings.NewReader(input)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	d.spent.calls++
	d.spent.out += d.tokens(strings.Join(args, " ") + input)
	n := d.tokens(string(out))
	d.spent.in += n
	d.note("> %s %s\n< (%d tokens) %s", strings.Join(args, " "), input, n, out)
	if err != nil {
		return string(out), fmt.Errorf("%s: %w: %.300s", input, err, out)
	}
	return string(out), nil
}

// see takes in what a page shows, or what changed of what was seen.
func (d *driver) see(text string, change bool) {
	if change || changes.MatchString(text) { // what changed comes before what was there
		text = removed.ReplaceAllString(text, "") + "\n" + d.seen
	}
	d.seen = text
}

var (
	// changes are rows that came or changed, and removed such that went, in an outline that
	// is compared with the last one.
	changes    = regexp.MustCompile(`(?m)^[+~-] +- `)
	removed    = regexp.MustCompile(`(?m)^- +- .*$`)
	asks       = regexp.MustCompile(`beforeunload|dialog with message`)
	snapshotID = regexp.MustCompile(`snapshot_id (s\d+)`)
)

// find finds the ref of a role and a name in what was seen.
func (d *driver) find(t target) string {
	for _, form := range d.forms(t[0], t[1]) {
		if m := regexp.MustCompile(form).FindStringSubmatch(d.seen); m != nil {
			return m[1]
		}
	}
	return d.words(d, t)
}

const (
	// maxSnapshots is how often an agent looks for what a step needs, and maxFailures how often it tries what failed.
	maxSnapshots = 10
	maxFailures  = 3
	longestPause = 3 * time.Second
)

// pause waits before the look of this number: each time twice as long, because a page that is slow now is so later.
func pause(n int) {
	if n > 0 {
		time.Sleep(min(longestPause, 100*time.Millisecond<<n))
	}
}

// planned is a step with the refs of what it acts on.
type planned struct {
	step
	ref, to string
}

// do does a task on an application. The policy is one for all servers: a look, then all that can be done by what the
// look showed, then a check. A server that takes several things in one call gets them in one.
func (d *driver) do(ctx context.Context, address, dir string, t task) error {
	d.spent = cost{}
	d.forget()
	began := time.Now()
	defer func() { d.spent.time = time.Since(began) }()
	steps := make([]step, len(t.Steps))
	for i, s := range t.Steps {
		steps[i] = s.as(d.who, dir)
	}
	for i := 0; i < len(steps); {
		n, err := d.turn(ctx, address, steps[i:])
		i += n
		if err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

// forget is a new task: nothing was seen.
func (d *driver) forget() {
	d.seen = ""
	d.reported = ""
	d.last = ""
}

// turn does the first of the steps, and those after it that the same look shows. It answers how many are done.
func (d *driver) turn(ctx context.Context, address string, steps []step) (int, error) {
	first := steps[0]
	switch {
	case first.Go != "":
		return 1, d.goTo(ctx, address+first.Go, wholeFor(steps[1:]))
	case first.Expect != "":
		return 1, d.check(ctx, regexp.MustCompile(first.Expect))
	}
	done := 0
	failed := 0
	var last error
	for n := 0; n < maxSnapshots && done == 0; n++ {
		pause(n) // an agent that sees nothing yet looks again
		if first.target() != (target{}) && (d.seen == "" || n > 0) {
			last = d.look(ctx, n > 0)
			if last != nil {
				continue
			}
		}
		plan := d.plan(steps)
		if len(plan) == 0 {
			continue
		}
		done, last = d.batch(ctx, plan, wholeFor(steps[len(plan):]))
		failed++
		if last == nil || failed == maxFailures {
			return done, last
		}
		d.seen = "" // what was seen is past: an agent that is told of a failure looks again and tries once more
		if done > 0 {
			return done, nil // what failed is the first of the next turn
		}
	}
	if last != nil {
		return done, last
	}
	return done, fmt.Errorf("no %s %q in %.800s", first.target()[0], first.target()[1], d.seen)
}

// wholeFor says whether the next step needs a look that shows texts.
func wholeFor(next []step) bool {
	return len(next) == 0 || next[0].Expect != ""
}

// plan is what can be done by what was seen: the first steps whose targets it shows. What answers a dialog stands
// alone, because no look shows that it will come.
func (d *driver) plan(steps []step) []planned {
	var out []planned
	for _, s := range steps {
		if s.Go != "" || s.Expect != "" || s.Dialog && len(out) > 0 {
			break
		}
		one := planned{step: s}
		if s.target() != (target{}) {
			one.ref = d.find(s.target())
			if one.ref == "" {
				break
			}
		}
		if s.To != (target{}) {
			one.to = d.find(s.To)
			if one.to == "" {
				break
			}
		}
		out = append(out, one)
		if s.Dialog {
			break
		}
	}
	return out
}

// check looks until what is expected is there.
func (d *driver) check(ctx context.Context, expect *regexp.Regexp) error {
	if expect.MatchString(d.reported) || expect.MatchString(d.seen) {
		return nil // the answer of the act has said so
	}
	var last error
	for n := range maxSnapshots {
		pause(n)
		last = d.look(ctx, true)
		if last == nil && expect.MatchString(d.seen) {
			return nil
		}
	}
	if last != nil {
		return last
	}
	return fmt.Errorf("nothing fits %s in %.800s", expect, d.seen)
}

// goTo goes to an address and looks.
func (d *driver) goTo(ctx context.Context, url string, whole bool) error {
	d.forget()
	err := d.open(ctx, d, url, whole)
	if err == nil && !asks.MatchString(d.reported) {
		return nil
	}
	if err != nil && !asks.MatchString(err.Error()) {
		return err
	}
	// The page of the task before may ask something, such as whether to leave it.
	if _, err := d.batch(ctx, []planned{{step: step{Dialog: true}}}, false); err != nil {
		return err
	}
	d.forget()
	return d.open(ctx, d, url, whole)
}

// look looks at the page.
func (d *driver) look(ctx context.Context, whole bool) error {
	return d.snapshot(ctx, d, whole)
}

// batch does what is planned, and looks where that is one call with it.
func (d *driver) batch(ctx context.Context, plan []planned, whole bool) (int, error) {
	return d.act(ctx, d, plan, whole)
}
