package plan

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// maxHAR bounds a HAR file, which has the bodies of a whole visit.
const maxHAR = 64 << 20

// har is the answers of a HAR file. It is safe for concurrent use.
type har struct {
	mu      sync.Mutex
	entries []harEntry
}

type harEntry struct {
	method, url string
	body        string
	answer      browser.RouteAnswer
	used        bool
}

// readHAR reads the answers of a HAR 1.2 file.
func readHAR(path string) (*har, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "%v", err)
	}
	if info.Size() > maxHAR {
		return nil, fault.New(fault.InvalidInput, "%s has more than %d MiB", path, maxHAR>>20)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "%v", err)
	}
	var file struct {
		Log struct {
			Entries []struct {
				Request struct {
					Method   string `json:"method"`
					URL      string `json:"url"`
					PostData struct {
						Text string `json:"text"`
					} `json:"postData"`
				} `json:"request"`
				Response struct {
					Status  int                   `json:"status"`
					Headers []browser.RouteHeader `json:"headers"`
					Content struct {
						MimeType string `json:"mimeType"`
						Text     string `json:"text"`
						Encoding string `json:"encoding"`
					} `json:"content"`
				} `json:"response"`
			} `json:"entries"`
		} `json:"log"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &file); err != nil {
		return nil, fault.New(fault.InvalidInput, "%s is no HAR file: %v", path, err)
	}
	out := &har{}
	for i, e := range file.Log.Entries {
		if e.Response.Status < 200 { // a request that had no answer
			continue
		}
		body := []byte(e.Response.Content.Text)
		if e.Response.Content.Encoding == "base64" {
			if body, err = base64.StdEncoding.DecodeString(e.Response.Content.Text); err != nil {
				return nil, fault.New(fault.InvalidInput, "%s: /log/entries/%d/response/content: %v", path, i, err)
			}
		}
		address, _, _ := strings.Cut(e.Request.URL, "#")
		one := harEntry{method: e.Request.Method, url: address, body: e.Request.PostData.Text}
		one.answer = browser.RouteAnswer{Status: e.Response.Status, Body: body, Headers: recordedHeaders(e.Response.Headers, e.Response.Content.MimeType)}
		out.entries = append(out.entries, one)
	}
	if len(out.entries) == 0 {
		return nil, fault.New(fault.InvalidInput, "%s has no answers: expected /log/entries of a HAR file", path)
	}
	return out, nil
}

// recordedHeaders are the headers of an answer whose body is as the page saw it.
func recordedHeaders(headers []browser.RouteHeader, kind string) []browser.RouteHeader {
	is := func(h browser.RouteHeader, names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(h.Name, name) })
	}
	out := slices.DeleteFunc(slices.Clone(headers), func(h browser.RouteHeader) bool {
		return is(h, "content-encoding", "content-length", "transfer-encoding", "connection") || strings.HasPrefix(h.Name, ":")
	})
	if kind != "" && !slices.ContainsFunc(out, func(h browser.RouteHeader) bool { return is(h, "content-type") }) {
		out = append(out, browser.RouteHeader{Name: "Content-Type", Value: kind})
	}
	return out
}

// find is the answer of a request: of the first entry with its method and address that
// was not given yet, one with the same body before others; then of the last of them.
func (h *har) find(method, address string, body []byte) (browser.RouteAnswer, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var best *harEntry
	rank := func(e *harEntry) int {
		n := 0
		if e.body == string(body) {
			n += 2
		}
		if !e.used {
			n++
		}
		return n
	}
	for i := range h.entries {
		e := &h.entries[i]
		if e.method != method || e.url != address {
			continue
		}
		if best == nil || rank(e) > rank(best) || rank(e) == rank(best) && e.used {
			best = e
		}
	}
	if best == nil {
		return browser.RouteAnswer{}, false
	}
	best.used = true
	return best.answer, true
}
