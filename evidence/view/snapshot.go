package view

import (
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/lazyregexp"
)

// drawing writes a snapshot as HTML that does nothing: no script, no handler, no address outside.
type drawing struct {
	out    strings.Builder
	base   *url.URL
	frames func(i int) string // address of the snapshot of an iframe, "" for none
	marked []int              // path of the target
}

const (
	mostDepth = 2000
	// outline marks the target.
	outline = "outline:3px solid #d9480f !important;outline-offset:2px !important;"
)

var (
	elementName   = lazyregexp.New(`^[a-z][a-z0-9._-]*$`)
	attributeName = lazyregexp.New(`^[a-zA-Z_][a-zA-Z0-9_.:-]*$`)
	addressInCSS  = lazyregexp.New(`(?i)url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]*))\s*\)`)
	tagInCSS      = lazyregexp.New(`<([a-zA-Z/!?])`)
	importInCSS   = lazyregexp.New(`(?i)@import\s+(?:"([^"]*)"|'([^']*)')`)
)

// unshown are elements that would load or run something.
var unshown = map[string]bool{
	"script": true, "noscript": true, "object": true, "embed": true,
	"applet": true, "base": true, "portal": true, "fencedframe": true,
}

// childless elements have no end tag.
var childless = map[string]bool{
	"area": true, "br": true, "col": true, "hr": true, "img": true, "input": true,
	"link": true, "meta": true, "source": true, "track": true, "wbr": true,
}

// unshownAttributes change what is loaded, or lead away.
var unshownAttributes = map[string]bool{
	"srcset": true, "srcdoc": true, "integrity": true, "nonce": true, "crossorigin": true,
	"ping": true, "autofocus": true, "autoplay": true, "formaction": true,
	"action": true, "target": true, "download": true, "http-equiv": true, "is": true,
	"sandbox": true, "allow": true, "data": true, "background": true, "imagesrcset": true,
}

// draw writes a snapshot.
func draw(raw []byte, s record.Snapshot, target *record.Target, frames func(i int) string) ([]byte, error) {
	var root any
	if err := json.Unmarshal(raw, &root); err != nil {
		return nil, err
	}
	d := &drawing{frames: frames}
	d.base, _ = url.Parse(baseOf(root, s.URL))
	if target != nil && (target.Frame == s.Frame || target.Frame == "" && s.Main) {
		d.marked = target.Path
	}
	if s.Doctype != "" {
		d.out.WriteString("<!doctype html>")
	}
	d.node(root, d.marked, d.marked != nil, 0)
	return []byte(d.out.String()), nil
}

// baseOf is what addresses of a document are relative to.
func baseOf(root any, address string) string {
	html, _ := root.([]any)
	for _, child := range after(html, 2) {
		head, _ := child.([]any)
		for _, inner := range after(head, 2) {
			if node, ok := inner.([]any); ok && len(node) > 1 && node[0] == "BASE" {
				if attributes, ok := node[1].(map[string]any); ok {
					if href, ok := attributes["href"].(string); ok {
						return href
					}
				}
			}
		}
	}
	return address
}

func after(list []any, n int) []any {
	if len(list) < n {
		return nil
	}
	return list[n:]
}

// node writes a node; on is whether the path to the target leads through it.
func (d *drawing) node(v any, path []int, on bool, depth int) {
	if text, ok := v.(string); ok {
		d.out.WriteString(html.EscapeString(text))
		return
	}
	list, ok := v.([]any)
	if !ok || len(list) < 2 || depth > mostDepth {
		return
	}
	name, _ := list[0].(string)
	name = strings.ToLower(name)
	attributes, _ := list[1].(map[string]any)
	if unshown[name] || !elementName().MatchString(name) {
		return
	}
	if name == "template" {
		d.template(list, attributes, path, on, depth)
		return
	}
	if name == "style" {
		d.style(text(after(list, 2)))
		return
	}
	if name == "meta" && attributes["http-equiv"] != nil {
		return
	}
	d.out.WriteString("<" + name)
	d.attributes(name, attributes, on && len(path) == 0)
	d.out.WriteString(">")
	if childless[name] {
		return
	}
	if value, ok := attributes["__playwright_value_"].(string); ok && name == "textarea" {
		d.out.WriteString(html.EscapeString(value))
	}
	d.children(list, path, on, depth)
	d.out.WriteString("</" + name + ">")
}

func (d *drawing) children(list []any, path []int, on bool, depth int) {
	for i, child := range after(list, 2) {
		if on && len(path) > 0 && path[0] == i {
			d.node(child, path[1:], true, depth+1)
		} else {
			d.node(child, nil, false, depth+1)
		}
	}
}

