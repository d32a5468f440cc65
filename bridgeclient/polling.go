package bridgeclient

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// HTTP polling: POST …/items carries the items of the runtime, GET …/items waits
// for those of the bridge. Items are numbered from 1 in each direction; a request
// that is repeated with the same number changes nothing
// (docs/reference/http-transport.md).

// itemsPath is what the address of a bridge gets for polling.
const itemsPath = "/items"

const (
	// pollBatch bounds the items of one request or answer in bytes; one item
	// always fits.
	pollBatch = 1 << 20
	// pollWait is how long a GET waits for an item.
	pollWait = 25 * time.Second
	// pollSlack is how much longer than that an answer may take.
	pollSlack = 10 * time.Second
	// pollRetry bounds the waits between two attempts of one request.
	pollRetryMin, pollRetryMax = 100 * time.Millisecond, 2 * time.Second
	// pollRate is what a slow line still carries, in bytes a second: a long
	// request gets the time that this takes.
	pollRate = 128 << 10
)

// posted is the body of a POST.
type posted struct {
	Session string            `json:"session"`
	First   uint64            `json:"first"` // number of the first item
	Items   []json.RawMessage `json:"items"`
	Close   string            `json:"close,omitempty"`
}

// postAnswer answers a POST: every item up to Received has arrived.
type postAnswer struct {
	Received uint64 `json:"received"`
}

// getAnswer answers a GET.
type getAnswer struct {
	First  uint64            `json:"first"`
	Items  []json.RawMessage `json:"items"`
	Closed string            `json:"closed,omitempty"`
}

// numbered are items that wait for the peer to say that it has them.
type numbered struct {
	frames [][]byte
	acked  uint64 // number of the item before frames[0]
	bytes  int
}

func (n *numbered) add(frame []byte) {
	n.frames = append(n.frames, frame)
	n.bytes += len(frame)
}

func (n *numbered) last() uint64 { return n.acked + uint64(len(n.frames)) }

// ack drops the items up to a number; false when there are not that many.
func (n *numbered) ack(upTo uint64) bool {
	if upTo > n.last() {
		return false
	}
	for n.acked < upTo {
		n.bytes -= len(n.frames[0])
		n.frames[0] = nil
		n.frames = n.frames[1:]
		n.acked++
	}
	return true
}

// batch is the first items, as many as one message carries.
func (n *numbered) batch() [][]byte {
	size := 0
	for i, f := range n.frames {
		size += len(f)
		if i > 0 && size > pollBatch {
			return n.frames[:i:i]
		}
	}
	return n.frames[:len(n.frames):len(n.frames)]
}

// outbound are items for the peer, and who waits for a change of them or of what
// else its mutex protects. changed is closed and replaced with each change.
type outbound struct {
	mu      sync.Mutex
	changed chan struct{}
	out     numbered
}

func newOutbound() outbound { return outbound{changed: make(chan struct{})} }

// notify wakes who waits. mu is held.
func (o *outbound) notify() {
	close(o.changed)
	o.changed = make(chan struct{})
}

