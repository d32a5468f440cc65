// Package har reads the answers of HAR files, with which plans answer requests. It says nothing of which answer a
// request gets: that is a matter of the browser's routes.
package har

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// maxHAR bounds a HAR file, which has the bodies of a whole visit.
const maxHAR = 64 << 20

// Read reads the answers of a HAR 1.2 file. A file that cannot be read, that is none, or that has no
// answers is invalid_input.
func Read(path string) (*browser.Recorded[browser.Answer], error) {
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
				Started string  `json:"startedDateTime"`
				TimeMS  float64 `json:"time"`
				Request struct {
					Method   string           `json:"method"`
					URL      string           `json:"url"`
					Headers  []browser.Header `json:"headers"`
					PostData struct {
						Text string `json:"text"`
					} `json:"postData"`
				} `json:"request"`
				Response struct {
					Status  int              `json:"status"`
					Headers []browser.Header `json:"headers"`
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
	out, count := &browser.Recorded[browser.Answer]{}, 0
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
		headers := browser.Resent(e.Response.Headers)
		if kind := e.Response.Content.MimeType; kind != "" && !slices.ContainsFunc(headers, func(h browser.Header) bool { return strings.EqualFold(h.Name, "content-type") }) {
			headers = append(headers, browser.Header{Name: "Content-Type", Value: kind})
		}
		asked := browser.Request{Method: e.Request.Method, URL: e.Request.URL, Headers: map[string]string{}, Body: []byte(e.Request.PostData.Text)}
		for _, h := range e.Request.Headers {
			asked.Headers[h.Name] = h.Value
		}
		var ended time.Time
		began, err := time.Parse(time.RFC3339, e.Started)
		if err == nil { // else the order of the entries is all that is known
			ended = began.Add(time.Duration(e.TimeMS * float64(time.Millisecond)))
		}
		out.Add(asked, began, ended, browser.Answer{Status: e.Response.Status, Body: body, Headers: headers})
		count++
	}
	if count == 0 {
		return nil, fault.New(fault.InvalidInput, "%s has no answers: expected /log/entries of a HAR file", path)
	}
	return out, nil
}