// template writes a shadow root or a stylesheet that script adopted.
func (d *drawing) template(list []any, attributes map[string]any, path []int, on bool, depth int) {
	if css, ok := attributes["__playwright_style_sheet_"].(string); ok {
		d.style(css)
		return
	}
	if attributes["__playwright_shadow_root_"] == nil {
		return
	}
	d.out.WriteString(`<template shadowrootmode="open">`)
	d.children(list, path, on, depth)
	d.out.WriteString("</template>")
}

func (d *drawing) style(css string) {
	css = d.css(css)
	d.out.WriteString("<style>" + tagInCSS().ReplaceAllString(css, `\3c $1`) + "</style>")
}

// text joins the texts among nodes.
func text(nodes []any) string {
	var b strings.Builder
	for _, n := range nodes {
		if s, ok := n.(string); ok {
			b.WriteString(s)
		}
	}
	return b.String()
}

func (d *drawing) attributes(element string, all map[string]any, marked bool) {
	put := func(name, value string) {
		d.out.WriteString(" " + name + `="` + html.EscapeString(value) + `"`)
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	style := ""
	for _, name := range names {
		value, _ := all[name].(string)
		lower := strings.ToLower(name)
		switch {
		case strings.HasPrefix(name, "__"):
			style += d.shown(element, name, value, put)
		case !attributeName().MatchString(name) || strings.HasPrefix(lower, "on") || unshownAttributes[lower]:
		case lower == "style":
			style = d.css(value) + ";" + style
		case lower == "href" && element == "link":
			if rel, _ := all["rel"].(string); strings.Contains(strings.ToLower(rel), "stylesheet") {
				put("href", d.address(value))
			}
		case (lower == "href" || lower == "xlink:href") && strings.HasPrefix(value, "#"):
			put(name, value) // a part of the same drawing
		case (lower == "href" || lower == "xlink:href") && (element == "a" || element == "area"):
			if u, err := url.Parse(value); err == nil && (u.Scheme == "" || u.Scheme == "http" || u.Scheme == "https") {
				put("data-href", value) // to read
			}
			if element == "a" { // it stays a link to look at
				put("href", "#")
			}
		case lower == "src" && (element == "iframe" || element == "frame"):
		case lower == "src" || lower == "href" || lower == "xlink:href" || lower == "poster":
			if _, current := all["__playwright_current_src__"]; !current {
				put(name, d.address(value))
			}
		case lower == "value" && all["__playwright_value_"] != nil, lower == "checked" &&
			all["__playwright_checked_"] != nil, lower == "selected" && all["__playwright_selected_"] != nil:
		default:
			put(name, value)
		}
	}
	if marked {
		style += ";" + outline
	}
	if style != "" {
		put("style", style)
	}
}

// shown writes what an attribute of a recording says that markup does not, and returns a style.
func (d *drawing) shown(element, name, value string, put func(name, value string)) (style string) {
	switch name {
	case "__playwright_value_":
		if element == "input" {
			put("value", value)
		}
	case "__playwright_checked_":
		if value == "true" {
			put("checked", "")
		}
	case "__playwright_selected_":
		if value == "true" {
			put("selected", "")
		}
	case "__playwright_current_src__":
		put("src", d.address(value))
	case "__playwright_scroll_top_":
		if y, err := strconv.ParseFloat(value, 64); err == nil && element == "html" && y > 0 {
			return ";position:relative !important;top:-" + strconv.FormatFloat(y, 'f', 0, 64) + "px !important;"
		}
	case "__outrider_frame__":
		if i, err := strconv.Atoi(value); err == nil {
			if address := d.frames(i); address != "" {
				put("src", address)
				put("sandbox", "")
			}
		}
	}
	return ""
}

// address is where the view serves what a page had from an address.
func (d *drawing) address(value string) string {
	return served(d.base, value)
}

func served(base *url.URL, value string) string {
	value = strings.TrimSpace(value)
	if len(value) > 5 && strings.EqualFold(value[:5], "data:") {
		return value
	}
	u, err := url.Parse(value)
	if err != nil {
		return "about:blank"
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "file" {
		return "about:blank"
	}
	return getPath + url.QueryEscape(withoutFragment(u.String()))
}

// getPath is relative to every document of the view, which are all one folder deep.
const getPath = "../get?url="

// css has what a stylesheet loads come from the view.
func (d *drawing) css(text string) string { return servedCSS(d.base, text) }

func servedCSS(base *url.URL, text string) string {
	text = importInCSS().ReplaceAllStringFunc(text, func(whole string) string {
		m := importInCSS().FindStringSubmatch(whole)
		return `@import "` + served(base, m[1]+m[2]) + `"`
	})
	return addressInCSS().ReplaceAllStringFunc(text, func(whole string) string {
		m := addressInCSS().FindStringSubmatch(whole)
		address := m[1] + m[2] + m[3]
		if address == "" || strings.HasPrefix(address, "#") || strings.HasPrefix(address, getPath) {
			return whole
		}
		return `url("` + strings.ReplaceAll(served(base, address), `"`, "%22") + `")`
	})
}
