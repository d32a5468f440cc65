package agents_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// dialect is how a server is asked: what its tools are called, and which of them take several things in one call.
type dialect interface {
	// open goes to an address and, where that is one call with it, looks.
	open(ctx context.Context, d *driver, url string, whole bool) error
	// snapshot looks; whole asks for texts too, not only for what can be acted on.
	snapshot(ctx context.Context, d *driver, whole bool) error
	// act does what is planned, answers how much of it is done and, where that is one call with it, looks.
	act(ctx context.Context, d *driver, plan []planned, whole bool) (int, error)
	// forms are the expressions by which a role and a name are found in a look.
	forms(role, name string) []string
	// words are what stands for a text that a look shows without a ref.
	words(d *driver, t target) string
}

// outrider takes steps of any kind in one act.
type outrider struct{}

func (outrider) open(ctx context.Context, d *driver, url string, _ bool) error {
	text, err := d.call(ctx, "act", map[string]any{"steps": []any{
		map[string]any{"navigate": url},
		map[string]any{"snapshot": map[string]any{}},
	}})
	d.reported = text
	d.take(text, false)
	return err
}

func (outrider) snapshot(ctx context.Context, d *driver, _ bool) error {
	args := map[string]any{}
	since := d.last != "" && d.seen != ""
	if since {
		args["since"] = d.last // nothing was done since the last look
	}
	text, err := d.call(ctx, "snapshot", args)
	d.take(text, since)
	return err
}

func (outrider) act(ctx context.Context, d *driver, plan []planned, _ bool) (int, error) {
	last := plan[len(plan)-1]
	if len(plan) == 1 {
		args := last.outrider()
		if !last.Dialog {
			args["outline"] = true
		}
		text, err := d.call(ctx, "act", args)
		d.reported = text
		if last.Dialog || err != nil {
			d.seen = "" // what was seen is past
		} else {
			d.see(text, false)
		}
		return one(err), err
	}
	steps := []any{}
	for _, p := range plan {
		steps = append(steps, map[string]any{"act": p.outrider()})
	}
	look := map[string]any{}
	if d.last != "" {
		look["since"] = d.last
	}
	text, err := d.call(ctx, "act", map[string]any{"steps": append(steps, map[string]any{"snapshot": look})})
	d.reported = text
	if err == nil {
		d.take(text, look["since"] != nil)
		return len(plan), nil
	}
	done := 0
	if m := regexp.MustCompile(`"step":(\d+)`).FindStringSubmatch(text); m != nil {
		done, _ = strconv.Atoi(m[1])
	}
	return min(done, len(plan)), err
}

// one is how many of one thing are done.
func one(err error) int {
	if err != nil {
		return 0
	}
	return 1
}

// outrider are the arguments of act.
func (p planned) outrider() map[string]any {
	args := map[string]any{"ref": p.ref}
	if strings.HasPrefix(p.ref, "{") {
		args = map[string]any{"locator": json.RawMessage(p.ref)}
	}
	switch {
	case p.Dialog:
		return map[string]any{"action": "dialog", "accept": true}
	case p.Press != "":
		return map[string]any{"action": "press", "key": p.Press}
	case p.Type:
		return map[string]any{"action": "type", "text": p.Text}
	case p.Fill != target{}:
		args["action"], args["text"] = "fill", p.Text
	case p.Choose != target{}:
		args["action"], args["options"] = "select", []string{p.Text}
	case p.Hover != target{}:
		args["action"] = "hover"
	case p.Drag != target{}:
		args["action"], args["to"] = "drag", p.to
	case p.Upload != target{}:
		args["action"], args["files"] = "upload", []string{p.File}
	case p.Double != target{}:
		args["action"] = "double_click"
	default:
		args["action"] = "click"
	}
	return args
}

// take takes in a look of Outrider and its id.
func (d *driver) take(text string, change bool) {
	if m := snapshotID.FindStringSubmatch(text); m != nil {
		d.last = m[1]
	}
	d.see(text, change)
}

func (outrider) forms(role, name string) []string {
	return ariaForms(role, name)
}

const marks = `(?: \[[^\]\n]*\])*?`

// ariaForms find a ref in an outline as Playwright writes it.
func ariaForms(role, name string) []string {
	if name == "" { // the first of the role
		return []string{`(?m)(?:^|[^\w])(?:` + role + `)[^\n]*? \[ref=(\w+)\]`}
	}
	return []string{
		`(?m)(?:^|[^\w])(?:` + role + `) "(?:` + name + `)(?:[^"\\]|\\.)*"` + marks + ` \[ref=(\w+)\]`,
		`(?m)(?:^|[^\w])(?:` + role + `)` + marks + ` \[ref=(\w+)\]` + marks + `: "?(?:` + name + `)`,
	}
}

