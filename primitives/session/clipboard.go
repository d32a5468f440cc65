package session

import "sync"

// Clipboard is the clipboard of a session, shared by its tabs. The system's is
// left alone: without a screen it is not readable, its permission prompt would
// stop a page, and with one it is the user's. The zero value is empty and ready.
type Clipboard struct {
	mu   sync.Mutex
	held Clip
}

// Clip is one content in its flavours. HTML is "" when there is only text.
type Clip struct {
	Text, HTML string
}

// Set replaces the content.
func (c *Clipboard) Set(content Clip) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = content
}

// Get returns the content.
func (c *Clipboard) Get() Clip {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}
