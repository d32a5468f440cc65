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

// driver is one MCP server and how its tools are named. An agent knows what their
// descriptions say, and what they answer.
type driver struct {
	name    string
	who     string // stands for {WHO}
	command []string
	folder  string // where it may write

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

// ref names the element of a call of playwright-mcp as the tool's schema has it.
func (d *driver) ref(tool, ref string, args map[string]any) map[string]any {
	args["element"] = "the element"
	if strings.Contains(d.schemas[tool], `"target"`) {
		args["target"] = ref
	} else {
		args["ref"] = ref
	}
	return args
}

func (d *driver) goTo(ctx context.Context, url string) error {
	tool, args := "tabs", map[string]any{"action": "navigate", "url": url}
	switch d.name {
	case "playwright-mcp":
		tool, args = "browser_navigate", map[string]any{"url": url}
	case "chrome-devtools-mcp":
		tool, args = "navigate_page", map[string]any{"type": "url", "url": url}
	}
	var err error
	d.reported, err = d.call(ctx, tool, args)
	return err
}

func (d *driver) snapshot(ctx context.Context) error {
	tool := map[string]string{"playwright-mcp": "browser_snapshot", "chrome-devtools-mcp": "take_snapshot"}[d.name]
	if tool == "" {
		tool = "snapshot"
	}
	args := map[string]any{}
	if d.last != "" && d.seen != "" && strings.Contains(d.schemas[tool], `"since"`) {
		args["since"] = d.last // nothing was done since the last look
	}
	text, err := d.call(ctx, tool, args)
	if m := snapshotID.FindStringSubmatch(text); m != nil {
		d.last = m[1]
	}
	d.see(text, args["since"] != nil)
	return err
}

// see takes in what a page shows, or what changed of what was seen.
func (d *driver) see(text string, change bool) {
	if change || changes.MatchString(text) { // what changed comes before what was there
		text = removed.ReplaceAllString(text, "") + "\n" + d.seen
	}
	d.seen = text
}

// act does a step. ref is of its target, and to is of where a drag ends.
func (d *driver) act(ctx context.Context, s step, ref, to string) error {
	if s.Type && d.name == "playwright-mcp" { // none of its tools types into what has the focus
		return d.pressEach(ctx, s.Text)
	}
	tool, args := "act", map[string]any{}
	switch d.name {
	case "playwright-mcp":
		tool, args = d.playwright(s, ref, to)
	case "chrome-devtools-mcp":
		tool, args = d.devTools(s, ref, to)
	default:
		args = outrider(s, ref, to)
	}
	// Whoever can show the page with the answer is asked to.
	shows := ""
	for _, option := range []string{"outline", "includeSnapshot"} {
		if strings.Contains(d.schemas[tool], `"`+option+`"`) && !s.Dialog {
			shows, args[option] = option, true
		}
	}
	var err error
	d.reported, err = d.call(ctx, tool, args)
	if d.name == "playwright-mcp" && s.Upload != (target{}) && err == nil { // the click opened a chooser of files
		d.reported, err = d.call(ctx, "browser_file_upload", map[string]any{"paths": []string{s.File}})
	}
	switch {
	case err != nil || shows == "":
		d.seen = "" // what was seen is past
	default:
		d.see(d.reported, false)
	}
	return err
}

var (
	// changes are rows that came or changed, and removed such that went, in an outline that
	// is compared with the last one.
	changes    = regexp.MustCompile(`(?m)^[+~-] +- `)
	removed    = regexp.MustCompile(`(?m)^- +- .*$`)
	asks       = regexp.MustCompile(`beforeunload|dialog with message`)
	snapshotID = regexp.MustCompile(`snapshot_id (s\d+)`)
)

// pressEach types by the tool that presses one key.
func (d *driver) pressEach(ctx context.Context, text string) error {
	d.seen = ""
	for _, r := range text {
		var err error
		d.reported, err = d.call(ctx, "browser_press_key", map[string]any{"key": string(r)})
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) playwright(s step, ref, to string) (string, map[string]any) {
	switch {
	case s.Dialog:
		return "browser_handle_dialog", map[string]any{"accept": true}
	case s.Press != "":
		return "browser_press_key", map[string]any{"key": s.Press}
	case s.Fill != target{}:
		return "browser_type", d.ref("browser_type", ref, map[string]any{"text": s.Text})
	case s.Choose != target{}:
		return "browser_select_option", d.ref("browser_select_option", ref, map[string]any{"values": []string{s.Text}})
	case s.Hover != target{}:
		return "browser_hover", d.ref("browser_hover", ref, map[string]any{})
	case s.Drag != target{}:
		if strings.Contains(d.schemas["browser_drag"], `"startTarget"`) {
			return "browser_drag", map[string]any{
				"startElement": "it",
				"startTarget":  ref,
				"endElement":   "there",
				"endTarget":    to,
			}
		}
		return "browser_drag", map[string]any{
			"startElement": "it",
			"startRef":     ref,
			"endElement":   "there",
			"endRef":       to,
		}
	case s.Double != target{}:
		return "browser_click", d.ref("browser_click", ref, map[string]any{"doubleClick": true})
	}
	return "browser_click", d.ref("browser_click", ref, map[string]any{})
}

func (d *driver) devTools(s step, ref, to string) (string, map[string]any) {
	switch {
	case s.Dialog:
		return "handle_dialog", map[string]any{"action": "accept"}
	case s.Press != "":
		return "press_key", map[string]any{"key": s.Press}
	case s.Type:
		return "type_text", map[string]any{"text": s.Text}
	case s.Fill != target{}, s.Choose != target{}:
		return "fill", map[string]any{"uid": ref, "value": s.Text}
	case s.Hover != target{}:
		return "hover", map[string]any{"uid": ref}
	case s.Drag != target{}:
		return "drag", map[string]any{"from_uid": ref, "to_uid": to}
	case s.Upload != target{}:
		return "upload_file", map[string]any{"uid": ref, "filePaths": []string{s.File}}
	case s.Double != target{}:
		return "click", map[string]any{"uid": ref, "dblClick": true}
	}
	return "click", map[string]any{"uid": ref}
}

func outrider(s step, ref, to string) map[string]any {
	args := map[string]any{"ref": ref}
	if strings.HasPrefix(ref, "{") {
		args = map[string]any{"locator": json.RawMessage(ref)}
	}
	switch {
	case s.Dialog:
		return map[string]any{"action": "dialog", "accept": true}
	case s.Press != "":
		keys := strings.Split(s.Press, "+")
		args = map[string]any{"action": "press", "key": keys[len(keys)-1]}
		if len(keys) > 1 {
			args["modifiers"] = keys[:len(keys)-1]
		}
		return args
	case s.Type:
		return map[string]any{"action": "type", "text": s.Text}
	case s.Fill != target{}:
		args["action"], args["text"] = "fill", s.Text
	case s.Choose != target{}:
		args["action"], args["options"] = "select", []string{s.Text}
	case s.Hover != target{}:
		args["action"] = "hover"
	case s.Drag != target{}:
		args["action"], args["to"] = "drag", to
	case s.Upload != target{}:
		args["action"], args["files"] = "upload", []string{s.File}
	case s.Double != target{}:
		args["action"] = "double_click"
	default:
		args["action"] = "click"
	}
	return args
}

const marks = `(?: \[[^\]\n]*\])*?`

// find finds the ref of a role and a name in what was seen.
func (d *driver) find(t target) string {
	role, name := t[0], t[1]
	forms := []string{
		`(?m)(?:^|[^\w])(?:` + role + `) "(?:` + name + `)(?:[^"\\]|\\.)*"` + marks + ` \[ref=(\w+)\]`,
		`(?m)(?:^|[^\w])(?:` + role + `)` + marks + ` \[ref=(\w+)\]` + marks + `: "?(?:` + name + `)`,
	}
	if d.name == "chrome-devtools-mcp" {
		forms = []string{`(?m)uid=(\S+) (?:` + role + `|StaticText) "(?:` + name + `)`, `(?m)uid=(\S+) (?:` + role +
			`)[^\n]*(?:` + name + `)`,
			`(?m)uid=(\S+) "(?:` + name + `)`} // text has no role there
	}
	if name == "" { // the first of the role
		forms = []string{`(?m)(?:^|[^\w])(?:` + role + `)[^\n]*? \[ref=(\w+)\]`}
		if d.name == "chrome-devtools-mcp" {
			forms = []string{`(?m)uid=(\S+) (?:` + role + `)`}
		}
	}
	for _, form := range forms {
		if m := regexp.MustCompile(form).FindStringSubmatch(d.seen); m != nil {
			return m[1]
		}
	}
	return ""
}

// words are a text that stands in a row of a table without a ref of its own. A tool that
// takes locators is given it as one: {"text": …}.
func (d *driver) words(t target) string {
	if t[1] == "" || !strings.Contains(d.schemas["act"], `"locator"`) {
		return ""
	}
	m := regexp.MustCompile(`(?m)^[+~ ]*- row: (?:.*\| )?(` + t[1] + `)(?: \||$)`).FindStringSubmatch(d.seen)
	if m != nil {
		return `{"text_equals":` + strconv.Quote(m[1]) + `}`
	}
	return ""
}

const (
	// maxSnapshots is how often an agent looks for what a step needs, and snapshotAgain how long it
	// waits in between.
	maxSnapshots  = 10
	snapshotAgain = 300 * time.Millisecond
)

// do does a task on an application.
func (d *driver) do(ctx context.Context, address, dir string, t task) error {
	d.spent = cost{}
	d.seen = ""
	d.reported = ""
	d.last = ""
	began := time.Now()
	defer func() { d.spent.time = time.Since(began) }()
	for i, s := range t.Steps {
		if err := d.step(ctx, address, s.as(d.who, dir)); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func (d *driver) step(ctx context.Context, address string, s step) error {
	if s.Go != "" {
		d.seen = ""
		d.reported = ""
		d.last = ""
		err := d.goTo(ctx, address+s.Go)
		if err == nil && !asks.MatchString(d.reported) {
			return nil
		}
		if err != nil && !asks.MatchString(err.Error()) {
			return err
		}
		// The page of the task before may ask something, such as whether to leave it.
		if err := d.act(ctx, step{Dialog: true}, "", ""); err != nil {
			return err
		}
		return d.goTo(ctx, address+s.Go)
	}
	if s.Dialog || s.Press != "" || s.Type {
		return d.act(ctx, s, "", "")
	}
	var expect *regexp.Regexp
	if s.Expect != "" {
		expect = regexp.MustCompile(s.Expect)
		if expect.MatchString(d.reported) {
			return nil // the answer of the act has said so
		}
	}
	var last error
	failed := false
	for n := range maxSnapshots {
		if n > 0 {
			time.Sleep(snapshotAgain) // an agent that sees nothing yet looks again
		}
		if d.seen == "" || n > 0 {
			last = d.snapshot(ctx)
			if last != nil {
				continue
			}
		}
		if expect != nil {
			if expect.MatchString(d.seen) {
				return nil
			}
			continue
		}
		ref, to := d.find(s.target()), ""
		if ref == "" {
			ref = d.words(s.target())
		}
		if s.To != (target{}) {
			to = d.find(s.To)
			if to == "" {
				continue
			}
		}
		if ref == "" {
			continue
		}
		last = d.act(ctx, s, ref, to)
		if last == nil || failed {
			return last
		}
		failed = true // an agent that is told of a failure looks again and tries once more
	}
	if last != nil {
		return last
	}
	if expect != nil {
		return fmt.Errorf("nothing fits %s in %.800s", s.Expect, d.seen)
	}
	return fmt.Errorf("no %s %q in %.800s", s.target()[0], s.target()[1], d.seen)
}
