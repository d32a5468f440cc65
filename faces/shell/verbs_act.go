package shell

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// acts are the verbs that do something to a page.
func acts() []Verb {
	return []Verb{
		{
			Name: "click", Usage: "TARGET", Short: "Click an element",
			flags: func(f *pflag.FlagSet, g *Given) {
				locatorFlags(f, g)
				pointerFlags(f, g)
				f.BoolVar(&g.double, "double", false, "click twice")
				outlineFlag(f, g)
			},
			steps: clickSteps,
		},
		{
			Name: "fill", Usage: "FIELD VALUE [FIELD VALUE]...", Short: "Fill one field, or several of a form",
			flags: func(f *pflag.FlagSet, g *Given) {
				locatorFlags(f, g)
				f.BoolVar(&g.submit, "submit", false, "press Enter in the last field")
				outlineFlag(f, g)
			},
			steps: fillSteps,
		},
		{
			Name: "type", Usage: "[TARGET] TEXT", Short: "Type a text with keys, at the focus without a target",
			flags: locatorFlags, steps: typeSteps,
		},
		{
			Name: "press", Usage: "KEYS [TARGET]", Short: `Press keys: Enter, Control+a, "ArrowDown ArrowDown Enter"`,
			flags: func(f *pflag.FlagSet, g *Given) {
				locatorFlags(f, g)
				f.IntVar(&g.count, "count", 0, "so many times")
				outlineFlag(f, g)
			},
			steps: pressSteps,
		},
		{
			Name: "select", Usage: "TARGET OPTION...", Short: "Choose options of a list by their labels",
			flags: func(f *pflag.FlagSet, g *Given) {
				locatorFlags(f, g)
				outlineFlag(f, g)
			},
			steps: selectSteps,
		},
		{Name: "check", Usage: "TARGET", Short: "Check a box", flags: locatorFlags, steps: boxSteps(true)},
		{Name: "uncheck", Usage: "TARGET", Short: "Uncheck a box", flags: locatorFlags, steps: boxSteps(false)},
		{
			Name: "upload", Usage: "TARGET FILE...",
			Short: "Give files to a field, or to what takes them by drag and drop",
			flags: func(f *pflag.FlagSet, g *Given) {
				locatorFlags(f, g)
				f.BoolVar(&g.drop, "drop", false, "by drag and drop")
			},
			steps: uploadSteps,
		},
		{
			Name: "download", Usage: "TARGET [FILE]", Short: "Click an element and wait for the file that it brings",
			flags: locatorFlags, steps: downloadSteps,
		},
		{
			Name: "drag", Usage: "TARGET TO", Short: "Drag an element to another one, or to X,Y",
			flags: func(f *pflag.FlagSet, g *Given) {
				locatorFlags(f, g)
				f.StringVar(&g.at, "at", "", "X,Y from the corner of the element; TO then too")
			},
			steps: dragSteps,
		},
		{
			Name: "hover", Usage: "TARGET", Short: "Move the mouse over an element",
			flags: locatorFlags, steps: hoverSteps,
		},
		{
			Name: "scroll", Usage: "up|down|PIXELS [TARGET]", Short: "Scroll the page, or an element",
			flags: locatorFlags, steps: scrollSteps,
		},
		{
			Name: "mouse", Usage: "move|click|wheel X,Y [PIXELS]", Short: "Use the mouse at a point of the viewport",
			flags: pointerFlags, steps: mouseSteps,
		},
		{
			Name: "dialog", Usage: "accept|dismiss [TEXT]", Short: "Answer a dialog of the page",
			steps: dialogSteps,
		},
	}
}

func pointerFlags(f *pflag.FlagSet, g *Given) {
	f.StringVar(&g.button, "button", "", "left, middle or right")
	f.StringVar(&g.at, "at", "", "X,Y from the corner of the element, in CSS pixels")
	f.StringSliceVar(&g.modifiers, "modifiers", nil, "Alt, Control, Meta, Shift")
}

func outlineFlag(f *pflag.FlagSet, g *Given) {
	f.BoolVar(&g.outline, "outline", false, "show what changed, with refs")
}

