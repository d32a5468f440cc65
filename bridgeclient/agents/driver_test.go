package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
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
	command []string
	folder  string // where it may write

	session *sdk.ClientSession
	schemas map[string]string
	codec   tokenizer.Codec
	spent   cost
	seen    string // the last look
	told    string // the answer of the last act
	page    int    // what chrome-devtools-mcp calls the page
}

// cost is what a task took.
type cost struct {
	calls, in, out int
	time           time.Duration
}

func (d *driver) start(ctx context.Context) error {
	client := sdk.NewClient(&sdk.Implementation{Name: "agents", Version: "1"}, nil)
	cmd := exec.Command(d.command[0], d.command[1:]...)
	cmd.Dir = d.folder
	session, err := client.Connect(ctx, &sdk.CommandTransport{Command: cmd, TerminateDuration: 5 * time.Second}, nil)
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
	d.spent.in += d.tokens(b.String())
	if r.IsError {
		return b.String(), fmt.Errorf("%s %s: %.300s", tool, encoded, b.String())
	}
	return b.String(), nil
}

// ref names the element of a call as the tool's schema has it.
func (d *driver) ref(tool, ref string, args map[string]any) map[string]any {
	switch {
	case d.name == "chrome-devtools-mcp":
		args["uid"] = ref
	case d.name == "playwright-mcp":
		args["element"] = "the element"
		if strings.Contains(d.schemas[tool], `"target"`) {
			args["target"] = ref
		} else {
			args["ref"] = ref
		}
	default:
		args["ref"] = ref
	}
	return args
}

func (d *driver) goTo(ctx context.Context, url string) error {
	switch d.name {
	case "playwright-mcp":
		_, err := d.call(ctx, "browser_navigate", map[string]any{"url": url})
		return err
	case "chrome-devtools-mcp":
		_, err := d.call(ctx, "navigate_page", map[string]any{"type": "url", "url": url})
		return err
	}
	_, err := d.call(ctx, "tabs", map[string]any{"action": "navigate", "url": url})
	return err
}

func (d *driver) look(ctx context.Context) error {
	tool := map[string]string{"playwright-mcp": "browser_snapshot", "chrome-devtools-mcp": "take_snapshot"}[d.name]
	if tool == "" {
		tool = "snapshot"
	}
	text, err := d.call(ctx, tool, map[string]any{})
	d.seen = text
	return err
}

func (d *driver) act(ctx context.Context, s step, ref string) error {
	var err error
	switch d.name {
	case "playwright-mcp":
		switch {
		case s.Dialog:
			d.told, err = d.call(ctx, "browser_handle_dialog", map[string]any{"accept": true})
		case s.Press != "":
			d.told, err = d.call(ctx, "browser_press_key", map[string]any{"key": s.Press})
		case s.Type:
			d.told, err = d.call(ctx, "browser_press_key", map[string]any{"key": s.Text})
		case s.Fill != [2]string{}:
			d.told, err = d.call(ctx, "browser_type", d.ref("browser_type", ref, map[string]any{"text": s.Text}))
		case s.Choose != [2]string{}:
			d.told, err = d.call(ctx, "browser_select_option", d.ref("browser_select_option", ref, map[string]any{"values": []string{s.Text}}))
		default:
			d.told, err = d.call(ctx, "browser_click", d.ref("browser_click", ref, map[string]any{"doubleClick": s.Double != [2]string{}}))
		}
	case "chrome-devtools-mcp":
		switch {
		case s.Dialog:
			d.told, err = d.call(ctx, "handle_dialog", map[string]any{"action": "accept"})
		case s.Press != "":
			d.told, err = d.call(ctx, "press_key", map[string]any{"key": s.Press})
		case s.Type:
			d.told, err = d.call(ctx, "type_text", map[string]any{"text": s.Text})
		case s.Fill != [2]string{}, s.Choose != [2]string{}:
			d.told, err = d.call(ctx, "fill", d.ref("fill", ref, map[string]any{"value": s.Text}))
		default:
			d.told, err = d.call(ctx, "click", d.ref("click", ref, map[string]any{"dblClick": s.Double != [2]string{}}))
		}
	default:
		switch {
		case s.Dialog:
			d.told, err = d.call(ctx, "act", map[string]any{"action": "dialog", "accept": true})
		case s.Press != "":
			d.told, err = d.call(ctx, "act", map[string]any{"action": "press", "key": s.Press})
		case s.Type:
			d.told, err = d.call(ctx, "act", map[string]any{"action": "type", "text": s.Text})
		case s.Fill != [2]string{}:
			d.told, err = d.call(ctx, "act", d.ref("", ref, map[string]any{"action": "fill", "text": s.Text}))
		case s.Choose != [2]string{}:
			d.told, err = d.call(ctx, "act", d.ref("", ref, map[string]any{"action": "select", "options": []string{s.Text}}))
		case s.Double != [2]string{}:
			d.told, err = d.call(ctx, "act", d.ref("", ref, map[string]any{"action": "double_click"}))
		default:
			d.told, err = d.call(ctx, "act", d.ref("", ref, map[string]any{"action": "click"}))
		}
	}
	d.seen = "" // what was seen is past
	return err
}