// words are a text that stands in a row of a table without a ref of its own, as a locator.
func (outrider) words(d *driver, t target) string {
	if t[1] == "" {
		return ""
	}
	m := regexp.MustCompile(`(?m)^[+~ ]*- row: (?:.*\| )?(` + t[1] + `)(?: \||$)`).FindStringSubmatch(d.seen)
	if m != nil {
		return `{"text_equals":` + strconv.Quote(m[1]) + `}`
	}
	return ""
}

// agentBrowser is a command of the shell, whose batch takes commands of any kind.
type agentBrowser struct{}

// batch runs commands until one fails, and answers how many did not.
func (agentBrowser) batch(ctx context.Context, d *driver, commands ...[]string) (int, error) {
	input, err := json.Marshal(commands)
	if err != nil {
		return 0, err
	}
	text, err := d.run(ctx, string(input), "batch", "--bail")
	d.reported = text
	if err != nil {
		return len(regexp.MustCompile(`(?m)^✓`).FindAllString(text, -1)), err
	}
	d.see(text, false)
	return len(commands), nil
}

// look is its command for what can be acted on, or for that with the texts of the page.
func (agentBrowser) look(whole bool) []string {
	if whole {
		return []string{"snapshot", "-c"}
	}
	return []string{"snapshot", "-i"}
}

func (a agentBrowser) open(ctx context.Context, d *driver, url string, whole bool) error {
	_, err := a.batch(ctx, d, []string{"open", url}, a.look(whole))
	return err
}

func (a agentBrowser) snapshot(ctx context.Context, d *driver, whole bool) error {
	_, err := a.batch(ctx, d, a.look(whole))
	return err
}

func (a agentBrowser) act(ctx context.Context, d *driver, plan []planned, whole bool) (int, error) {
	commands := [][]string{}
	for _, p := range plan {
		commands = append(commands, p.agentBrowser())
	}
	if !plan[len(plan)-1].Dialog {
		commands = append(commands, a.look(whole))
	}
	done, err := a.batch(ctx, d, commands...)
	return min(done, len(plan)), err
}

// agentBrowser is the command of a step.
func (p planned) agentBrowser() []string {
	ref := "@" + p.ref
	if strings.HasPrefix(p.ref, "text=") {
		ref = p.ref
	}
	switch {
	case p.Dialog:
		return []string{"dialog", "accept"}
	case p.Press != "":
		return []string{"press", p.Press}
	case p.Type:
		return []string{"keyboard", "type", p.Text}
	case p.Fill != target{}:
		return []string{"fill", ref, p.Text}
	case p.Choose != target{}:
		return []string{"select", ref, p.Text}
	case p.Hover != target{}:
		return []string{"hover", ref}
	case p.Drag != target{}:
		return []string{"drag", ref, "@" + p.to}
	case p.Upload != target{}:
		return []string{"upload", ref, p.File}
	case p.Double != target{}:
		return []string{"dblclick", ref}
	}
	return []string{"click", ref}
}

func (agentBrowser) forms(role, name string) []string {
	if name == "" {
		return []string{`(?m)(?:^|[^\w])(?:` + role + `)[^\n]*? \[[^\]\n]*ref=(\w+)\]`}
	}
	return []string{
		`(?m)(?:^|[^\w])(?:` + role + `) "(?:` + name + `)(?:[^"\\]|\\.)*" \[[^\]\n]*ref=(\w+)\]`,
		`(?m)(?:^|[^\w])(?:` + role + `) \[[^\]\n]*ref=(\w+)\]: "?(?:` + name + `)`,
	}
}

// words are a text without a ref, as its text selector.
func (agentBrowser) words(d *driver, t target) string {
	if t[1] == "" {
		return ""
	}
	m := regexp.MustCompile(`(?m)^ *- StaticText "((?:` + t[1] + `)[^"\n]*)"`).FindStringSubmatch(d.seen)
	if m != nil {
		return "text=" + strings.TrimSpace(m[1])
	}
	return ""
}

// playwright takes the fields of a form in one call, and all else one by one.
type playwright struct{}

func (playwright) open(ctx context.Context, d *driver, url string, _ bool) error {
	var err error
	d.reported, err = d.call(ctx, "browser_navigate", map[string]any{"url": url})
	return err
}

func (playwright) snapshot(ctx context.Context, d *driver, _ bool) error {
	text, err := d.call(ctx, "browser_snapshot", map[string]any{})
	d.see(text, false)
	return err
}

func (playwright) forms(role, name string) []string {
	return ariaForms(role, name)
}

func (playwright) words(*driver, target) string { return "" }

func (p playwright) act(ctx context.Context, d *driver, plan []planned, _ bool) (int, error) {
	defer func() { d.seen = "" }() // what was seen is past
	for i := 0; i < len(plan); {
		n := fields(plan[i:])
		if n < 2 {
			if err := p.one(ctx, d, plan[i]); err != nil {
				return i, err
			}
			i++
			continue
		}
		form := []any{}
		for _, f := range plan[i : i+n] {
			form = append(form, map[string]any{"target": f.ref, "name": f.Fill[1], "type": "textbox", "value": f.Text})
		}
		var err error
		d.reported, err = d.call(ctx, "browser_fill_form", map[string]any{"fields": form})
		if err != nil {
			return i, err
		}
		i += n
	}
	return len(plan), nil
}