// act is a step of the tool act.
func act(action string, t target, members map[string]any) Step {
	args := map[string]any{"action": action}
	t.put(args)
	for name, value := range members {
		args[name] = value
	}
	return Step{Tool: "act", Arguments: args, Field: t.words}
}

func clickSteps(g *Given, words []string) ([]Step, error) {
	t, err := g.only(words, false)
	if err != nil {
		return nil, err
	}
	action := "click"
	if g.double {
		action = "double_click"
	}
	s := act(action, t, nil)
	put(s.Arguments, "button", g.button)
	put(s.Arguments, "outline", g.outline)
	if len(g.modifiers) > 0 {
		s.Arguments["modifiers"] = g.modifiers
	}
	if g.at != "" {
		at, err := point(g.at)
		if err != nil {
			return nil, err
		}
		s.Arguments["at"] = at
	}
	return []Step{s}, nil
}

// fillSteps fill one field as a person does, and several in one call.
func fillSteps(g *Given, words []string) ([]Step, error) {
	named := g.byFlags()
	var steps []Step
	var last target
	switch {
	case !named.none():
		if len(words) != 1 {
			return nil, wrong("give one value")
		}
		last = named
		steps = []Step{act("fill", named, map[string]any{"text": words[0]})}
	case len(words) < 2 || len(words)%2 != 0:
		return nil, wrong("give a value for each field")
	case len(words) == 2:
		t, _, err := g.take(words, true)
		if err != nil {
			return nil, err
		}
		last = t
		steps = []Step{act("fill", t, map[string]any{"text": words[1]})}
	default:
		fields := make([]string, 0, len(words)/2)
		for i := 0; i < len(words); i += 2 {
			t, err := readTarget(words[i], true)
			if err != nil {
				return nil, wrong("%v", err)
			}
			key, err := t.field()
			if err != nil {
				return nil, err
			}
			fields = append(fields, key, words[i+1])
			last = t
		}
		steps = []Step{act("fill", target{}, map[string]any{"fields": ordered(fields)})}
	}
	put(steps[0].Arguments, "outline", g.outline && !g.submit)
	if g.submit {
		s := act("press", last, map[string]any{"key": "Enter"})
		put(s.Arguments, "outline", g.outline)
		steps = append(steps, s)
	}
	return steps, nil
}

func typeSteps(g *Given, words []string) ([]Step, error) {
	t := g.byFlags()
	if t.none() && len(words) == 2 {
		var err error
		t, words, err = g.take(words, true)
		if err != nil {
			return nil, err
		}
	}
	if len(words) != 1 {
		return nil, wrong("give one text")
	}
	return []Step{act("type", t, map[string]any{"text": words[0]})}, nil
}

func pressSteps(g *Given, words []string) ([]Step, error) {
	if len(words) == 0 {
		return nil, wrong("name a key, such as Enter or Control+a")
	}
	t := g.byFlags()
	rest := words[1:]
	if t.none() && len(rest) > 0 {
		var err error
		t, rest, err = g.take(rest, true)
		if err != nil {
			return nil, err
		}
	}
	if err := none(rest); err != nil {
		return nil, err
	}
	s := act("press", t, map[string]any{"key": words[0]})
	put(s.Arguments, "count", g.count)
	put(s.Arguments, "outline", g.outline)
	return []Step{s}, nil
}

func selectSteps(g *Given, words []string) ([]Step, error) {
	t, rest, err := g.take(words, true)
	if err != nil {
		return nil, err
	}
	if len(rest) == 0 {
		return nil, wrong("name an option")
	}
	s := act("select", t, map[string]any{"options": rest})
	put(s.Arguments, "outline", g.outline)
	return []Step{s}, nil
}

// boxSteps set a box, which stays as it is where it is so already.
func boxSteps(checked bool) func(*Given, []string) ([]Step, error) {
	return func(g *Given, words []string) ([]Step, error) {
		t, err := g.only(words, true)
		if err != nil {
			return nil, err
		}
		key, err := t.field()
		if err != nil {
			return nil, err
		}
		return []Step{act("fill", target{}, map[string]any{"fields": map[string]any{key: checked}})}, nil
	}
}

