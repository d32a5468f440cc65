package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// downloaded is a download as effects and download.list report it.
type downloaded struct {
	ID       string `json:"download_id"`
	Filename string `json:"filename"`
	State    string `json:"state"`
	Path     string `json:"path"`
	Received int64  `json:"bytes_received"`
	Total    int64  `json:"total_bytes"`
	Started  string `json:"started_at"`
}

// States of a download that are worded otherwise than those that end without a file.
const (
	downloadRuns    = "in_progress"
	downloadDone    = "completed"
	downloadRefused = "refused"
)

// String says what has become of the download.
func (d downloaded) String() string {
	name := quote(d.Filename, 120)
	switch d.State {
	case downloadDone:
		return fmt.Sprintf("downloaded %s, %d bytes: %s", name, d.Received, d.Path)
	case downloadRefused:
		return "the download of " + name + " was refused: no folder is declared for downloads (--download-dir DIR)"
	case downloadRuns:
		size := fmt.Sprintf("%d bytes so far", d.Received)
		if d.Total > 0 {
			size = fmt.Sprintf("%d of %d bytes so far", d.Received, d.Total)
		}
		return fmt.Sprintf("the download of %s has begun, %s; a later answer says how it ended", name, size)
	}
	reason := strings.ReplaceAll(d.State, "_", " ")
	return fmt.Sprintf("the download of %s brought no file: %s after %d bytes", name, reason, d.Received)
}

// noDocument says why the request of a document brought none, and no download either.
func noDocument(address string) string {
	u, err := url.Parse(address)
	if err == nil && !slices.Contains([]string{"http", "https", "file", "blob", "data", "about"}, u.Scheme) {
		return u.Scheme + ": is for another program, and none is started"
	}
	return "the browser gave it up"
}

const (
	// maxAwaited bounds how long after an action its downloads are still told.
	maxAwaited = time.Hour
	// maxUnbegun bounds how long a request may take to turn into a download.
	maxUnbegun = time.Minute
)

// awaitedDownloads are the downloads of one session that a later answer tells.
type awaitedDownloads struct {
	since    time.Time         // began after this
	reported map[string]string // state that was told last, by id
}

// awaitDownloads notes what an action may still bring: a download that is under way, or one
// that a request which has no answer yet turns into.
func (c *Call) awaitDownloads(p page, f followed) {
	key := p.tab.Workspace
	c.set.downloadsMu.Lock()
	defer c.set.downloadsMu.Unlock()
	known := c.set.downloads[key]
	running := f.URL != nil && f.URL.Loading || f.Requests != nil && f.Requests.Pending > 0
	for _, d := range f.Downloads {
		running = running || d.State == downloadRuns
	}
	if known == nil && !running {
		return
	}
	if known == nil {
		known = &awaitedDownloads{since: c.began, reported: map[string]string{}}
		if c.set.downloads == nil {
			c.set.downloads = map[string]*awaitedDownloads{}
		}
		c.set.downloads[key] = known
	}
	for _, d := range f.Downloads {
		known.reported[d.ID] = d.State
	}
}

// arrived are the downloads of the session that have begun or ended since it was told last.
func (c *Call) arrived(ctx context.Context) []string {
	if c.page == nil {
		return nil
	}
	p := *c.page
	key := p.tab.Workspace
	c.set.downloadsMu.Lock()
	known := c.set.downloads[key]
	c.set.downloadsMu.Unlock()
	if known == nil {
		return nil
	}
	value, _, err := c.do(ctx, p, "download.list", map[string]any{}, where{})
	var list struct{ Downloads []downloaded }
	if err == nil && json.Unmarshal(value, &list) != nil {
		return nil
	}
	c.set.downloadsMu.Lock()
	defer c.set.downloadsMu.Unlock()
	var out []string
	ended := false
	running := false
	for _, d := range list.Downloads {
		state, told := known.reported[d.ID]
		began, e := time.Parse(time.RFC3339Nano, d.Started)
		if !told && (e != nil || began.Before(known.since.Truncate(time.Millisecond))) {
			continue
		}
		running = running || d.State == downloadRuns
		if state == d.State {
			continue
		}
		known.reported[d.ID] = d.State
		ended = ended || d.State != downloadRuns
		out = append(out, d.String())
	}
	age := time.Since(known.since)
	if !running && (ended || age > maxUnbegun) || age > maxAwaited {
		delete(c.set.downloads, key)
	}
	return out
}
