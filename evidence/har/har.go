// Package har writes what pages requested in a recording as a HAR 1.2 file, which browsers and Playwright
// read. What recordings mask stays masked. It records nothing. The verbs that own a browser and Go programs
// use it.
package har

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/jsonout"
)

// DefaultBodyLimit bounds a body in the file, in bytes.
const DefaultBodyLimit = 1 << 20

// Options say what is written.
type Options struct {
	// BodyLimit bounds a body, in bytes; 0 is DefaultBodyLimit, less than 0 leaves all bodies out.
	BodyLimit int
}

// WriteFile writes the requests of the recording at from to the file to, which is there only when it is
// whole. It ends with ctx.
func WriteFile(ctx context.Context, from, to string, o Options) error {
	r, err := record.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	err = outfile.Fill(to, 0o600, func(to io.Writer) error { return Write(ctx, r, to, o) })
	if err != nil {
		return fmt.Errorf("writing the HAR file %s: %w", to, err)
	}
	return nil
}

// Write writes the requests of a recording. It ends with ctx.
func Write(ctx context.Context, r *record.Recording, to io.Writer, o Options) error {
	if o.BodyLimit == 0 {
		o.BodyLimit = DefaultBodyLimit
	}
	out := bufio.NewWriter(to)
	w := &writer{from: r, to: out, o: o}
	if err := w.head(); err != nil {
		return err
	}
	first := true
	for _, ev := range r.Events {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		var q record.Request
		if ev.Kind != record.KindRequest || json.Unmarshal(ev.Data, &q) != nil || q.URL == "" {
			continue
		}
		if !first {
			out.WriteString(",\n")
		}
		first = false
		if err := w.put(w.entry(ev, q)); err != nil {
			return err
		}
	}
	out.WriteString("]}}\n")
	return out.Flush()
}

type writer struct {
	from *record.Recording
	to   *bufio.Writer
	o    Options
}

func (w *writer) put(v any) error {
	raw, err := jsonout.Line(v)
	if err != nil {
		return err
	}
	_, err = w.to.Write(bytes.TrimRight(raw, "\n"))
	return err
}

// head writes what stands before the entries: a page for each tab, at the address that it had last.
func (w *writer) head() error {
	program, version, _ := strings.Cut(w.from.Header.Program, " ")
	browser, number := "Chromium", ""
	type page struct {
		Started string         `json:"startedDateTime"`
		ID      string         `json:"id"`
		Title   string         `json:"title"`
		Timings map[string]any `json:"pageTimings"`
	}
	pages := map[int]*page{}
	for _, ev := range w.from.Events {
		var host record.Host
		if ev.Kind == record.KindHost && json.Unmarshal(ev.Data, &host) == nil && host.Browser != "" {
			browser, number, _ = strings.Cut(host.Browser, "/")
		}
		if ev.Tab == 0 {
			continue
		}
		p := pages[ev.Tab]
		if p == nil {
			p = &page{
				Started: jsonout.Time(w.from.Header.Started.Add(time.Duration(ev.T * float64(time.Millisecond)))),
				ID:      pageID(ev.Tab),
				Timings: map[string]any{"onContentLoad": -1, "onLoad": -1},
			}
			pages[ev.Tab] = p
		}
		var tab record.Tab
		if ev.Kind == record.KindTab && json.Unmarshal(ev.Data, &tab) == nil && tab.URL != "" {
			p.Title = tab.URL
		}
	}
	list := []*page{}
	for _, id := range slices.Sorted(maps.Keys(pages)) {
		list = append(list, pages[id])
	}
	w.to.WriteString(`{"log":{"version":"1.2","creator":`)
	if err := w.put(map[string]string{"name": program, "version": version}); err != nil {
		return err
	}
	w.to.WriteString(`,"browser":`)
	if err := w.put(map[string]string{"name": browser, "version": number}); err != nil {
		return err
	}
	w.to.WriteString(`,"pages":`)
	if err := w.put(list); err != nil {
		return err
	}
	w.to.WriteString(",\"entries\":[\n")
	return nil
}

func pageID(tab int) string { return "page_" + strconv.Itoa(tab) }

type nameValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// entry is one request with its answer.
func (w *writer) entry(ev record.Event, q record.Request) map[string]any {
	version := httpVersion(q.Protocol)
	request := map[string]any{
		"method":      q.Method,
		"url":         q.URL,
		"httpVersion": version,
		"cookies":     []any{},
		"headers":     headers(q.RequestHeaders),
		"queryString": query(q.URL),
		"headersSize": -1,
		"bodySize":    -1,
	}
	if q.RequestBody != "" {
		post := map[string]any{"mimeType": header(q.RequestHeaders, "content-type")}
		if text, encoded, _ := w.body(q.RequestBody); encoded {
			post["comment"] = "the body is no text, and was left out"
			post["text"] = ""
		} else {
			post["text"] = text
		}
		request["postData"] = post
	}
	status := q.Status
	if q.State == "failed" && status == 0 {
		status = -1 // as Playwright writes it
	}
	response := map[string]any{
		"status":      status,
		"statusText":  q.StatusText,
		"httpVersion": version,
		"cookies":     []any{},
		"headers":     headers(q.ResponseHeaders),
		"content":     w.content(q),
		"redirectURL": header(q.ResponseHeaders, "location"),
		"headersSize": -1,
		"bodySize":    q.Bytes,
	}
	if q.Failure != "" {
		response["_failureText"] = q.Failure
	}
	out := map[string]any{
		"startedDateTime": jsonout.Time(q.Began),
		"time":            q.DurationMS,
		"request":         request,
		"response":        response,
		"cache":           map[string]any{},
		"timings": map[string]any{
			"blocked": -1,
			"dns":     -1,
			"connect": -1,
			"ssl":     -1,
			"send":    0,
			"wait":    max(0, q.FirstByteMS),
			"receive": max(0, q.DurationMS-q.FirstByteMS),
		},
		"_resourceType": q.Type,
	}
	if ev.Tab != 0 {
		out["pageref"] = pageID(ev.Tab)
	}
	if host, _, ok := cutPort(q.RemoteAddress); ok {
		out["serverIPAddress"] = host
	}
	return out
}

// content is the body of an answer.
func (w *writer) content(q record.Request) map[string]any {
	out := map[string]any{"size": q.BodySize, "mimeType": q.MimeType}
	if q.MimeType == "" {
		out["mimeType"] = "x-unknown"
	}
	why := map[string]string{
		"too_large": "the body is larger than what is kept",
		"not_kept":  "the browser did not keep the body",
	}[q.BodyMissing]
	if q.Body != "" {
		text, encoded, missing := w.body(q.Body)
		why = missing
		if missing == "" {
			out["text"] = text
		}
		if encoded {
			out["encoding"] = "base64"
		}
	}
	if why != "" {
		out["comment"] = why
	}
	return out
}

// body is a body as a text, in base64 when it is none, or why it is left out.
func (w *writer) body(name string) (text string, encoded bool, missing string) {
	switch {
	case w.o.BodyLimit < 0:
		return "", false, "bodies are left out"
	case w.from.Size(name) > w.o.BodyLimit:
		return "", false, "the body is larger than what is kept"
	}
	data, err := w.from.Data(name)
	switch {
	case err != nil:
		return "", false, "the body could not be read"
	case utf8.Valid(data):
		return string(data), false, ""
	}
	return base64.StdEncoding.EncodeToString(data), true, ""
}

func httpVersion(protocol string) string {
	switch strings.ToLower(protocol) {
	case "":
		return ""
	case "h2":
		return "HTTP/2.0"
	case "h3":
		return "HTTP/3"
	}
	return strings.ToUpper(protocol)
}

func query(raw string) []nameValue {
	out := []nameValue{}
	_, text, _ := strings.Cut(raw, "?")
	text, _, _ = strings.Cut(text, "#")
	for pair := range strings.SplitSeq(text, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		out = append(out, nameValue{unescaped(name), unescaped(value)})
	}
	return out
}

func unescaped(text string) string {
	if out, err := url.QueryUnescape(text); err == nil {
		return out
	}
	return text
}

// headers are those of a request or an answer in the order of their names. One that came several times
// has its values on lines.
func headers(raw json.RawMessage) []nameValue {
	var all map[string]string
	_ = json.Unmarshal(raw, &all) // none without
	out := []nameValue{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for value := range strings.SplitSeq(all[name], "\n") {
			out = append(out, nameValue{name, value})
		}
	}
	return out
}

func header(raw json.RawMessage, name string) string {
	for _, h := range headers(raw) {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// cutPort is the address before the port of HOST:PORT.
func cutPort(address string) (host, port string, ok bool) {
	i := strings.LastIndexByte(address, ':')
	if i < 0 {
		return "", "", false
	}
	return strings.Trim(address[:i], "[]"), address[i+1:], true
}
