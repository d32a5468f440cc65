package shell

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/internal/devices"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// others are the verbs that go to pages, and those about the session and the site.
func others() []Verb {
	return []Verb{
		{Name: "open", Usage: "[URL]", Short: "Open an address in the page", steps: openSteps},
		{Name: "back", Short: "Go back", steps: historySteps("back")},
		{Name: "forward", Short: "Go forward", steps: historySteps("forward")},
		{Name: "reload", Short: "Load the page again", steps: historySteps("reload")},
		{
			Name: "tabs", Usage: "[open [URL] | activate PAGE | close PAGE]",
			Short: "List, open, activate and close pages", steps: tabsSteps,
		},
		{
			Name: "cookies", Usage: "[set NAME VALUE | clear]", Short: "List, set and clear cookies",
			steps: cookiesSteps,
		},
		{
			Name:  "emulate",
			Usage: "DEVICE | WIDTHxHEIGHT | offline | online | dark | light | locale TAG | timezone ZONE | reset",
			Short: "Emulate a device such as iPhone 13, a viewport, a network, colours, a place", steps: emulateSteps,
		},
		routeVerb(),
		{Name: "outcome", Usage: "KEY", Short: "Say what became of the act with a --key", steps: outcomeSteps},
		{Name: "actions", Short: "List what the site's map offers", steps: actionsSteps},
		{Name: "action", Usage: "NAME [JSON]", Short: "Do a site action", steps: actionSteps},
		{
			Name: "login", Usage: "save|load NAME",
			Short: "Keep what this session has stored, or take it from a file", steps: loginSteps,
		},
	}
}

// openPage is a step that opens an address in the page, or in a new one where there is none.
const openPage = "open"

func openSteps(_ *Given, words []string) ([]Step, error) {
	if len(words) == 0 {
		return []Step{{Tool: "tabs", Arguments: map[string]any{"action": "list"}, Show: pages}}, nil
	}
	args := map[string]any{"action": "open", "url": Address(words[0])}
	return []Step{{Tool: openPage, Arguments: args, Show: page}}, none(words[1:])
}

// Address is an address as people write it: example.org is https://example.org, localhost:8080 is
// http://localhost:8080.
func Address(text string) string {
	if strings.Contains(text, "://") || strings.HasPrefix(text, "about:") || strings.HasPrefix(text, "data:") {
		return text
	}
	host, _, _ := strings.Cut(text, "/")
	name, _, _ := strings.Cut(host, ":")
	if name == "localhost" || strings.HasPrefix(name, "127.") || strings.HasPrefix(host, "[::1]") {
		return "http://" + text
	}
	return "https://" + text
}

// page is one page on a line: its handle, title, address and what is not as expected.
func page(result map[string]any) string {
	line := plainly(result["page"])
	if title := plainly(result["title"]); title != "" {
		line += " " + strconv.Quote(title)
	}
	line += " " + plainly(result["url"])
	for _, name := range []string{"status", "asked", "says", "dialog", "busy"} {
		if v := plainly(result[name]); v != "" {
			line += "; " + name + " " + v
		}
	}
	for _, name := range []string{"loaded", "moved"} {
		if result[name] == false {
			line += "; not " + name
		}
	}
	if result["closed"] == true {
		return plainly(result["page"]) + " closed"
	}
	if result["active"] == true {
		line += " (active)"
	}
	return line
}

func pages(result map[string]any) string {
	list, _ := result["pages"].([]any)
	var lines []string
	for _, one := range list {
		if p, ok := one.(map[string]any); ok {
			lines = append(lines, page(p))
		}
	}
	if len(lines) == 0 {
		return "no page is open"
	}
	return strings.Join(lines, "\n")
}

func historySteps(action string) func(*Given, []string) ([]Step, error) {
	return func(_ *Given, words []string) ([]Step, error) {
		return []Step{{Tool: "tabs", Arguments: map[string]any{"action": action}, Show: page}}, none(words)
	}
}

func tabsSteps(_ *Given, words []string) ([]Step, error) {
	if len(words) == 0 {
		return []Step{{Tool: "tabs", Arguments: map[string]any{"action": "list"}, Show: pages}}, nil
	}
	args := map[string]any{"action": words[0]}
	rest := words[1:]
	switch words[0] {
	case "open":
		if len(rest) > 0 {
			args["url"] = Address(rest[0])
			rest = rest[1:]
		}
	case "activate", "close":
		if len(rest) > 0 {
			args["page"] = rest[0]
			rest = rest[1:]
		}
	default:
		return nil, wrong("%q is none of open, activate and close", words[0])
	}
	return []Step{{Tool: "tabs", Arguments: args, Show: page}}, none(rest)
}

