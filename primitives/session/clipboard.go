package session

import "sync"

// Clipboard is the clipboard of a session, shared by its tabs. The browser's is shared
// by all sessions: who owns that sees to it that keys copy and paste this one. The
// zero value is empty and ready.
type Clipboard struct {
	mu      sync.Mutex
	held    Clip
	version int // how often it was set
}

// Clip is one content in its flavours. HTML is "" when there is only text.
type Clip struct {
	Text, HTML string
}

// Set replaces the content and returns its version.
func (c *Clipboard) Set(content Clip) (version int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = content
	c.version++
	return c.version
}

// Get returns the content and its version: 0 when nothing was ever set.
func (c *Clipboard) Get() (content Clip, version int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held, c.version
}
