package plan

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// harDocument is what is read of a HAR 1.2 file, and of what Playwright adds to it.
type harDocument struct {
	Log struct {
		Entries []harEntry `json:"entries"`
	} `json:"log"`
}

type harEntry struct {
	Started string  `json:"startedDateTime"`
	TimeMS  float64 `json:"time"`
	Error   string  `json:"_error"`
	Request struct {
		Method   string           `json:"method"`
		URL      string           `json:"url"`
		Headers  []browser.Header `json:"headers"`
		PostData struct {
			MimeType string `json:"mimeType"`
			Text     string `json:"text"`
			File     string `json:"_file"`
			Params   []struct {
				Name  string `json:"name"`
				Value string `json:"value"`
			} `json:"params"`
		} `json:"postData"`
	} `json:"request"`
	Response struct {
		Status      int              `json:"status"`
		Headers     []browser.Header `json:"headers"`
		FailureText string           `json:"_failureText"`
		Error       string           `json:"_error"`
		Content     harContent       `json:"content"`
	} `json:"response"`
}

type harContent struct {
	Size     int64  `json:"size"`
	MimeType string `json:"mimeType"`
	Text     string `json:"text"`
	Encoding string `json:"encoding"`
	File     string `json:"_file"`
}

// readHAR reads the answers of a HAR 1.2 file, or of a zip with one. Bodies that Playwright
// attached lie beside the file, or in the zip. A file that cannot be read, that is none, or
// that has no answers is invalid_input, and so is an answer that no browser takes.
func readHAR(path string) (*browser.Recorded[browser.Answer], error) {
	from, text, err := openHAR(path)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	var file harDocument
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &file); err != nil {
		return nil, fault.New(fault.InvalidInput, "%s is no HAR file: %v", path, err)
	}

	out := &browser.Recorded[browser.Answer]{}
	count := 0
	entries := file.Log.Entries
	for i, e := range entries {
		if e.failed() || e.hollow() && slices.ContainsFunc(entries, e.betterThan) {
			continue
		}
		if err := addHAREntry(out, from, e); err != nil {
			return nil, fault.New(fault.InvalidInput, "%s: /log/entries/%d%s", path, i, fault.From(err).Message)
		}
		count++
	}
	if count == 0 {
		return nil, fault.New(fault.InvalidInput, "%s has no answers: expected /log/entries of a HAR file", path)
	}
	return out, nil
}

// failed is an entry whose request had no answer.
func (e harEntry) failed() bool {
	return e.Response.Status < 200 || e.Error != "" || e.Response.Error != "" || e.Response.FailureText != ""
}

// hollow is an entry whose body was not kept, or never came whole.
func (e harEntry) hollow() bool {
	c := e.Response.Content
	return e.Response.Status < 300 && e.Response.Status != 204 && c.Text == "" && c.File == "" && c.Size != 0
}

// betterThan reports whether another entry answers the same request, and has its body.
func (e harEntry) betterThan(other harEntry) bool {
	return other.Request.Method == e.Request.Method && other.Request.URL == e.Request.URL && !other.failed() &&
		!other.hollow()
}

// addHAREntry adds one entry. An error names the member that is wrong.
func addHAREntry(out *browser.Recorded[browser.Answer], from harSource, e harEntry) error {
	if e.hollow() && e.Response.Content.Size > 0 {
		return fault.New(
			fault.InvalidInput, "/response/content: the body of %d bytes was not kept", e.Response.Content.Size,
		)
	}
	body, err := e.Response.Content.body(from)
	if err != nil {
		return err
	}
	headers := browser.Resent(e.Response.Headers)
	if err := browser.CheckHeaders(headers); err != nil {
		return fault.New(fault.InvalidInput, "/response/headers: %s", fault.From(err).Message)
	}
	typed := slices.ContainsFunc(headers, func(h browser.Header) bool {
		return strings.EqualFold(h.Name, "content-type")
	})
	kind := e.Response.Content.MimeType
	line := (browser.Header{Name: "Content-Type", Value: kind})
	if kind != "" && !typed && browser.CheckHeaders([]browser.Header{line}) == nil {
		headers = append(headers, line)
	}

	asked := browser.Request{Method: e.Request.Method, URL: e.Request.URL, Headers: map[string]string{}}
	for _, h := range e.Request.Headers {
		asked.Headers[h.Name] = h.Value
	}
	asked.Body, err = e.sent(from)
	if err != nil {
		return err
	}
	var ended time.Time
	began, err := time.Parse(time.RFC3339, e.Started)
	if err == nil { // else the order of the entries is all that is known
		ended = began.Add(time.Duration(e.TimeMS * float64(time.Millisecond)))
	}
	out.Add(asked, began, ended, browser.Answer{Status: e.Response.Status, Body: body, Headers: headers})
	return nil
}

func (c harContent) body(from harSource) ([]byte, error) {
	if c.File != "" {
		body, err := from.Read(c.File)
		if err != nil {
			return nil, fault.New(fault.InvalidInput, "/response/content/_file: %s", fault.From(err).Message)
		}
		return body, nil
	}
	if c.Encoding != "base64" {
		return []byte(c.Text), nil
	}
	body, err := base64.StdEncoding.DecodeString(c.Text)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "/response/content: %v", err)
	}
	return body, nil
}

// sent is the body of the request. Some recorders keep the fields of a form and not its text.
func (e harEntry) sent(from harSource) ([]byte, error) {
	sent := e.Request.PostData
	switch {
	case sent.File != "":
		body, err := from.Read(sent.File)
		if err != nil {
			return nil, fault.New(fault.InvalidInput, "/request/postData/_file: %s", fault.From(err).Message)
		}
		return body, nil
	case sent.Text != "" || len(sent.Params) == 0 || strings.HasPrefix(strings.ToLower(sent.MimeType), "multipart/"):
		return []byte(sent.Text), nil
	}
	var fields []string
	for _, p := range sent.Params {
		fields = append(
			fields, url.QueryEscape(unescapedHARText(p.Name))+"="+url.QueryEscape(unescapedHARText(p.Value)),
		)
	}
	return []byte(strings.Join(fields, "&")), nil
}

// unescapedHARText reads a field as recorders write it: some leave it encoded.
func unescapedHARText(text string) string {
	if out, err := url.QueryUnescape(text); err == nil {
		return out
	}
	return text
}
