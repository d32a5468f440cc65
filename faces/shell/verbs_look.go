package shell

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
)

// looks are the verbs that leave the page as it is.
func looks() []Verb {
	return []Verb{
		{
			Name: "snapshot", Usage: "[REF]", Short: "Show the page as roles, names and refs",
			flags: func(f *pflag.FlagSet, g *Given) {
				f.BoolVarP(&g.interactive, "interactive", "i", false, "only what can be acted on")
				f.BoolVar(&g.changed, "changed", false, "only what changed since the last snapshot")
				tokenFlags(f, g)
			},
			steps: snapshotSteps,
		},
		{
			Name: "find", Usage: "WORDS", Short: "Show the rows of the page that fit words", flags: tokenFlags,
			steps: findSteps,
		},
		{
			Name: "read", Usage: "[REF]", Short: "Read the content of the page, or of one element",
			flags: func(f *pflag.FlagSet, g *Given) {
				f.StringVar(&g.format, "format", "", "markdown (default), text or elements")
				tokenFlags(f, g)
			},
			steps: readSteps,
		},
		{
			Name: "get", Usage: "text|value|attribute|count|box TARGET, or get url|title",
			Short: "Print one thing of an element or of the page",
			flags: func(f *pflag.FlagSet, g *Given) {
				locatorFlags(f, g)
				f.StringVar(&g.attribute, "attribute", "", "with get attribute: its name")
			},
			steps: getSteps,
		},
		{
			Name: "wait", Usage: "[TEXT]", Short: "Wait for a text; without anything, for what the last act brings",
			flags: func(f *pflag.FlagSet, g *Given) {
				f.StringVar(&g.text, "gone", "", "until this text is gone")
				f.StringVar(&g.selector, "selector", "", "for an element")
				f.StringVar(&g.url, "url", "", "for an address, or a part of it")
				f.BoolVar(&g.idle, "network-idle", false, "until no request is under way")
			},
			steps: waitSteps,
		},
		{
			Name: "eval", Usage: "EXPRESSION", Short: "Evaluate JavaScript in the page and print its value",
			steps: evalSteps,
		},
		{
			Name: "screenshot", Usage: "FILE [REF]", Short: "Write a picture of the page to a file",
			flags: func(f *pflag.FlagSet, g *Given) { f.BoolVar(&g.full, "full-page", false, "the whole page") },
			steps: screenshotSteps,
		},
		{Name: "pdf", Usage: "FILE", Short: "Print the page to a file", steps: pdfSteps},
		{
			Name: "console", Short: "Show what the page wrote to the console, and its errors",
			flags: func(f *pflag.FlagSet, g *Given) {
				f.StringVar(&g.level, "level", "", "debug, info, warning or error")
				f.IntVar(&g.limit, "limit", 30, "so many lines, the newest")
			},
			steps: consoleSteps,
		},
		{
			Name: "network", Usage: "[ID]", Short: "Show the requests of the page, or one of them",
			flags: func(f *pflag.FlagSet, g *Given) {
				f.BoolVar(&g.failed, "failed", false, "only what failed or was refused")
				f.StringVar(&g.url, "url", "", "part of the address")
				f.IntVar(&g.limit, "limit", 30, "so many requests, the newest")
			},
			steps: networkSteps,
		},
	}
}

func tokenFlags(f *pflag.FlagSet, g *Given) {
	f.IntVar(&g.tokens, "max-tokens", 0, "at most so many tokens")
	f.IntVar(&g.offset, "offset", 0, "go on where an answer was cut")
}

// inside reads the ref of a part of the page.
func inside(words []string) (string, error) {
	if len(words) == 0 {
		return "", nil
	}
	if err := none(words[1:]); err != nil {
		return "", err
	}
	t, err := readTarget(words[0], false)
	if err != nil || t.ref == "" {
		return "", wrong("%q is no ref, such as e12", words[0])
	}
	return t.ref, nil
}

func snapshotSteps(g *Given, words []string) ([]Step, error) {
	ref, err := inside(words)
	if err != nil {
		return nil, err
	}
	args := map[string]any{}
	put(args, "ref", ref)
	put(args, "interactive_only", g.interactive)
	put(args, "max_tokens", g.tokens)
	put(args, "offset", g.offset)
	return []Step{{Tool: "snapshot", Arguments: args, Changed: g.changed}}, nil
}

func findSteps(g *Given, words []string) ([]Step, error) {
	if len(words) == 0 {
		return nil, wrong("say what to find")
	}
	args := map[string]any{"find": strings.Join(words, " ")}
	put(args, "max_tokens", g.tokens)
	return []Step{{Tool: "snapshot", Arguments: args}}, nil
}

func readSteps(g *Given, words []string) ([]Step, error) {
	ref, err := inside(words)
	if err != nil {
		return nil, err
	}
	args := map[string]any{}
	put(args, "ref", ref)
	put(args, "format", g.format)
	put(args, "max_tokens", g.tokens)
	put(args, "offset", g.offset)
	return []Step{{Tool: "read", Arguments: args}}, nil
}

func getSteps(g *Given, words []string) ([]Step, error) {
	if len(words) == 0 {
		return nil, wrong("say what to get")
	}
	what, rest := words[0], words[1:]
	if what == "url" || what == "title" {
		return []Step{{Tool: "page.info", Show: member(what)}}, none(rest)
	}
	if what == "attribute" && g.attribute == "" && len(rest) > 0 {
		g.attribute = rest[0]
		rest = rest[1:]
	}
	t, err := g.only(rest, what == "value")
	if err != nil {
		return nil, err
	}
	args := map[string]any{"locator": t.asLocator()}
	show := map[string]func(map[string]any) string{
		"text": element("text"), "value": element("value"), "attribute": element("attributes", g.attribute),
		"box": element("bounding_box"), "count": member("count"),
	}[what]
	if show == nil {
		return nil, wrong("%q is none of text, value, attribute, count, box, url and title", what)
	}
	if what == "attribute" {
		args["attributes"] = []string{g.attribute}
	}
	s := Step{Tool: "locator.read", Arguments: args, Show: show, Field: t.words}
	s.one = what != "count"
	return []Step{s}, nil
}

