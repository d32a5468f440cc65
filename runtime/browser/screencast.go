package browser

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// ScreencastFrame is one picture of a page.
type ScreencastFrame struct {
	Data          []byte // JPEG as base64
	Width, Height int    // of the viewport, in CSS pixels
	At            time.Time
}

const (
	// screencastWidth and maxHeight bound a picture, in pixels.
	screencastWidth, screencastHeight = 800, 600
	screencastQuality                 = 50
	// screencastInterval is the time from a picture to the request for the next one. The browser has a second
	// one under way, so twice as many come.
	screencastInterval = 400 * time.Millisecond
)

// screencast receives the pictures of one tab.
type screencast struct {
	client *cdp.Client
	frame  func(ScreencastFrame)
}

// newScreencast makes the cast of a tab. frame is called by the reader: it must not wait for anything.
func newScreencast(client *cdp.Client, frame func(ScreencastFrame)) *screencast {
	return &screencast{client: client, frame: frame}
}

// SessionCommands begin the cast in the session of the tab.
func (c *screencast) SessionCommands(s *cdp.Session) []cdp.Command {
	if c == nil || s.Frame != "" {
		return nil
	}
	params := `{"format":"jpeg","quality":` + strconv.Itoa(screencastQuality) + `,"maxWidth":` +
		strconv.Itoa(screencastWidth) + `,"maxHeight":` + strconv.Itoa(screencastHeight) + `}`
	return []cdp.Command{{
		Session: s.ID,
		Method:  "Page.startScreencast",
		Params:  []byte(params),
		OnReply: c.client.LogFailure("Page.startScreencast"),
	}}
}

// HandleEvent takes Page.screencastFrame. The reader calls it.
func (c *screencast) HandleEvent(s *cdp.Session, params []byte) {
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
	time.AfterFunc(screencastInterval, func() {
		c.client.Post(cdp.Command{
			Session: s.ID,
			Method:  "Page.screencastFrameAck",
			Params:  []byte(`{"sessionId":` + strconv.Itoa(e.SessionID) + `}`),
		})
	})
	data := cdp.PlainString(cdp.Member(params, "data"))
	c.frame(ScreencastFrame{
		Data:   append([]byte(nil), data...),
		Width:  int(e.Metadata.Width),
		Height: int(e.Metadata.Height),
		At:     time.Now(),
	})
}
