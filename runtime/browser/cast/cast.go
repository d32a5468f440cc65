// Package cast has the browser send pictures of a page while the page changes, at a bounded rate. It does
// not encode or change them. Package runtime/browser gives it the sessions and events of a tab when
// somebody records pictures.
package cast

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Frame is one picture of a page.
type Frame struct {
	Data          []byte // JPEG as base64
	Width, Height int    // of the viewport, in CSS pixels
	At            time.Time
}

const (
	// maxWidth and maxHeight bound a picture, in pixels.
	maxWidth, maxHeight = 800, 600
	quality             = 50
	// interval is the time from a picture to the request for the next one. The browser has a second
	// one under way, so twice as many come.
	interval = 400 * time.Millisecond
)

// Cast receives the pictures of one tab.
type Cast struct {
	client *cdp.Client
	frame  func(Frame)
}

// New makes the cast of a tab. frame is called by the reader: it must not wait for anything.
func New(client *cdp.Client, frame func(Frame)) *Cast { return &Cast{client: client, frame: frame} }

// SessionCommands begin the cast in the session of the tab.
func (c *Cast) SessionCommands(s *cdp.Session) []cdp.Command {
	if c == nil || s.Frame != "" {
		return nil
	}
	params := `{"format":"jpeg","quality":` + strconv.Itoa(quality) + `,"maxWidth":` + strconv.Itoa(maxWidth) + `,"maxHeight":` + strconv.Itoa(maxHeight) + `}`
	return []cdp.Command{{Session: s.ID, Method: "Page.startScreencast", Params: []byte(params), OnReply: c.client.LogFailure("Page.startScreencast")}}
}

// HandleEvent takes Page.screencastFrame. The reader calls it.
func (c *Cast) HandleEvent(s *cdp.Session, params []byte) {
	if c == nil {
		return
	}
	var e struct {
		SessionID int `json:"sessionId"`
		Metadata  struct {
			Width  float64 `json:"deviceWidth"`
			Height float64 `json:"deviceHeight"`
		} `json:"metadata"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	// What is not acknowledged keeps the browser from sending more.
	time.AfterFunc(interval, func() {
		c.client.Post(cdp.Command{Session: s.ID, Method: "Page.screencastFrameAck", Params: []byte(`{"sessionId":` + strconv.Itoa(e.SessionID) + `}`)})
	})
	data := cdp.PlainString(cdp.Member(params, "data"))
	c.frame(Frame{Data: append([]byte(nil), data...), Width: int(e.Metadata.Width), Height: int(e.Metadata.Height), At: time.Now()})
}
