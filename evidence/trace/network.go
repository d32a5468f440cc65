package trace

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/jsonout"
)

func (e *export) console(ev record.Event, c record.Console) {
	if c.Source == "exception" {
		message, _, _ := strings.Cut(c.Text, "\n")
		e.line(&e.trace, map[string]any{"type": "event", "time": zero +
			ev.T, "class": "BrowserContext", "method": "pageError", "params": map[string]any{
			"pageId":   page(ev.Tab),
			"error":    map[string]any{"error": map[string]any{"name": "Error", "message": message, "stack": c.Text}},
			"location": map[string]any{"url": c.URL, "line": c.Line, "column": c.Column},
		}})
		return
	}
	kind := c.Level
	if kind == "info" {
		kind = "log"
	}
	e.line(&e.trace, map[string]any{
		"type": "console", "time": zero + ev.T, "pageId": page(ev.Tab), "messageType": kind, "text": c.Text,
		"args":     []any{map[string]any{"preview": c.Text, "value": c.Text}},
		"location": map[string]any{"url": c.URL, "lineNumber": max(0, c.Line-1), "columnNumber": max(0, c.Column-1)},
	})
}

// extensions are those under which the viewer takes bodies for what they are.
func extension(mimeType string) string {
	base, _, _ := strings.Cut(mimeType, ";")
	switch strings.TrimSpace(base) {
	case "text/html":
		return "html"
	case "text/css":
		return "css"
	case "text/javascript", "application/javascript":
		return "js"
	case "application/json":
		return "json"
	case "image/png":
		return "png"
	case "image/jpeg":
		return "jpeg"
	case "image/svg+xml":
		return "svg"
	}
	return "dat"
}

// request adds an entry of the network, in the form of HAR.
func (e *export) request(ev record.Event, q record.Request) {
	content := map[string]any{"size": q.BodySize, "mimeType": q.MimeType}
	if q.MimeType == "" {
		content["mimeType"] = "x-unknown"
	}
	if q.Body != "" {
		if entry := e.resource(q.Body, extension(q.MimeType)); entry != "" {
			content["_sha1"] = entry
		}
	}
	request := map[string]any{
		"method":      q.Method,
		"url":         q.URL,
		"httpVersion": q.Protocol,
		"cookies":     []any{},
		"headers":     headers(q.RequestHeaders),
		"queryString": []any{},
		"headersSize": -1,
		"bodySize":    -1,
	}
	if q.RequestBody != "" {
		if entry := e.resource(q.RequestBody, "dat"); entry != "" {
			request["postData"] = map[string]any{
				"mimeType": e.from.Type(q.RequestBody),
				"_sha1":    entry,
				"params":   []any{},
			}
		}
	}
	status := q.Status
	if q.State == "failed" && status == 0 {
		status = -1
	}
	response := map[string]any{
		"status":      status,
		"statusText":  q.StatusText,
		"httpVersion": q.Protocol,
		"cookies":     []any{},
		"headers":     headers(q.ResponseHeaders),
		"content":     content,
		"headersSize": -1,
		"bodySize":    q.Bytes,
		"redirectURL": header(q.ResponseHeaders, "location"),
	}
	if q.Failure != "" {
		response["_failureText"] = q.Failure
	}
	e.line(&e.network, map[string]any{"type": "resource-snapshot", "snapshot": map[string]any{
		"pageref":         page(ev.Tab),
		"startedDateTime": jsonout.Time(q.Began),
		"time":            q.DurationMS,
		"_monotonicTime":  zero + float64(q.Began.Sub(e.from.Header.Started).Microseconds())/1000,
		"_frameref":       q.Frame,
		"_resourceType":   q.Type,
		"request":         request,
		"response":        response,
		"cache":           map[string]any{},
		"timings": map[string]any{
			"dns":     -1,
			"connect": -1,
			"ssl":     -1,
			"send":    0,
			"wait":    q.FirstByteMS,
			"receive": max(0, q.DurationMS-q.FirstByteMS),
		},
	}})
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func headers(raw json.RawMessage) []any {
	var all map[string]string
	_ = json.Unmarshal(raw, &all) // none without
	out := []any{}
	for _, name := range sortedKeys(all) {
		for value := range strings.SplitSeq(all[name], "\n") {
			out = append(out, map[string]any{"name": name, "value": value})
		}
	}
	return out
}

func header(raw json.RawMessage, name string) string {
	var all map[string]string
	_ = json.Unmarshal(raw, &all) // none without
	for k, v := range all {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}