const marks = `(?: \[[^\]\n]*\])*?`

// find finds the ref of a role and a name in what was seen.
func (d *driver) find(role, name string) string {
	forms := []string{
		`(?m)(?:^|[^\w])(?:` + role + `) "(?:` + name + `)(?:[^"\\]|\\.)*"` + marks + ` \[ref=(\w+)\]`,
		`(?m)(?:^|[^\w])(?:` + role + `)` + marks + ` \[ref=(\w+)\]` + marks + `: "?(?:` + name + `)`,
	}
	if d.name == "chrome-devtools-mcp" {
		forms = []string{`(?m)uid=(\S+) (?:` + role + `|StaticText) "(?:` + name + `)`, `(?m)uid=(\S+) (?:` + role + `)[^\n]*(?:` + name + `)`}
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

const (
	// mostLooks is how often an agent looks for what a step needs, and lookAgain how long it
	// waits in between.
	mostLooks = 10
	lookAgain = 300 * time.Millisecond
)

// do does a task on an application.
func (d *driver) do(ctx context.Context, address string, t task) error {
	d.spent, d.seen, d.told = cost{}, "", ""
	began := time.Now()
	defer func() { d.spent.time = time.Since(began) }()
	for i, s := range t.Steps {
		if err := d.step(ctx, address, s); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func (d *driver) step(ctx context.Context, address string, s step) error {
	if s.Go != "" {
		d.seen, d.told = "", ""
		return d.goTo(ctx, address+s.Go)
	}
	if s.Dialog || s.Press != "" || s.Type {
		return d.act(ctx, s, "")
	}
	target := s.Click
	for _, other := range [][2]string{s.Double, s.Fill, s.Choose} {
		if other != [2]string{} {
			target = other
		}
	}
	var expect *regexp.Regexp
	if s.Expect != "" {
		if expect = regexp.MustCompile(s.Expect); expect.MatchString(d.told) {
			return nil // the answer of the act has said so
		}
	}
	var last error
	for n := range mostLooks {
		if n > 0 {
			time.Sleep(lookAgain) // an agent that sees nothing yet looks again
		}
		if d.seen == "" || n > 0 {
			if last = d.look(ctx); last != nil {
				continue
			}
		}
		if expect != nil {
			if expect.MatchString(d.seen) {
				return nil
			}
			continue
		}
		if ref := d.find(target[0], target[1]); ref != "" {
			return d.act(ctx, s, ref)
		}
	}
	if last != nil {
		return last
	}
	if expect != nil {
		return fmt.Errorf("nothing fits %s in %.800s", s.Expect, d.seen)
	}
	return fmt.Errorf("no %s %q in %.800s", target[0], target[1], d.seen)
}
