package page

import (
	"context"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

// mostBegun bounds how many documents BeginFrames begins.
const mostBegun = 64

// BeginFrames implements primitives.Page. It makes our worlds of the documents, all in one
// round trip, and gives them what their refs need. The library goes to none of them: that of
// the document around them reads them, until a page call in one needs its own.
func (p *Page) BeginFrames(ctx context.Context, frame primitives.FrameID) {
	at, err := p.resolveFrame(ctx, frame)
	if err != nil {
		return
	}
	begun := p.accessible(at)
	commands := make([]cdp.Command, 0, len(begun))
	for _, b := range begun {
		commands = append(commands, world.CreateCommand(b.session, b.id))
		defer b.document.Built()
	}
	if len(begun) == 0 {
		return
	}
	calls, err := p.client.Start(ctx, commands...)
	if err != nil {
		return
	}
	defer p.client.Forget(calls...)
	claims := make([]cdp.Command, 0, len(begun))
	for i, b := range begun {
		result, err := p.awaitPage(ctx, b, calls[i])
		if err != nil {
			continue
		}
		id, err := strconv.Atoi(string(cdp.Member(result, "executionContextId")))
		if err != nil {
			continue
		}
		w := world.New(id)
		prefix, from := p.refs.Begin(b.id)
		claims = append(claims, world.ClaimCommand(b.session, w, prefix, from))
		b.document.Claim(w)
	}
	if len(claims) > 0 {
		p.client.Post(claims...)
	}
}

// accessible lists frames below one in its process that have no world of ours, and whose
// documents may be of its origin. Their documents are being built.
func (p *Page) accessible(at resolvedFrame) []resolvedFrame {
	p.mu.Lock()
	defer p.mu.Unlock()
	around := p.frames[at.id]
	if around == nil {
		return nil
	}
	origin := originOfAddress(around.url)
	var found []resolvedFrame
	var below func(f *frame)
	below = func(f *frame) {
		for _, id := range f.children {
			c := p.frames[id]
			if c == nil || c.session != at.session || c.crashed || len(found) == mostBegun {
				continue
			}
			own := strings.HasPrefix(c.url, "about:") || strings.HasPrefix(c.url, "blob:")
			fresh := c.document.World() == nil && c.document.Claimed() == nil
			if fresh && (own || originOfAddress(c.url) == origin) {
				select {
				case c.document.Building() <- struct{}{}:
					there := at
					there.document = c.document
					there.id = id
					found = append(found, there)
				default: // somebody else makes its world
				}
			}
			below(c)
		}
	}
	below(around)
	return found
}
