package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/outrider-run/outrider/primitives/fault"
)

// openerFields are the controls of the page that has opened a window, as they are before an act in the window.
type openerFields struct {
	opener page
	held   map[string]outlineRow // by ref
}

// mostOpenerLines bounds what is told of the page that has opened a window.
const mostOpenerLines = 5

// fieldsOfOpener reads the controls of the page that has opened this one; nil where none has. An act in a window often
// writes into them and closes the window.
func (c *Call) fieldsOfOpener(ctx context.Context, p page) *openerFields {
	opener, known := c.set.openers.get(p.handle())
	if !known {
		return nil
	}
	for _, other := range c.set.pagesOf(p.session) {
		if other.handle() != opener {
			continue
		}
		held, err := c.controlsOf(ctx, other)
		if err != nil {
			return nil
		}
		return &openerFields{other, held}
	}
	return nil
}

func (c *Call) controlsOf(ctx context.Context, p page) (map[string]outlineRow, *fault.Error) {
	args := map[string]any{"format": "json", "interactive_only": true, "max_nodes": findNodes, "max_bytes": mostBytes}
	value, _, err := c.do(ctx, p, "page.snapshot", args, where{})
	if err != nil {
		return nil, err
	}
	out := map[string]outlineRow{}
	for _, r := range rowsIn(value) {
		if fillable[r.Role] {
			out[r.Ref] = r
		}
	}
	return out, nil
}

// changedInOpener tells which controls of the page that has opened a window hold something else than before the act.
func (c *Call) changedInOpener(ctx context.Context, before *openerFields) []string {
	if before == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, saysTime)
	defer cancel()
	now, err := c.controlsOf(ctx, before.opener)
	if err != nil {
		return nil // it is gone, or went to another document
	}
	var out []string
	for ref, then := range before.held {
		r, ok := now[ref]
		if !ok || r.Value == then.Value && r.Checked == then.Checked || len(out) == mostOpenerLines {
			continue
		}
		state := fmt.Sprintf("holds %d characters", len([]rune(r.Value)))
		switch {
		case r.Checked == true:
			state = "is checked"
		case r.Checked != then.Checked:
			state = "is not checked"
		case r.Value == "":
			state = "is empty"
		}
		out = append(out, fmt.Sprintf("in %s %s %s", before.opener.handle(), r.label(), state))
	}
	return out
}

// wordEffects puts what followed an act that failed into words. It takes the place of the report, which counts nodes.
func (f followed) wordEffects(p page, err *fault.Error) {
	delete(err.Fields, "effects")
	if lines := f.seen(p, nil); len(lines) > 0 {
		err.Fields["followed"] = lines
	}
}

// baseline takes the snapshot that an outline of what an act changed is compared with.
func (c *Call) baseline(ctx context.Context, p page, in actIn) {
	if !in.Outline {
		return
	}
	_, _, _ = c.outline(ctx, p, snapshotIn{where: in.where}) // without it, the outline is of the whole page
}

// reportOf decodes the report of an act that failed.
func reportOf(err *fault.Error) (followed, bool) {
	var f followed
	raw, ok := err.Fields["effects"].(json.RawMessage)
	if !ok || json.Unmarshal(raw, &f) != nil {
		return f, false
	}
	return f, true
}