func uploadSteps(g *Given, words []string) ([]Step, error) {
	t, rest, err := g.take(words, true)
	if err != nil {
		return nil, err
	}
	if len(rest) == 0 {
		return nil, wrong("name a file")
	}
	files := make([]string, len(rest))
	for i, file := range rest {
		files[i], err = filepath.Abs(file)
		if err != nil {
			return nil, err
		}
	}
	s := act("upload", t, map[string]any{"files": files})
	put(s.Arguments, "drop", g.drop)
	return []Step{s}, nil
}

func downloadSteps(g *Given, words []string) ([]Step, error) {
	t, rest, err := g.take(words, false)
	if err == nil && len(rest) > 1 {
		err = none(rest[1:])
	}
	if err != nil {
		return nil, err
	}
	file := "."
	if len(rest) == 1 {
		file = rest[0]
	}
	return []Step{
		act("click", t, nil),
		{Tool: "download.wait", Arguments: map[string]any{}, Save: file},
	}, nil
}

func dragSteps(g *Given, words []string) ([]Step, error) {
	t, rest, err := g.take(words, false)
	if err != nil {
		return nil, err
	}
	if len(rest) != 1 {
		return nil, wrong("say where to")
	}
	var to any
	if at, err := point(rest[0]); err == nil {
		to = at
	} else {
		end, err := readTarget(rest[0], false)
		if err != nil {
			return nil, wrong("%v", err)
		}
		to = end.asLocator()
	}
	s := act("drag", t, map[string]any{"to": to})
	if g.at != "" {
		at, err := point(g.at)
		if err != nil {
			return nil, err
		}
		s.Arguments["at"] = at
	}
	return []Step{s}, nil
}

func hoverSteps(g *Given, words []string) ([]Step, error) {
	t, err := g.only(words, false)
	if err != nil {
		return nil, err
	}
	return []Step{act("hover", t, nil)}, nil
}

// screenful is how far a page scrolls that is scrolled up or down, in CSS pixels.
const screenful = 600

func scrollSteps(g *Given, words []string) ([]Step, error) {
	if len(words) == 0 {
		return nil, wrong("say up, down or how many pixels")
	}
	t := g.byFlags()
	rest := words[1:]
	if t.none() && len(rest) > 0 {
		var err error
		t, rest, err = g.take(rest, false)
		if err != nil {
			return nil, err
		}
	}
	if err := none(rest); err != nil {
		return nil, err
	}
	var by float64
	switch words[0] {
	case "up":
		by = -screenful
	case "down":
		by = screenful
	default:
		var err error
		by, err = strconv.ParseFloat(words[0], 64)
		if err != nil {
			return nil, wrong("%q is neither up, down nor a number of pixels; -300 stands after --", words[0])
		}
	}
	return []Step{act("scroll", t, map[string]any{"delta_y": by})}, nil
}

func mouseSteps(g *Given, words []string) ([]Step, error) {
	if len(words) < 2 {
		return nil, wrong("say what to do, and where")
	}
	args, err := point(words[1])
	if err != nil {
		return nil, err
	}
	rest := words[2:]
	name := "pointer." + words[0]
	switch words[0] {
	case "move":
	case "click":
		put(args, "button", g.button)
	case "wheel":
		if len(rest) == 0 {
			return nil, wrong("say how many pixels")
		}
		args["delta_y"], err = strconv.ParseFloat(rest[0], 64)
		if err != nil {
			return nil, wrong("%q is no number of pixels", rest[0])
		}
		rest = rest[1:]
	default:
		return nil, wrong("%q is neither move, click nor wheel", words[0])
	}
	if err := none(rest); err != nil {
		return nil, err
	}
	return []Step{{Tool: name, Arguments: args}}, nil
}

func dialogSteps(_ *Given, words []string) ([]Step, error) {
	if len(words) == 0 || len(words) > 2 || words[0] != "accept" && words[0] != "dismiss" {
		return nil, wrong("say accept or dismiss")
	}
	s := act("dialog", target{}, map[string]any{"accept": words[0] == "accept"})
	if len(words) == 2 {
		s.Arguments["text"] = strings.TrimSpace(words[1])
	}
	return []Step{s}, nil
}
