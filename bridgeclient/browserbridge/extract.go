package browserbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/outrider-run/outrider/runtime"
)

// extracted is the result of extract.
type extracted struct {
	Text     string    `json:"text"`
	Markdown string    `json:"markdown"`
	Elements []Element `json:"elements"`
	Obstacle *Obstacle `json:"obstacle,omitempty"`
}

// interactive are the roles that are listed; generic ones only with a name.
var interactive = []string{
	"button", "link", "textbox", "searchbox", "combobox", "listbox",
	"option", "checkbox", "radio", "switch", "slider", "spinbutton",
	"menuitem", "menuitemcheckbox", "menuitemradio", "tab", "treeitem", "generic",
}

// row is an element as page.extract gives it.
type row struct {
	Ref     string          `json:"ref"`
	Role    string          `json:"role"`
	Name    string          `json:"name"`
	Text    string          `json:"text"`
	Value   string          `json:"value"`
	Checked json.RawMessage `json:"checked"`
	Type    string          `json:"type"`
	Visible bool            `json:"visible"`
}

func (e *engine) extract(ctx context.Context, a action, tab runtime.TabStatus) (any, *Error) {
	args := map[string]any{
		"formats": []string{"text", "markdown", "elements"}, "max_bytes": maxText, "frames": false,
		"max_elements": 5 * maxElements, // some of them are not listed here
	}
	if a.selector != "" {
		args["locator"] = map[string]any{"selector": a.selector}
	}
	var page struct {
		URL, Title, Text, Markdown string
		Elements                   []row
	}
	if err := e.do(ctx, tab, "page.extract", args, &page); err != nil {
		return nil, translate(err)
	}
	elements, uids := list(page.Elements)
	e.mu.Lock()
	e.uids[tab.TabID] = uids
	e.mu.Unlock()
	out := extracted{Text: cut(page.Text, maxText), Markdown: cut(page.Markdown, maxMarkdown), Elements: elements}
	if a.selector == "" { // a part of a page is no page: it would look empty
		out.Obstacle = DetectObstacle(Sighting{
			URL:          page.URL,
			Title:        page.Title,
			Markdown:     page.Markdown,
			Elements:     elements,
			CaptchaFrame: e.captchaFrame(ctx, tab),
		})
	}
	return out, nil
}

// list numbers the elements in document order.
func list(rows []row) ([]Element, map[string]string) {
	elements, uids := []Element{}, map[string]string{}
	for _, r := range rows {
		if r.Role == "input" { // a date, a time, a colour
			r.Role = "textbox"
		}
		if r.Role == "generic" && r.Name == "" {
			r.Name = r.Text
		}
		if r.Ref == "" || !slices.Contains(interactive, r.Role) || r.Role == "generic" && r.Name == "" {
			continue
		}
		if len(elements) == maxElements {
			break
		}
		uid := "e" + strconv.Itoa(len(elements))
		uids[uid] = r.Ref
		value := r.Value
		if len(r.Checked) > 0 {
			value = strings.Trim(string(r.Checked), `"`)
		}
		if r.Type == "password" {
			value = "" // also its length is nobody's business
		}
		elements = append(elements, Element{UID: uid, Role: r.Role, Name: r.Name, Value: value, Visible: r.Visible})
	}
	return elements, uids
}

// captchaFrame reports whether a challenge of a known CAPTCHA service is shown.
func (e *engine) captchaFrame(ctx context.Context, tab runtime.TabStatus) bool {
	var seen struct {
		Matches []struct {
			Visible    bool
			Attributes map[string]*string
		}
	}
	args := map[string]any{
		"selector":          "iframe[src]",
		"attributes":        []string{"src"},
		"max_matches":       200,
		"max_payload_bytes": 256000,
	}
	if err := e.do(ctx, tab, "dom.observe.attributes", args, &seen); err != nil {
		return false // rather miss one
	}
	for _, m := range seen.Matches {
		if src := m.Attributes["src"]; m.Visible && src != nil && challengeFrame(*src) {
			return true
		}
	}
	return false
}

// challengeFrame reports whether the address is that of a frame in which somebody is
// asked to prove something. The badge of the invisible reCAPTCHA asks nobody, and
// is on countless ordinary pages.
func challengeFrame(src string) bool {
	u, err := url.Parse(src)
	if err != nil {
		return false
	}
	host, path := strings.ToLower(u.Hostname()), strings.ToLower(u.Path)
	switch {
	case under(host, "challenges.cloudflare.com"), under(host, "hcaptcha.com"):
		return u.Query().Get("size") != "invisible" && !strings.Contains(strings.ToLower(u.Fragment), "size=invisible")
	case under(host, "recaptcha.net"), under(host, "google.com"), under(host, "gstatic.com"):
		if !strings.HasPrefix(path, "/recaptcha/") {
			return false
		}
		return strings.Contains(path, "/bframe") ||
			strings.Contains(path, "/anchor") && u.Query().Get("size") != "invisible"
	}
	return false
}

// evaluate runs a script and shapes what it returned.
func (e *engine) evaluate(ctx context.Context, a action, tab runtime.TabStatus) (any, *Error) {
	var out struct {
		Type        string          `json:"type"`
		Value       json.RawMessage `json:"value"`
		Description string          `json:"description"`
	}
	err := e.do(
		ctx, tab, "page.evaluate",
		map[string]any{
			"body":         a.script,
			"dialogs":      "answer",
			"timeout_ms":   evaluateLimit.Milliseconds(),
			"user_gesture": true, // as the extension's own command has it
		}, &out,
	)
	if err != nil {
		if exception, ok := err.Evidence["exception"].(string); ok {
			return nil, invalidAction("%s", exception)
		}
		return nil, translate(err)
	}
	return shape(out.Type, out.Value, out.Description), nil
}

// shape is one of the three forms of a value.
func shape(kind string, value json.RawMessage, description string) map[string]any {
	value = plain(value)
	switch {
	case len(value) > maxValue:
		s := string(value)
		kept := cut(s, maxValue)
		return map[string]any{
			"type":      kind,
			"truncated": true,
			"preview":   kept + fmt.Sprintf("…[truncated %d chars]", len([]rune(s[len(kept):]))),
		}
	case len(value) > 0:
		return map[string]any{"type": kind, "value": value}
	case description != "":
		return map[string]any{"type": kind, "description": cut(description, maxValue)}
	}
	return map[string]any{"type": kind}
}

// plain is JSON with the characters that the browser escapes without need, so
// that its length is that of the text.
func plain(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			out = append(out, raw[i])
			continue
		}
		r, n := escaped(raw[i:])
		if n == 0 || r < ' ' || r == '"' || r == '\\' {
			out = append(out, raw[i], raw[i+1])
			i++
			continue
		}
		out = utf8.AppendRune(out, r)
		i += n - 1
	}
	return out
}

// escaped reads \uXXXX, or two of them for a character beyond the basic plane;
// 0 for anything else.
func escaped(raw []byte) (rune, int) {
	unit := func(b []byte) (rune, bool) {
		if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
		return rune(n), err == nil
	}
	r, ok := unit(raw)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := unit(raw[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return 0, 0
}
