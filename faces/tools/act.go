package tools

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

const actInput = `{"type":"object","properties":{` +
	`"action":{"type":"string","enum":["click","double_click","hover","drag","fill","type","press","select",` +
	`"scroll","focus","upload","dialog","select_text"]},` +
	`"ref":{"type":"string"},"locator":{"type":"object","description":"instead of ref: {role,name}, {label}, ` +
	`{near}, {selector}, {text}"},` +
	`"fields":{"type":"object","description":"fill: a form, label or ref: text, option, true/false"},` +
	`"to":{"type":"object","description":"drag: {ref}, {x,y} of the viewport or locator"},` +
	`"path":{"type":"array","items":{"type":"object"},"description":"drag: points like at, a stroke in place of to"},` +
	`"text":{"type":"string",` +
	`"description":"fill, type, dialog, select_text: its words; {{secret:NAME}}"},` +
	`"nth":{"type":"integer","description":"select_text: which place, from 0"},` +
	`"key":{"type":"string","description":"press: Enter, Control+a, or several: ArrowLeft Shift+End"},` +
	`"count":{"type":"integer","minimum":1,"maximum":100,"description":"press: so many times"},` +
	`"modifiers":{"type":"array","items":{"type":"string"}},` +
	`"button":{"type":"string","enum":["left","middle","right"]},` +
	`"at":{"type":"object","description":"click, drag: {x,y} from the element's top left in CSS px; to then too"},` +
	`"options":{"type":"array","items":{"type":"string"},"description":"select: labels"},` +
	`"files":{"type":"array","items":{"type":"string"}},` +
	`"drop":{"type":"boolean","description":"upload: by drag and drop"},` +
	`"delta_y":{"type":"number","description":"scroll: pixels"},"accept":{"type":"boolean",` +
	`"description":"dialog: OK or Cancel"},"outline":{"type":"boolean","description":"show what changed"},` +
	stepsProperty + `,` +
	timeoutProperty + `,` + pageProperty + `,` + sessionProperty + `},"additionalProperties":false}`

type actIn struct {
	where
	Action    string          `json:"action"`
	Ref       string          `json:"ref"`
	Locator   json.RawMessage `json:"locator"`
	To        json.RawMessage `json:"to"`
	Path      []point         `json:"path"`
	Text      *string         `json:"text"`
	Key       string          `json:"key"`
	Count     int             `json:"count"`
	Nth       *int            `json:"nth"`
	Button    string          `json:"button"`
	At        *point          `json:"at"`
	Modifiers []string        `json:"modifiers"`
	Options   []string        `json:"options"`
	Files     []string        `json:"files"`
	Drop      bool            `json:"drop"`
	Fields    json.RawMessage `json:"fields"`
	DeltaY    *float64        `json:"delta_y"`
	Accept    *bool           `json:"accept"`
	Outline   bool            `json:"outline"`
	Steps     []step          `json:"steps"`
}

// point is a place, in CSS pixels.
type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// actTool does what a person would do to an element, with trusted input.
func (s *Set) actTool() Tool {
	t := newTool(
		"act", "Act on a page",
		"Click, type, choose, drag, upload, scroll or answer a dialog; waits until the element can "+
			"take it and says what followed.",
		actInput, pageResult, false,
		func(ctx context.Context, c *Call) (*Answer, *fault.Error) {
			var in actIn
			if err := c.Decode(&in); err != nil {
				return nil, err
			}
			if len(in.Steps) > 0 {
				return c.runSteps(ctx, in)
			}
			if in.Action == "" {
				return nil, invalid("action", "act needs an action, or steps")
			}
			if len(in.Fields) > 0 {
				if in.Action != "fill" || in.Text != nil || in.Ref != "" || len(in.Locator) > 0 {
					return nil, invalid("fields", "fields is for action fill, without ref, locator and text")
				}
				return c.on(ctx, in.where, func(p page) (*Answer, *fault.Error) { return c.fillForm(ctx, p, in) })
			}
			ctx, cancel := in.bounded(ctx) // the outline after it included
			defer cancel()
			name, args, err := in.primitive()
			if err != nil {
				return nil, err
			}
			return c.on(ctx, in.where, func(p page) (*Answer, *fault.Error) {
				if in.At != nil || in.stroke() {
					if err := in.placeAt(args); err != nil {
						return nil, err
					}
				}
				c.baseline(ctx, p, in)
				opener := c.fieldsOfOpener(ctx, p)
				value, r, err := c.perform(ctx, p, in, name, args)
				if err != nil && in.Action == "select" && err.Evidence["reason"] == "not_a_list" {
					value, r, err = c.pick(ctx, p, in)
				}
				if err != nil {
					c.laterOfFailure(p, err)
					return nil, err
				}
				done := c.report(in, p, r, value)
				c.awaitDownloads(p, done.seen)
				if done.NotKept {
					value, r, err = c.byKeys(ctx, p, in, args)
					if err != nil {
						return nil, err
					}
					done = c.report(in, p, r, value)
				}
				done.Followed = append(done.Followed, c.pageSays(ctx, p, done.seen)...)
				done.Followed = append(done.Followed, c.changedInOpener(ctx, opener)...)
				done.Followed = append(done.Followed, c.complaints(ctx, p)...)
				return c.answered(ctx, p, in, done, r)
			})
		})
	// the ref alone will do
	t.Arguments = json.RawMessage(strings.Replace(actInput, `"to":{"type":"object",`, `"to":{`, 1))
	return t
}

