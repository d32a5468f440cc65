package jcode

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/outrider-run/outrider/faces/provider"
)

// actions are the actions of the bridge CLI, each written in methods of the
// provider protocol. An action whose name has a dot is such a method itself.
var actions = map[string]func(*client, map[string]any) (map[string]any, error){
	"navigate":         actNavigate,
	"newSession":       actNewTab,
	"setActiveTab":     actActivate,
	"getActiveTab":     actActiveTab,
	"listTabs":         actListTabs,
	"listFrames":       actListFrames,
	"getContent":       actContent,
	"getInteractables": actInteractables,
	"click":            actClick,
	"type":             actType,
	"fillForm":         actFillForm,
	"waitFor":          actWait,
	"screenshot":       actScreenshot,
	"evaluate":         actEvaluate,
	"scroll":           actScroll,
	"uploadFile":       actUpload,
}

// act runs one action.
func (c *client) act(_ context.Context, action string, params map[string]any) (map[string]any, error) {
	if run, ok := actions[action]; ok {
		if frame, ok := params["frameId"].(float64); ok && frame != 0 {
			return nil, errors.New(
				"unsupported_target: frames are not named by number here; selectors of a snapshot reach into them",
			)
		}
		return run(c, params)
	}
	if _, ok := params["session_id"]; ok || strings.HasPrefix(action, "provider.") || action == "session.ensure" {
		out, failure, err := c.call(action, params)
		if failure != nil {
			return nil, inWords(failure)
		}
		return out, err
	}
	return c.do(action, params)
}

// Tabs and windows are numbers for jcode. The ids of our own provider end in
// one; there is one window.
const theWindow = 1

func tabNumber(id any) int {
	s, _ := id.(string)
	_, digits, _ := strings.Cut(s, "_")
	n, _ := strconv.Atoi(digits)
	return n
}

// onTab adds the page that an action names.
func onTab(params, out map[string]any) map[string]any {
	if n, ok := params["tabId"].(float64); ok {
		out["page_id"] = "page_" + strconv.Itoa(int(n))
	}
	return out
}