// fields is how many of the first are fields to fill.
func fields(plan []planned) int {
	n := slices.IndexFunc(plan, func(p planned) bool { return p.Fill == target{} })
	if n < 0 {
		return len(plan)
	}
	return n
}

func (playwright) one(ctx context.Context, d *driver, p planned) error {
	if p.Type { // none of its tools types into what has the focus
		for _, r := range p.Text {
			var err error
			d.reported, err = d.call(ctx, "browser_press_key", map[string]any{"key": string(r)})
			if err != nil {
				return err
			}
		}
		return nil
	}
	tool, args := p.playwright()
	var err error
	d.reported, err = d.call(ctx, tool, args)
	if p.Upload != (target{}) && err == nil { // the click opened a chooser of files
		d.reported, err = d.call(ctx, "browser_file_upload", map[string]any{"paths": []string{p.File}})
	}
	return err
}

func (p planned) playwright() (string, map[string]any) {
	args := map[string]any{"element": "the element", "target": p.ref}
	switch {
	case p.Dialog:
		return "browser_handle_dialog", map[string]any{"accept": true}
	case p.Press != "":
		return "browser_press_key", map[string]any{"key": p.Press}
	case p.Fill != target{}:
		args["text"] = p.Text
		return "browser_type", args
	case p.Choose != target{}:
		args["values"] = []string{p.Text}
		return "browser_select_option", args
	case p.Hover != target{}:
		return "browser_hover", args
	case p.Drag != target{}:
		return "browser_drag", map[string]any{
			"startElement": "it",
			"startTarget":  p.ref,
			"endElement":   "there",
			"endTarget":    p.to,
		}
	case p.Double != target{}:
		args["doubleClick"] = true
	}
	return "browser_click", args
}

// devTools takes the fields of a form in one call, and shows the page with the answer of an act.
type devTools struct{}

func (devTools) open(ctx context.Context, d *driver, url string, _ bool) error {
	var err error
	d.reported, err = d.call(ctx, "navigate_page", map[string]any{"type": "url", "url": url})
	return err
}

func (devTools) snapshot(ctx context.Context, d *driver, _ bool) error {
	text, err := d.call(ctx, "take_snapshot", map[string]any{})
	d.see(text, false)
	return err
}

func (devTools) act(ctx context.Context, d *driver, plan []planned, _ bool) (int, error) {
	for i := 0; i < len(plan); {
		n := max(1, fields(plan[i:]))
		tool, args := plan[i].devTools()
		if n > 1 {
			form := []any{}
			for _, f := range plan[i : i+n] {
				form = append(form, map[string]any{"uid": f.ref, "value": f.Text})
			}
			tool, args = "fill_form", map[string]any{"elements": form}
		}
		shows := i+n == len(plan) && strings.Contains(d.schemas[tool], `"includeSnapshot"`)
		if shows {
			args["includeSnapshot"] = true
		}
		var err error
		d.reported, err = d.call(ctx, tool, args)
		if err != nil {
			return i, err
		}
		d.seen = "" // what was seen is past
		if shows {
			d.see(d.reported, false)
		}
		i += n
	}
	return len(plan), nil
}

func (p planned) devTools() (string, map[string]any) {
	switch {
	case p.Dialog:
		return "handle_dialog", map[string]any{"action": "accept"}
	case p.Press != "":
		return "press_key", map[string]any{"key": p.Press}
	case p.Type:
		return "type_text", map[string]any{"text": p.Text}
	case p.Fill != target{}, p.Choose != target{}:
		return "fill", map[string]any{"uid": p.ref, "value": p.Text}
	case p.Hover != target{}:
		return "hover", map[string]any{"uid": p.ref}
	case p.Drag != target{}:
		return "drag", map[string]any{"from_uid": p.ref, "to_uid": p.to}
	case p.Upload != target{}:
		return "upload_file", map[string]any{"uid": p.ref, "filePaths": []string{p.File}}
	case p.Double != target{}:
		return "click", map[string]any{"uid": p.ref, "dblClick": true}
	}
	return "click", map[string]any{"uid": p.ref}
}

func (devTools) forms(role, name string) []string {
	if name == "" {
		return []string{`(?m)uid=(\S+) (?:` + role + `)`}
	}
	return []string{
		`(?m)uid=(\S+) (?:` + role + `|StaticText) "(?:` + name + `)`,
		`(?m)uid=(\S+) (?:` + role + `)[^\n]*(?:` + name + `)`,
		`(?m)uid=(\S+) "(?:` + name + `)`, // text has no role there
	}
}

func (devTools) words(*driver, target) string { return "" }