// member prints a member of a result.
func member(name string) func(map[string]any) string {
	return func(result map[string]any) string { return plainly(result[name]) }
}

// element prints a member of the first element of a result.
func element(path ...string) func(map[string]any) string {
	return func(result map[string]any) string {
		list, _ := result["elements"].([]any)
		if len(list) == 0 {
			return ""
		}
		at := list[0]
		for _, name := range path {
			members, _ := at.(map[string]any)
			at = members[name]
		}
		return plainly(at)
	}
}

// plainly is a value as a shell wants it: a text as it is, anything else as JSON, nothing for null.
func plainly(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(encoded)
}

func waitSteps(g *Given, words []string) ([]Step, error) {
	args := map[string]any{}
	put(args, "text", strings.Join(words, " "))
	put(args, "text_gone", g.text)
	put(args, "selector", g.selector)
	put(args, "url", g.url)
	put(args, "network_idle", g.idle)
	return []Step{{Tool: "wait", Arguments: args}}, nil
}

func evalSteps(_ *Given, words []string) ([]Step, error) {
	body := strings.TrimSpace(strings.Join(words, " "))
	if body == "" {
		return nil, wrong("give an expression")
	}
	if !strings.Contains(body, "return ") {
		body = "return (" + strings.TrimSuffix(body, ";") + "\n)"
	}
	return []Step{{Tool: "page.evaluate", Arguments: map[string]any{"body": body}, Show: evaluated}}, nil
}

// evaluated prints the value of a script, or what stands for one that JSON cannot hold.
func evaluated(result map[string]any) string {
	if value, ok := result["value"]; ok {
		if value == nil {
			return "null"
		}
		return plainly(value)
	}
	if text, ok := result["description"].(string); ok {
		return text
	}
	return plainly(result["type"])
}

func screenshotSteps(g *Given, words []string) ([]Step, error) {
	if len(words) == 0 {
		return nil, wrong("name the file")
	}
	ref, err := inside(words[1:])
	if err != nil {
		return nil, err
	}
	args := map[string]any{}
	put(args, "ref", ref)
	put(args, "full_page", g.full)
	if strings.EqualFold(filepath.Ext(words[0]), ".png") {
		args["format"] = "png"
	}
	return []Step{{Tool: "screenshot", Arguments: args, Save: words[0]}}, nil
}

func pdfSteps(_ *Given, words []string) ([]Step, error) {
	if len(words) != 1 {
		return nil, wrong("name the file")
	}
	return []Step{{Tool: "page.pdf", Save: words[0]}}, nil
}

func consoleSteps(g *Given, words []string) ([]Step, error) {
	args := map[string]any{"limit": g.limit}
	if g.level != "" {
		args["levels"] = []string{g.level}
	}
	return []Step{{Tool: "console.list", Arguments: args, Show: consoleLines}}, none(words)
}

// consoleLines are the entries of a console, one a line.
func consoleLines(result map[string]any) string {
	return entryLines(result, func(e map[string]any) string {
		line := fmt.Sprintf("%s: %s", plainly(e["level"]), plainly(e["text"]))
		if at := plainly(e["url"]); at != "" {
			line += " (" + at + ":" + plainly(e["line"]) + ")"
		}
		return line
	})
}

// entryLines are the entries of a list, one a line, and how many were left out.
func entryLines(result map[string]any, line func(map[string]any) string) string {
	list, _ := result["entries"].([]any)
	var lines []string
	for _, one := range list {
		if e, ok := one.(map[string]any); ok {
			lines = append(lines, strings.ReplaceAll(line(e), "\n", " "))
		}
	}
	if left := plainly(result["omitted"]); left != "" && left != "0" {
		lines = append(lines, left+" older ones are left out; --limit shows more")
	}
	if len(lines) == 0 {
		return "nothing"
	}
	return strings.Join(lines, "\n")
}

func networkSteps(g *Given, words []string) ([]Step, error) {
	if len(words) > 0 {
		args := map[string]any{"id": words[0], "body": true}
		return []Step{{Tool: "network.get", Arguments: args, Show: whole}}, none(words[1:])
	}
	args := map[string]any{"limit": g.limit}
	put(args, "url_contains", g.url)
	if g.failed {
		args["states"] = []string{"failed"}
	}
	steps := []Step{{Tool: "network.list", Arguments: args, Show: requestLines}}
	if g.failed {
		refused := map[string]any{"limit": g.limit, "min_status": 400}
		put(refused, "url_contains", g.url)
		steps = append(steps, Step{Tool: "network.list", Arguments: refused, Show: requestLines})
	}
	return steps, nil
}

// requestLines are requests, one a line.
func requestLines(result map[string]any) string {
	return entryLines(result, func(e map[string]any) string {
		status := plainly(e["status"])
		if status == "0" {
			status = plainly(e["state"])
		}
		return fmt.Sprintf("%s %s %s %s %s", plainly(e["id"]), plainly(e["method"]), plainly(e["url"]), status,
			plainly(e["type"]))
	})
}

// whole prints a result as JSON.
func whole(result map[string]any) string {
	encoded, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return fmt.Sprint(result)
	}
	return string(encoded)
}
