package widgets_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostActs is how often an agent acts for one task.
const mostActs = 2

// agent does tasks by the tools of MCP. It knows what a person asks and what the tools answer, and no library.
type agent struct {
	session *sdk.ClientSession
	files   string // the folder of files to attach
	log     io.Writer
}

// call calls a tool. refused is what the answer says of a call that was not done.
func (a *agent) call(ctx context.Context, tool string, args map[string]any) (answer string, refused error) {
	r, err := a.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	if a.log != nil {
		encoded, _ := json.Marshal(args)
		_, _ = fmt.Fprintf(a.log, "> %s %s\n< %s\n", tool, encoded, b.String())
	}
	if r.IsError {
		return b.String(), fmt.Errorf("%.400s", b.String())
	}
	return b.String(), nil
}

// do does a task: a look, and at most two acts. The second is another way after the first was refused.
func (a *agent) do(ctx context.Context, url string, t task) error {
	if _, err := a.call(ctx, "tabs", map[string]any{"action": "navigate", "url": url}); err != nil {
		return err
	}
	var refused error
	for n := range mostActs {
		seen, err := a.call(ctx, "snapshot", map[string]any{"max_tokens": 20000})
		if err != nil {
			return err
		}
		act := a.plan(t, seen, n > 0)
		if act == nil {
			if refused == nil {
				refused = fmt.Errorf("the page shows nothing to act on: %.300s", seen)
			}
			return refused
		}
		if t.Set != "" { // who sets a number or a date presses Enter behind it
			act = map[string]any{"steps": []any{
				map[string]any{"act": act}, map[string]any{"act": map[string]any{"action": "press", "key": "Enter"}},
			}}
		}
		_, refused = a.call(ctx, "act", act)
		if refused == nil {
			return nil
		}
	}
	return refused
}

// plan is the act that a look suggests, nil for none. again: the first was refused.
func (a *agent) plan(t task, seen string, again bool) map[string]any {
	control := find(seen, t.In, fieldRoles, true)
	click := func(ref string) map[string]any {
		if ref == "" {
			return nil
		}
		return map[string]any{"action": "click", "ref": ref}
	}
	switch {
	case len(t.Choose) > 0:
		option := find(seen, t.Choose[0], optionRoles, false)
		if (control == "" || again) && option != "" && len(t.Choose) == 1 {
			return click(option)
		}
		if control == "" || again {
			return fields(t.In, []string(t.Choose))
		}
		return map[string]any{"action": "select", "ref": control, "options": []string(t.Choose)}
	case t.Write+t.Set != "":
		if again && control != "" {
			return map[string]any{"action": "fill", "ref": control, "text": t.Write + t.Set}
		}
		return fields(t.In, t.Write+t.Set)
	case t.Turn != nil:
		if again {
			return click(find(seen, t.In, nil, true))
		}
		return fields(t.In, *t.Turn)
	case t.Press != "":
		if again {
			return map[string]any{"action": "click", "locator": map[string]any{"text": t.Press}}
		}
		return click(find(seen, t.Press, nil, true))
	case t.Drag != "":
		from, to := find(seen, t.Drag, nil, true), find(seen, t.To, nil, true)
		if from == "" || to == "" {
			if !again {
				return nil
			}
			return map[string]any{
				"action": "drag", "locator": map[string]any{"text": t.Drag}, "to": map[string]any{"text": t.To},
			}
		}
		return map[string]any{"action": "drag", "ref": from, "to": to}
	case t.Attach != "":
		control := find(seen, t.In, nil, true)
		if control == "" {
			return nil
		}
		act := map[string]any{"action": "upload", "ref": control, "files": []string{filepath.Join(a.files, t.Attach)}}
		if again {
			act["drop"] = true
		}
		return act
	}
	return nil
}

// fields fills one field of a form by what it is called.
func fields(name string, value any) map[string]any {
	return map[string]any{"action": "fill", "fields": map[string]any{name: value}}
}

var (
	fieldRoles = []string{
		"combobox", "listbox", "textbox", "searchbox", "spinbutton", "slider", "input", "checkbox", "switch", "button",
		"application", "tree",
	}
	optionRoles = []string{
		"radio", "option", "menuitemradio", "menuitem", "treeitem", "gridcell", "tab", "button", "link", "checkbox",
		"menuitemcheckbox", "cell",
	}

	rowForm = regexp.MustCompile(`^[ ]*- (\w+)(?: "((?:[^"\\]|\\.)*)")?(?: ≈"((?:[^"\\]|\\.)*)")?` +
		`(?: — "(?:[^"\\]|\\.)*")?((?: \[[^\]\n]*\])*)(?:: "?(.*?)"?)?$`)
	refForm = regexp.MustCompile(`\[ref=(\w+)\]`)
)

var lineForm = regexp.MustCompile(`^ *- (?:row|listitem)(?: "(?:[^"\\]|\\.)*")?(?: \[[^\]\n]*\])*: (.*)$`)

// rows are the rows of a look. A row of a table and an item of a list have those in them on their line.
func rows(seen string) []string {
	var out []string
	for line := range strings.SplitSeq(seen, "\n") {
		out = append(out, line)
		if m := lineForm.FindStringSubmatch(line); m != nil {
			for part := range strings.SplitSeq(m[1], " | ") {
				out = append(out, "- "+part)
			}
		}
	}
	return out
}

// find is the ref of what is called so in a look, "" for none. Roles come in the order in which a person would mean
// them; other rows come last where any will do. What is called so as a whole comes before what contains the words.
func find(seen, name string, roles []string, any bool) string {
	if name == "" {
		return ""
	}
	bare := func(s string) string { return strings.ToLower(strings.Trim(s, " *:")) }
	wanted := bare(name)
	best, ref := 1000, ""
	for _, line := range rows(seen) {
		m := rowForm.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		mark := refForm.FindStringSubmatch(m[4])
		if mark == nil {
			continue
		}
		place := slices.Index(roles, m[1])
		if place < 0 {
			if !any {
				continue
			}
			place = len(roles)
		}
		for i, called := range []string{bare(m[2]), bare(m[3]), bare(m[5])} {
			score := place + 30*i
			switch {
			case called == wanted:
			case called != "" && strings.Contains(called, wanted):
				score += 100
			default:
				continue
			}
			if score < best {
				best, ref = score, mark[1]
			}
		}
	}
	return ref
}