// until waits for a condition, which is evaluated under mu, until ctx or the
// connection ends, whose error is why.
func (o *outbound) until(ctx context.Context, ended <-chan struct{}, why func() error, holds func() bool) error {
	for {
		o.mu.Lock()
		ok, changed := holds(), o.changed
		o.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ended:
			return why()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// write adds an item as soon as no whole message waits for the peer.
func (o *outbound) write(ctx context.Context, ended <-chan struct{}, why func() error, frame []byte) error {
	return o.until(ctx, ended, why, func() bool {
		if len(o.out.frames) > 0 && o.out.bytes > pollBatch {
			return false
		}
		o.out.add(frame)
		o.notify()
		return true
	})
}

// itemList writes frames as a JSON array, byte for byte.
func itemList(b *bytes.Buffer, frames [][]byte) {
	b.WriteByte('[')
	for i, f := range frames {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(f)
	}
	b.WriteByte(']')
}

// polling is the runtime's side of a connection over HTTP polling. One goroutine
// posts, one gets; both repeat what failed until nothing has succeeded for
// deadAfter.
type polling struct {
	http      *http.Client
	items     string // address
	header    http.Header
	session   string
	maxRead   int
	deadAfter time.Duration
	active    atomic.Uint64
	in        chan []byte
	ctx       context.Context
	cancel    context.CancelCauseFunc
	wg        sync.WaitGroup

	outbound           // its mutex protects the rest
	pings    uint64    // asked for
	ponged   uint64    // the last ping whose POST was answered
	reached  time.Time // when a request last succeeded
}

func dialPolling(ctx context.Context, u *url.URL, o *Options) (Conn, error) {
	items := *u
	items.Path = u.JoinPath(itemsPath).Path
	header := o.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if o.Token != "" && header.Get("Authorization") == "" {
		header.Set("Authorization", "Bearer "+o.Token)
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	client := &http.Client{
		Transport: o.RoundTripper,
		// A redirect would take the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	p := &polling{
		http:      client,
		items:     items.String(),
		header:    header,
		session:   hex.EncodeToString(id[:]),
		maxRead:   o.MaxRead,
		deadAfter: o.DeadAfter,
		in:        make(chan []byte),
		outbound:  newOutbound(),
		reached:   time.Now(),
	}
	// The first request opens the session, and says at once what is wrong.
	if _, err := p.post(ctx, nil, 1, ""); err != nil {
		if again := (*unreached)(nil); errors.As(err, &again) {
			err = again.error
		}
		return nil, err
	}
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	p.wg.Go(func() { p.cancel(p.postAll()) })
	p.wg.Go(func() { p.cancel(p.getAll()) })
	return p, nil
}

func (p *polling) Traits() Traits { return Traits{Confirms: true, Heartbeat: true} }

func (p *polling) Active() uint64 { return p.active.Load() }

func (p *polling) Read(ctx context.Context) ([]byte, error) {
	select {
	case frame := <-p.in:
		return frame, nil
	case <-p.ctx.Done():
		return nil, context.Cause(p.ctx)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *polling) Write(ctx context.Context, frame []byte) error {
	return p.write(ctx, p.ctx.Done(), p.lost, frame)
}

// lost is why the connection has ended.
func (p *polling) lost() error { return context.Cause(p.ctx) }

// Ping waits for the answer to what was written, or to an empty request.
func (p *polling) Ping(ctx context.Context) error {
	p.mu.Lock()
	mark := p.out.last()
	if mark == p.out.acked {
		p.pings++
		p.notify()
	}
	ping := p.pings
	p.mu.Unlock()
	return p.until(ctx, p.ctx.Done(), p.lost, func() bool { return p.out.acked >= mark && p.ponged >= ping })
}

// postAll sends what is written until the connection ends.
func (p *polling) postAll() error {
	for {
		err := p.until(p.ctx, nil, nil, func() bool { return len(p.out.frames) > 0 || p.ponged < p.pings })
		if err != nil {
			return err
		}
		p.mu.Lock()
		batch := p.out.batch()
		first := p.out.acked + 1
		ping := p.pings
		p.mu.Unlock()
		var got postAnswer
		err = p.repeated(func() (err error) {
			got, err = p.post(p.ctx, batch, first, "")
			return err
		})
		if err != nil {
			return err
		}
		p.mu.Lock()
		known := p.out.ack(max(got.Received, first-1))
		p.ponged = max(p.ponged, ping)
		p.notify()
		p.mu.Unlock()
		if !known || got.Received < first-1+uint64(len(batch)) {
			return fault.New(
				fault.TransportFailed, "the bridge confirms %d items, expected %d",
				got.Received, first-1+uint64(len(batch)),
			)
		}
	}
}

// getAll takes what the bridge sends until the connection ends.
func (p *polling) getAll() error {
	cursor := uint64(0)
	for {
		var got getAnswer
		err := p.repeated(func() (err error) {
			got, err = p.get(cursor)
			return err
		})
		if err != nil {
			return err
		}
		for i, frame := range got.Items {
			switch n := got.First + uint64(i); {
			case n <= cursor: // sent again
				continue
			case n > cursor+1:
				return fault.New(fault.TransportFailed, "item %d of the bridge is missing, the next is %d", cursor+1, n)
			}
			select {
			case p.in <- frame:
				cursor++
			case <-p.ctx.Done():
				return context.Cause(p.ctx)
			}
		}
		if got.Closed != "" {
			return fault.New(fault.TransportFailed, "the bridge closed the connection (%s)", got.Closed)
		}
	}
}

// repeated makes one request until it succeeds, is refused, or nothing has
// succeeded for deadAfter.
func (p *polling) repeated(try func() error) error {
	wait := pollRetryMin
	for {
		err := try()
		if err == nil {
			p.mu.Lock()
			p.reached = time.Now()
			p.mu.Unlock()
			return nil
		}
		p.mu.Lock()
		silent := time.Since(p.reached)
		p.mu.Unlock()
		if again := (*unreached)(nil); !errors.As(err, &again) || silent > p.deadAfter {
			return err
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-p.ctx.Done():
			t.Stop()
			return context.Cause(p.ctx)
		}
		wait = min(2*wait, pollRetryMax)
	}
}

// unreached marks a failure after which the same request may be sent again.
type unreached struct{ error }

func (u *unreached) Unwrap() error { return u.error }

func (p *polling) post(ctx context.Context, batch [][]byte, first uint64, closing string) (postAnswer, error) {
	var body bytes.Buffer
	fmt.Fprintf(&body, `{"session":%q,"first":%d,"items":`, p.session, first)
	itemList(&body, batch)
	if closing != "" {
		text, _ := json.Marshal(closing)
		fmt.Fprintf(&body, `,"close":%s`, text)
	}
	body.WriteByte('}')
	bound := pollSlack + pollWait + time.Duration(body.Len()/pollRate)*time.Second
	var out postAnswer
	err := p.do(ctx, http.MethodPost, p.items, body.Bytes(), bound, &out)
	return out, err
}

func (p *polling) get(after uint64) (getAnswer, error) {
	u, err := url.Parse(p.items)
	if err != nil {
		return getAnswer{}, err
	}
	q := u.Query()
	q.Set("session", p.session)
	q.Set("after", strconv.FormatUint(after, 10))
	q.Set("wait_ms", strconv.FormatInt(pollWait.Milliseconds(), 10))
	u.RawQuery = q.Encode()
	var out getAnswer
	err = p.do(p.ctx, http.MethodGet, u.String(), nil, pollWait+pollSlack, &out)
	return out, err
}

// do makes one request. bound is the time in which nothing may be heard.
func (p *polling) do(ctx context.Context, method, address string, body []byte, bound time.Duration, into any) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := time.AfterFunc(bound, cancel)
	defer silent.Stop()
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return &fault.Error{Code: fault.InvalidInput, Message: "the address of the bridge", Err: err}
	}
	r.Header = p.header.Clone()
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := p.http.Do(r)
	if err != nil {
		return &unreached{&fault.Error{
			Code:    fault.TransportFailed,
			Message: "the bridge cannot be reached",
			Err:     withoutAddress(err),
		}}
	}
	defer func() { _ = resp.Body.Close() }()
	p.active.Add(1)
	limit := int64(p.maxRead) + pollBatch
	text, err := io.ReadAll(io.LimitReader(counted{slower{resp.Body, silent, bound}, &p.active}, limit+1))
	switch {
	case err != nil:
		return &unreached{
			&fault.Error{Code: fault.TransportFailed, Message: "the answer of the bridge broke off", Err: err},
		}
	case int64(len(text)) > limit:
		return fault.New(fault.TransportFailed, "a message of the bridge is too long")
	case resp.StatusCode != http.StatusOK:
		return refusedBy(resp, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return &fault.Error{
			Code:    fault.TransportFailed,
			Message: "the bridge does not speak HTTP polling at this address",
			Err:     err,
		}
	}
	return nil
}

// withoutAddress leaves out the address that net/http puts before its errors: it
// has the session, and perhaps a token.
func withoutAddress(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// slower gives a message that is still coming its time.
type slower struct {
	r     io.Reader
	t     *time.Timer
	bound time.Duration
}

func (s slower) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.t.Reset(s.bound)
	return n, err
}

// refusedBy is the failure of a request that was answered, which another attempt
// can mend when the bridge or a relay is overloaded or starting.
func refusedBy(resp *http.Response, text []byte) error {
	e := fault.New(fault.TransportFailed, "the bridge refused the connection").With("status", resp.StatusCode)
	if resp.StatusCode == http.StatusUnauthorized {
		e.Message += ": the token is missing or wrong"
		e = e.Next("give the token of the bridge with --token-file or OUTRIDER_TOKEN")
	}
	var body struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(text, &body) == nil && body.Error.Message != "" {
		e.Message += ": " + body.Error.Message
	}
	switch resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return &unreached{e}
	}
	return e
}

func (p *polling) Close(reason string) {
	if p.ctx.Err() == nil {
		// The getter and the poster end first: nothing may overtake the farewell.
		p.cancel(fault.New(fault.TransportFailed, "the connection was closed"))
		p.wg.Wait()
		p.mu.Lock()
		batch, first := p.out.batch(), p.out.acked+1
		p.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
		defer cancel()
		_, _ = p.post(ctx, batch, first, reason)
	}
	p.Abort()
}

func (p *polling) Abort() {
	p.cancel(fault.New(fault.TransportFailed, "the connection was closed"))
	p.wg.Wait()
	p.http.CloseIdleConnections()
}
