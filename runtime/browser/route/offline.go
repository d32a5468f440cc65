package route

import (
	"sync"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// OfflineFlags keep everything that is not answered here, such as a WebSocket, from the network: the proxy
// does not exist.
var OfflineFlags = []string{
	"--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND",
}

// Offline answers all requests of a browser, one after the other, in the order in which they come. It does
// not know where answers come from.
type Offline struct {
	client *cdp.Client
	answer func(Request) Answer

	mu    sync.Mutex
	queue []Request
	busy  bool
	work  sync.WaitGroup
}

// NewOffline answers with what answer returns. It is called for one request at a time.
func NewOffline(client *cdp.Client, answer func(Request) Answer) *Offline {
	return &Offline{client: client, answer: answer}
}

// SessionCommands hold the requests of a new session. Service workers are left out: what they fetch is not seen.
func (o *Offline) SessionCommands(s *cdp.Session) []cdp.Command {
	if o == nil {
		return nil
	}
	return []cdp.Command{
		{Session: s.ID, Method: "Fetch.enable", Params: []byte(`{"patterns":[{"urlPattern":"*"}]}`)},
		{Session: s.ID, Method: "Network.setBypassServiceWorker", Params: []byte(`{"bypass":true}`)},
		{Session: s.ID, Method: "Network.setCacheDisabled", Params: []byte(`{"cacheDisabled":true}`)},
	}
}

// HandleEvent takes Fetch.requestPaused. The reader calls it.
func (o *Offline) HandleEvent(s *cdp.Session, params []byte) {
	q, ok := read(s, params)
	if !ok {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = append(o.queue, q)
	if !o.busy {
		o.busy = true
		o.work.Go(o.serve)
	}
}

// serve answers until nothing waits.
func (o *Offline) serve() {
	for {
		o.mu.Lock()
		if len(o.queue) == 0 {
			o.busy = false
			o.mu.Unlock()
			return
		}
		q := o.queue[0]
		o.queue = o.queue[1:]
		o.mu.Unlock()
		o.client.Post(q.answered(o.client, o.answer(q), nil))
	}
}

// Wait returns when nothing is being answered. No event comes after it.
func (o *Offline) Wait() {
	if o != nil {
		o.work.Wait()
	}
}