// actEffects: an action on which nothing follows is answered at once. What comes later stands at the head of the next
// answer.
const actEffects = true

// primitive returns which primitive does the action, and with what.
func (in actIn) primitive() (string, map[string]any, *fault.Error) {
	args := map[string]any{"effects": actEffects}
	if err := in.target(args, "ref", "locator"); err != nil {
		return "", nil, err
	}
	hasTarget := len(args) > 1
	if in.TimeoutMS > 0 {
		args["timeout_ms"] = in.TimeoutMS
	}
	needs := func(ok bool, member string) *fault.Error {
		if ok {
			return nil
		}
		return invalid(member, "action %s needs %s", in.Action, strings.Replace(member, "ref", "ref or locator", 1))
	}
	modifiers := func() {
		if len(in.Modifiers) > 0 {
			args["modifiers"] = in.Modifiers
		}
	}
	switch in.Action {
	case "click", "double_click":
		modifiers()
		set(args, "button", in.Button)
		return "pointer." + in.Action, args, needs(hasTarget, "ref")
	case "hover":
		return "page.hover", args, needs(hasTarget, "ref")
	case "focus":
		return "dom.focus", args, needs(hasTarget, "ref")
	case "drag":
		if err := needs(hasTarget, "ref"); err != nil {
			return "", nil, err
		}
		if err := needs(len(in.To) > 0 || in.stroke(), "to"); err != nil {
			return "", nil, err
		}
		var to any = in.To // a locator or a point
		if len(in.To) > 0 && in.To[0] == '"' {
			to = map[string]json.RawMessage{"ref": in.To}
		}
		from := map[string]any{"ref": in.Ref}
		if in.Ref == "" {
			from = map[string]any{"locator": everywhere(in.Locator)}
		}
		args = map[string]any{"effects": actEffects, "from": from, "to": to}
		if in.TimeoutMS > 0 {
			args["timeout_ms"] = in.TimeoutMS
		}
		return "pointer.drag", args, nil
	case "fill":
		if in.Text != nil {
			args["text"] = *in.Text
			args["mode"] = "replace"
			args["drawn"] = true
		}
		return "text.insert", args, needs(in.Text != nil, "text")
	case "type":
		if in.Text != nil {
			args["text"], args["trusted"] = *in.Text, true
		}
		return "text.type", args, needs(in.Text != nil, "text")
	case "select_text":
		if in.Text != nil {
			args["text"] = *in.Text
		}
		if in.Nth != nil {
			args["nth"] = *in.Nth
		}
		return "text.select", args, needs(in.Text != nil, "text")
	case "press":
		modifiers()
		args["key"], args["trusted"] = in.Key, true
		if in.Count > 1 {
			args["repeat"] = in.Count
		}
		return "keyboard.press", args, needs(in.Key != "", "key")
	case "select":
		args["label"] = in.Options
		if err := needs(hasTarget, "ref"); err != nil {
			return "", nil, err
		}
		return "page.select", args, needs(in.Options != nil, "options")
	case "upload":
		if err := needs(hasTarget, "ref"); err != nil {
			return "", nil, err
		}
		args["paths"] = in.Files
		if in.Drop {
			args["drop"] = true
		}
		if in.Ref != "" {
			delete(args, "ref")
			args["locator"] = map[string]any{"ref": in.Ref}
		}
		return "upload.set_files", args, needs(len(in.Files) > 0, "files")
	case "scroll":
		if in.DeltaY != nil {
			args["delta_y"] = *in.DeltaY
		}
		return "viewport.scroll", args, needs(in.DeltaY != nil, "delta_y")
	}
	if in.Action == "dialog" {
		if in.Accept == nil {
			return "", nil, invalid("accept", "action dialog needs accept: true is OK, false is Cancel")
		}
		args = map[string]any{"accept": *in.Accept}
		if in.Text != nil {
			args["prompt_text"] = *in.Text
		}
		return "browser.dismiss_dialog", args, nil
	}
	return "", nil, invalid("action", "there is no action %s", in.Action)
}

// everywhere is a locator that looks where a person does: in frames too.
func everywhere(locator json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(locator, &members) != nil || members["frame"] != nil || members["ref"] != nil ||
		members["any_frame"] != nil {
		return locator
	}
	members["any_frame"] = json.RawMessage("true")
	encoded, err := json.Marshal(members)
	if err != nil {
		return locator
	}
	return encoded
}

// target puts the element that the call names into args.
func (in actIn) target(args map[string]any, ref, locator string) *fault.Error {
	if in.Ref != "" && len(in.Locator) > 0 {
		return invalid("locator", "give ref or locator, not both")
	}
	set(args, ref, in.Ref)
	if len(in.Locator) > 0 {
		args[locator] = everywhere(in.Locator)
	}
	return nil
}