// refSelector is how jcode names an element of a snapshot, which knows
// selectors and no refs.
var refSelector = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[ref="?((?:f[1-9][0-9]*)?e[1-9][0-9]*)"?\]`)
})

func selectorOf(ref any) string { return fmt.Sprintf("[ref=%v]", ref) }

// target adds the element that an action names.
func target(params, out map[string]any) map[string]any {
	selector, _ := params["selector"].(string)
	if m := refSelector().FindStringSubmatch(selector); m != nil && m[0] == strings.TrimSpace(selector) {
		out["element_ref"] = m[1]
	} else if selector != "" {
		out["selector"] = selector
	}
	return onTab(params, out)
}

func milliseconds(params, out map[string]any, names ...string) map[string]any {
	for _, name := range names {
		if v, ok := params[name].(float64); ok && v > 0 {
			out["timeout_ms"] = v
		}
	}
	return out
}

// pageOf is the part of an answer that describes a page.
func pageOf(out map[string]any) map[string]any {
	return map[string]any{
		"tabId":    tabNumber(out["page_id"]),
		"windowId": theWindow,
		"url":      out["url"],
		"title":    out["title"],
	}
}

// withContent adds the page's content; that it cannot be read is no failure of
// the navigation.
func (c *client) withContent(opened map[string]any) map[string]any {
	answer := pageOf(opened)
	content, err := actContent(c, map[string]any{"format": "annotated", "tabId": float64(tabNumber(opened["page_id"]))})
	if err != nil {
		answer["contentError"] = err.Error()
	} else {
		answer["content"] = content
	}
	return answer
}

func actNavigate(c *client, p map[string]any) (map[string]any, error) {
	params := map[string]any{"url": p["url"]}
	if p["newTab"] == true {
		params["new_page"] = true
	} else {
		onTab(p, params)
	}
	opened, err := c.do("page.open", milliseconds(p, params, "timeoutMs"))
	if err != nil {
		return nil, err
	}
	return c.withContent(opened), nil
}

func actNewTab(c *client, p map[string]any) (map[string]any, error) {
	params := milliseconds(p, map[string]any{}, "timeoutMs")
	if url, ok := p["url"].(string); ok && url != "" {
		params["url"] = url
	}
	opened, err := c.do("tab.new", params)
	if err != nil {
		return nil, err
	}
	answer := c.withContent(opened)
	answer["sandbox"] = true
	return answer, nil
}

// tabs lists the session's tabs.
func (c *client) tabs() ([]map[string]any, map[string]any, error) {
	out, err := c.do("tab.list", nil)
	if err != nil {
		return nil, nil, err
	}
	list, _ := out["tabs"].([]any)
	var tabs []map[string]any
	var active map[string]any
	for i, entry := range list {
		t, _ := entry.(map[string]any)
		tab := map[string]any{
			"tabId":  tabNumber(t["page_id"]),
			"url":    t["url"],
			"title":  t["title"],
			"active": t["active"],
			"index":  i,
		}
		tabs = append(tabs, tab)
		if t["active"] == true {
			active = tab
		}
	}
	return tabs, active, nil
}

func actActivate(c *client, p map[string]any) (map[string]any, error) {
	n, ok := p["tabId"].(float64)
	if !ok {
		return nil, errors.New("invalid_request: tabId is missing")
	}
	if _, err := c.do("tab.activate", map[string]any{"tab_id": "tab_" + strconv.Itoa(int(n))}); err != nil {
		return nil, err
	}
	return actActiveTab(c, p)
}

func actActiveTab(c *client, _ map[string]any) (map[string]any, error) {
	_, active, err := c.tabs()
	if err != nil {
		return nil, err
	}
	if active == nil {
		return nil, errors.New("page_not_found: the session has no active tab")
	}
	return map[string]any{
		"tabId":    active["tabId"],
		"windowId": theWindow,
		"url":      active["url"],
		"title":    active["title"],
	}, nil
}

func actListTabs(c *client, _ map[string]any) (map[string]any, error) {
	tabs, active, err := c.tabs()
	if err != nil {
		return nil, err
	}
	answer := map[string]any{
		"windows":   []any{map[string]any{"windowId": theWindow, "focused": true, "tabs": tabs}},
		"totalTabs": len(tabs),
	}
	if active != nil {
		answer["activeTabId"] = active["tabId"]
	}
	return answer, nil
}

// snapshot reads a page.
func (c *client) snapshot(p map[string]any, text bool) (out map[string]any, nodes []map[string]any, err error) {
	out, err = c.do("page.snapshot", onTab(p, map[string]any{"include_text": text, "max_nodes": 3000}))
	if err != nil {
		return nil, nil, err
	}
	tree, _ := out["snapshot"].(map[string]any)
	list, _ := tree["nodes"].([]any)
	for _, entry := range list {
		if n, ok := entry.(map[string]any); ok {
			nodes = append(nodes, n)
		}
	}
	return out, nodes, nil
}

// actListFrames numbers the frames in document order; 0 is the page itself.
func actListFrames(c *client, p map[string]any) (map[string]any, error) {
	out, nodes, err := c.snapshot(p, false)
	if err != nil {
		return nil, err
	}
	frames := []map[string]any{
		{"frameId": 0, "parentFrameId": -1, "url": out["url"], "title": out["title"], "hasContent": len(nodes) > 0},
	}
	for _, n := range nodes {
		if n["role"] != "iframe" && n["role"] != "Iframe" {
			continue
		}
		state, _ := n["state"].(map[string]any)
		children, _ := n["children"].([]any)
		frames = append(frames, map[string]any{
			"frameId":       len(frames),
			"parentFrameId": 0,
			"url":           state["url"],
			"title":         n["name"],
			"hasContent":    len(children) > 0,
		})
	}
	return map[string]any{"tabId": tabNumber(out["page_id"]), "frames": frames}, nil
}

func actContent(c *client, p map[string]any) (map[string]any, error) {
	format, _ := p["format"].(string)
	switch format {
	case "html":
		out, err := c.do("page.eval", onTab(p, map[string]any{"expression": "document.documentElement.outerHTML"}))
		if err != nil {
			return nil, err
		}
		return map[string]any{"html": out["value"], "url": out["url"]}, nil
	case "text", "textFast", "title":
		out, _, err := c.snapshot(p, format != "title")
		if err != nil {
			return nil, err
		}
		answer := map[string]any{"url": out["url"], "title": out["title"]}
		if format != "title" {
			answer["text"] = out["text"]
		}
		return answer, nil
	}
	out, nodes, err := c.snapshot(p, false)
	if err != nil {
		return nil, err
	}
	return map[string]any{"content": annotated(nodes), "url": out["url"], "title": out["title"]}, nil
}

// annotated writes a page as lines of text with one line in brackets for each
// control, which has the selector to name it by.
func annotated(nodes []map[string]any) string {
	var b strings.Builder
	last := ""
	for _, n := range nodes {
		line, _ := n["text"].(string)
		if n["actionable"] == true {
			line = annotation(n)
		}
		if line != "" && line != last {
			b.WriteString(line + "\n")
		}
		last = line
	}
	return b.String()
}

func annotation(n map[string]any) string {
	role, _ := n["role"].(string)
	name, _ := n["name"].(string)
	if name == "" {
		name, _ = n["text"].(string)
	}
	line := "[" + role + " " + strconv.Quote(name)
	state, _ := n["state"].(map[string]any)
	for _, member := range []struct{ as, of string }{{"href", "url"}, {"value", "value"}} {
		if v, ok := state[member.of].(string); ok {
			line += " " + member.as + "=" + strconv.Quote(v)
		}
	}
	for _, flag := range []string{"checked", "selected", "disabled", "expanded"} {
		if v, ok := state[flag]; ok && v != false {
			line += " " + flag
		}
	}
	return line + " selector=" + strconv.Quote(selectorOf(n["element_ref"])) + "]"
}

// tags are the tags that jcode expects for roles.
var tags = map[string]string{
	"link":       "a",
	"button":     "button",
	"textbox":    "input",
	"searchbox":  "input",
	"combobox":   "select",
	"listbox":    "select",
	"checkbox":   "input",
	"radio":      "input",
	"slider":     "input",
	"spinbutton": "input",
	"switch":     "input",
	"option":     "option",
}

func actInteractables(c *client, p map[string]any) (map[string]any, error) {
	out, _, err := c.snapshot(p, false)
	if err != nil {
		return nil, err
	}
	list, _ := out["elements"].([]any)
	elements := []map[string]any{}
	for _, entry := range list {
		e, _ := entry.(map[string]any)
		role, _ := e["role"].(string)
		tag, known := tags[role]
		if !known {
			tag = role
		}
		one := map[string]any{
			"type":     "clickable",
			"tag":      tag,
			"role":     role,
			"selector": selectorOf(e["element_ref"]),
			"text":     e["text"],
			"enabled":  e["enabled"],
		}
		if tag == "input" || tag == "select" {
			state, _ := e["state"].(map[string]any)
			one["type"] = "input"
			one["label"] = e["name"]
			one["name"] = e["name"]
			if kind, ok := state["type"]; ok {
				one["inputType"] = kind
			} else if role == "checkbox" || role == "radio" {
				one["inputType"] = role
			}
			for _, member := range []string{"value", "checked"} {
				if v, ok := state[member]; ok {
					one[member] = v
				}
			}
		}
		elements = append(elements, one)
	}
	return map[string]any{"url": out["url"], "title": out["title"], "elements": elements}, nil
}

func actClick(c *client, p map[string]any) (map[string]any, error) {
	params := target(p, milliseconds(p, map[string]any{}, "timeoutMs", "timeout"))
	if text, ok := p["text"].(string); ok && text != "" {
		params["text_query"] = text
	}
	x, hasX := p["x"].(float64)
	y, hasY := p["y"].(float64)
	if hasX && hasY {
		params["position"] = map[string]any{"x": x, "y": y}
	}
	out, err := c.do("page.click", params)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"clicked":            out["clicked"],
		"element":            out["element"],
		"tabId":              tabNumber(out["page_id"]),
		"url":                out["url"],
		"navigationOccurred": out["navigation_occurred"],
	}, nil
}

func actType(c *client, p map[string]any) (map[string]any, error) {
	text, _ := p["text"].(string)
	out, err := c.do(
		"page.type",
		target(p, map[string]any{"text": text, "replace": p["clear"] != false, "submit": p["submit"] == true}),
	)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"typed":   out["typed"],
		"element": out["element"],
		"length":  len([]rune(text)),
		"tabId":   tabNumber(out["page_id"]),
		"url":     out["url"],
	}, nil
}

// actFillForm fills each field for what it is. Fields that fail do not keep
// the others from being filled.
func actFillForm(c *client, p map[string]any) (map[string]any, error) {
	fields, _ := p["fields"].([]any)
	if len(fields) == 0 {
		return nil, errors.New("invalid_request: fields is missing")
	}
	results := []map[string]any{}
	filled := 0
	for _, entry := range fields {
		f, _ := entry.(map[string]any)
		if n, ok := p["tabId"]; ok {
			f["tabId"] = n
		}
		result := map[string]any{"selector": f["selector"], "ok": true}
		kind, err := c.fill(f, result)
		result["type"] = kind
		if err != nil {
			result["ok"], result["error"] = false, err.Error()
		} else {
			filled++
		}
		results = append(results, result)
	}
	if filled == 0 && len(results) == 1 {
		return nil, fmt.Errorf("%v", results[0]["error"])
	}
	return map[string]any{
		"filled":  filled,
		"results": results,
		"success": filled == len(results),
		"total":   len(results),
	}, nil
}

// fill fills one field and returns its kind.
func (c *client) fill(f, result map[string]any) (kind string, err error) {
	element := target(f, map[string]any{})
	role, checked, err := c.inspect(element)
	if err != nil {
		return "", err
	}
	if want, ok := f["checked"].(bool); ok {
		if checked != want {
			if _, err := c.do("page.click", element); err != nil {
				return role, err
			}
			_, checked, err = c.inspect(element)
			if err != nil {
				return role, err
			}
		}
		result["checked"] = checked
		if checked != want {
			return role, errors.New("element_not_actionable: the click did not change the control")
		}
		return role, nil
	}
	value := fmt.Sprint(f["value"])
	result["value"] = value
	var notChosen error
	if role == "combobox" || role == "listbox" {
		params := map[string]any{"value": value}
		for k, v := range element {
			params[k] = v
		}
		params["timeout_ms"] = 1
		_, err = c.do("page.select", params)
		if err == nil {
			return "select", nil
		}
		delete(params, "value")
		delete(params, "timeout_ms")
		params["label"] = value
		_, err = c.do("page.select", params)
		if err == nil {
			return "select", nil
		}
		if role == "listbox" || !failedWith(err, provider.ElementNotActionable) {
			return "select", err
		}
		notChosen = err
	}
	element["text"], element["replace"] = value, true
	_, err = c.do("page.type", element)
	if err != nil && notChosen != nil { // a list that is no text box: why it does not have the option says more
		return "select", notChosen
	}
	return role, err
}

// inspect returns what an element is, and whether it is checked.
func (c *client) inspect(element map[string]any) (role string, checked bool, err error) {
	args := map[string]any{"format": "json", "max_nodes": 1}
	if ref, ok := element["element_ref"]; ok {
		args["ref"] = ref
	} else {
		args["locator"] = map[string]any{"selector": element["selector"]}
	}
	params := map[string]any{"name": "page.snapshot", "arguments": args}
	if page, ok := element["page_id"]; ok {
		params["page_id"] = page
	}
	out, err := c.do("primitive.call", params)
	if err != nil {
		return "", false, err
	}
	output, _ := out["output"].(map[string]any)
	value, _ := output["value"].(map[string]any)
	nodes, _ := value["nodes"].([]any)
	if len(nodes) == 0 {
		return "", false, nil
	}
	n, _ := nodes[0].(map[string]any)
	role, _ = n["role"].(string)
	checked, _ = n["checked"].(bool)
	return role, checked, nil
}

func actWait(c *client, p map[string]any) (map[string]any, error) {
	params := milliseconds(p, map[string]any{"timeout_ms": 5000}, "timeoutMs", "timeout")
	what, kind := "", ""
	if selector, ok := p["selector"].(string); ok && selector != "" {
		what, kind = selector, "selector"
		t := target(p, map[string]any{})
		if ref, ok := t["element_ref"]; ok {
			params["element_ref_present"] = ref
		} else {
			params["selector_present"] = selector
		}
	} else {
		for _, name := range []string{"contains", "text"} {
			if text, ok := p[name].(string); ok && text != "" {
				what = text
				kind = name
				params["text_present"] = text
				break
			}
		}
	}
	if kind == "" {
		return nil, errors.New("invalid_request: name a selector, text or contains")
	}
	out, err := c.do("page.wait", onTab(p, params))
	if err != nil {
		return nil, err
	}
	if out["satisfied"] != true {
		return nil, fmt.Errorf("Timeout waiting for: %s", what) //nolint:staticcheck // the words of the bridge CLI
	}
	return map[string]any{"found": true, kind: what, "url": out["url"]}, nil
}

func actScreenshot(c *client, p map[string]any) (map[string]any, error) {
	out, err := c.do("page.screenshot", onTab(p, map[string]any{}))
	if err != nil {
		return nil, err
	}
	encoded, _ := out["image"].(string)
	image, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errors.New("internal_error: the image cannot be read")
	}
	name, _ := p["filename"].(string)
	path, err := saveScreenshot(name, image)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"saved":  path,
		"tabId":  tabNumber(out["page_id"]),
		"width":  out["width"],
		"height": out["height"],
	}, nil
}

// saveScreenshot writes a picture as a new file below the current folder or that of temporary files,
// without a name as a temporary one. A name comes from an agent: it replaces no file and leads
// nowhere else, also not through a link.
func saveScreenshot(name string, image []byte) (string, error) {
	if name == "" {
		f, err := os.CreateTemp("", "outrider-*.png")
		if err != nil {
			return "", err
		}
		return f.Name(), fill(f, image)
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	folder, below := "", ""
	for _, one := range []string{".", os.TempDir()} {
		folder, err = filepath.Abs(one)
		if err != nil {
			return "", err
		}
		below, err = filepath.Rel(folder, path)
		if err == nil && filepath.IsLocal(below) {
			break
		}
		below = ""
	}
	if below == "" {
		return "", errors.New("permission_denied: the filename leads out of the current folder; give a name below it")
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	f, err := root.OpenFile(below, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", errors.New("permission_denied: the file is there already; give another filename")
	}
	if err != nil {
		return "", fmt.Errorf("permission_denied: the image cannot be saved there: %w", err)
	}
	return path, fill(f, image)
}

// fill writes a new file and closes it.
func fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("internal_error: writing the image: %w", err)
	}
	return nil
}

// actEvaluate runs the body of a function. Scripts that jcode itself makes name
// elements by selector: one that a snapshot gave is focused and named so.
func actEvaluate(c *client, p map[string]any) (map[string]any, error) {
	script, _ := p["script"].(string)
	if m := refSelector().FindStringSubmatch(script); m != nil {
		args := map[string]any{"name": "dom.focus", "arguments": map[string]any{"ref": m[1]}}
		if _, err := c.do("primitive.call", onTab(p, args)); err != nil {
			return nil, err
		}
		script = strings.ReplaceAll(script, m[0], ":focus")
	}
	// A script without return is a body all the same, not an expression.
	out, err := c.do("page.eval", onTab(p, map[string]any{"expression": script + "\n;return undefined"}))
	if err != nil {
		return nil, err
	}
	return map[string]any{"result": out["value"], "type": out["type"]}, nil
}

func actScroll(c *client, p map[string]any) (map[string]any, error) {
	params := map[string]any{}
	kind := "by"
	number := func(of map[string]any, name string) float64 { v, _ := of[name].(float64); return v }
	to, absolute := p["scrollTo"].(map[string]any)
	switch position, _ := p["position"].(string); {
	case position != "":
		kind, params["position"] = "position", position
	case absolute:
		at, err := c.do("page.scroll", onTab(p, map[string]any{"x": 0, "y": 0}))
		if err != nil {
			return nil, err
		}
		kind = "absolute"
		params["x"] = number(to, "x") - number(at, "scroll_x")
		params["y"] = number(to, "y") - number(at, "scroll_y")
	default:
		for _, name := range []string{"x", "y"} {
			if v, ok := p[name].(float64); ok {
				params[name] = v
			}
		}
		if p["selector"] != nil {
			target(p, params)
			if params["x"] == nil && params["y"] == nil {
				kind = "element"
			}
		}
	}
	out, err := c.do("page.scroll", onTab(p, params))
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"scrolled": out["scrolled"],
		"type":     kind,
		"scrollX":  out["scroll_x"],
		"scrollY":  out["scroll_y"],
	}, nil
}

func actUpload(c *client, p map[string]any) (map[string]any, error) {
	path, _ := p["filePath"].(string)
	if path == "" {
		return nil, errors.New("invalid_request: filePath is missing")
	}
	if selector, _ := p["selector"].(string); selector == "" {
		p["selector"] = "input[type=file]"
	}
	params := target(p, map[string]any{"paths": []string{path}})
	out, err := c.do("upload.set_files", params)
	if failedWith(err, provider.UnsupportedMethod) {
		return nil, errors.New(
			"permission_denied: no folder was declared for uploads; run: outrider jcode install -- --upload-dir DIR",
		)
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"uploaded":      true,
		"count":         out["count"],
		"files":         out["files"],
		"inputSelector": p["selector"],
	}, nil
}