func cookiesSteps(_ *Given, words []string) ([]Step, error) {
	if len(words) == 0 {
		return []Step{{Tool: "cookie.list", Show: cookieLines}}, nil
	}
	switch {
	case words[0] == "set" && len(words) == 3:
		cookie := map[string]any{"name": words[1], "value": words[2]}
		return []Step{{Tool: "cookie.set", Arguments: map[string]any{"cookies": []any{cookie}}, Show: whole}}, nil
	case words[0] == "clear" && len(words) == 1:
		return []Step{{Tool: "cookie.clear", Show: whole}}, nil
	}
	return nil, wrong("%q is neither set NAME VALUE nor clear", strings.Join(words, " "))
}

// cookieLines names cookies. Their values are shown with --json.
func cookieLines(result map[string]any) string {
	list, _ := result["cookies"].([]any)
	var lines []string
	for _, one := range list {
		if c, ok := one.(map[string]any); ok {
			lines = append(lines, plainly(c["name"])+" "+plainly(c["domain"])+plainly(c["path"]))
		}
	}
	if len(lines) == 0 {
		return "no cookies"
	}
	return strings.Join(lines, "\n")
}

func emulateSteps(_ *Given, words []string) ([]Step, error) {
	if len(words) == 0 {
		return nil, wrong("say what to emulate")
	}
	s := Step{Show: whole}
	rest := words[1:]
	switch words[0] {
	case "offline", "online":
		s.Tool = "emulate.network"
		s.Arguments = map[string]any{"offline": words[0] == "offline"}
	case "dark", "light":
		s.Tool = "emulate.media"
		s.Arguments = map[string]any{"color_scheme": words[0]}
	case "reset":
		s.Tool = "emulate.reset"
	case "locale", "timezone":
		if len(rest) == 0 {
			return nil, wrong("say which %s", words[0])
		}
		s.Tool = "emulate." + words[0]
		s.Arguments = map[string]any{words[0]: rest[0]}
		rest = rest[1:]
	default:
		name := strings.Join(words, " ")
		if d, ok := devices.Named(name); ok {
			return deviceSteps(d), nil
		}
		width, height, ok := strings.Cut(words[0], "x")
		w, errW := strconv.Atoi(width)
		h, errH := strconv.Atoi(height)
		if !ok || errW != nil || errH != nil {
			near := fault.Near(name, devices.Names())
			if len(near) == 0 {
				return nil, wrong("%q is nothing that can be emulated", name)
			}
			return nil, wrong("%q is nothing that can be emulated; the nearest device is %q", name, near[0])
		}
		s.Tool = "emulate.viewport"
		s.Arguments = map[string]any{"width": w, "height": h}
	}
	return []Step{s}, none(rest)
}

// deviceSteps emulate a device.
func deviceSteps(d devices.Device) []Step {
	shown := func(map[string]any) string { return fmt.Sprintf("%s: %dx%d", d.Name, d.Width, d.Height) }
	agent := func(map[string]any) string {
		return "user agent: " + strings.ReplaceAll(d.UserAgent, devices.Version, "...")
	}
	return []Step{
		{Tool: "emulate.viewport", Show: shown, Arguments: map[string]any{
			"width":               d.Width,
			"height":              d.Height,
			"device_scale_factor": d.Scale,
			"mobile":              d.Mobile,
			"touch":               d.Touch,
		}},
		{Tool: "emulate.user_agent", Show: agent, Arguments: map[string]any{"user_agent": d.UserAgent}},
	}
}

func outcomeSteps(_ *Given, words []string) ([]Step, error) {
	if len(words) != 1 {
		return nil, wrong("name the key of the act")
	}
	shown := func(result map[string]any) string { return fmt.Sprintf("%v: %v", result["outcome"], result["reason"]) }
	return []Step{{Tool: "call.outcome", Arguments: map[string]any{"key": words[0]}, Show: shown}}, nil
}

func actionsSteps(_ *Given, words []string) ([]Step, error) {
	return []Step{{Tool: runtime.SiteTool, Arguments: map[string]any{"mode": "list"}}}, none(words)
}

func actionSteps(_ *Given, words []string) ([]Step, error) {
	if len(words) == 0 || len(words) > 2 {
		return nil, wrong("name an action, and its arguments as JSON")
	}
	args := map[string]any{"mode": "call", "action": words[0]}
	if len(words) == 2 {
		var given map[string]any
		if err := json.Unmarshal([]byte(words[1]), &given); err != nil {
			return nil, wrong("the arguments are no JSON object: %v", err)
		}
		args["arguments"] = json.RawMessage(words[1])
	}
	return []Step{{Tool: runtime.SiteTool, Arguments: args}}, nil
}

// loadLogin is a step that no tool does: the session reads a login that was kept.
const loadLogin = "login.load"

func loginSteps(_ *Given, words []string) ([]Step, error) {
	if len(words) != 2 {
		return nil, wrong("say save or load, and a name")
	}
	switch words[0] {
	case "save":
		args := map[string]any{"action": "keep_login", "login": words[1]}
		return []Step{{Tool: "tabs", Arguments: args, Show: whole}}, nil
	case "load":
		return []Step{{Tool: loadLogin, Arguments: map[string]any{"login": words[1]}, Show: whole}}, nil
	}
	return nil, wrong("%q is neither save nor load", words[0])
}
