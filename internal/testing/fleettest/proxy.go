package fleettest

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// Proxy is on the way to a server, and can be cut: what is connected is stopped
// without a word, as by a cable that was pulled.
type Proxy struct {
	listener net.Listener
	to       string
	life     sync.WaitGroup

	mu    sync.Mutex
	cut   chan struct{} // closed while nothing passes
	whole bool
	conns map[net.Conn]bool
}

// NewProxy makes a proxy before the server at a nats:// address.
func NewProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, to: strings.TrimPrefix(to, "nats://"), whole: true, conns: map[net.Conn]bool{}}
	p.life.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.Restore()
		p.Reset()
		p.life.Wait()
	})
	return p
}

// URL is where the proxy listens.
func (p *Proxy) URL() string { return "nats://" + p.listener.Addr().String() }

// Cut stops everything, without closing anything.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.whole {
		p.whole, p.cut = false, make(chan struct{})
	}
}

// Restore lets everything pass again, what was held up first.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.whole {
		p.whole = true
		close(p.cut)
	}
}

// Reset closes every connection.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = c.Close()
			continue
		}
		p.mu.Lock()
		p.conns[c], p.conns[to] = true, true
		p.mu.Unlock()
		for _, way := range [][2]net.Conn{{c, to}, {to, c}} {
			p.life.Go(func() { p.pass(way[0], way[1]) })
		}
	}
}

func (p *Proxy) pass(from, to net.Conn) {
	defer func() {
		_, _ = from.Close(), to.Close()
		p.mu.Lock()
		delete(p.conns, from)
		p.mu.Unlock()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		whole, cut := p.whole, p.cut
		p.mu.Unlock()
		if !whole {
			<-cut
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if err != io.EOF {
				return
			}
			return
		}
	}
}
