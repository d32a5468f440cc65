package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/runtime/browser"
)

// network answers requests with what a recording has.
type network struct {
	from *record.Recording

	entries  browser.Recorded[record.Request]
	mu       sync.Mutex
	unknown  map[string]bool // requests that the recording does not have
	unkept   map[string]bool // whose bodies it does not have
	finished bool
	arrivals []arrival      // not waited for yet, in the order in which they ended
	answered map[string]int // requests, by method and address
	changed  chan struct{}  // closed with the next answer
}

// arrival is a request that had ended at a moment of the recording.
type arrival struct {
	key   string
	count int     // of its method and address until then
	ended float64 // milliseconds since the recording began
}

// unseen are the types of requests whose answers no page waits for: the browser may do them at another time, or not at
// all, such as that for an icon of a site.
var unseen = map[string]bool{
	"other": true, "ping": true, "manifest": true, "prefetch": true, "cspviolationreport": true,
}

func newNetwork(r *record.Recording) *network {
	n := &network{
		from:     r,
		unknown:  map[string]bool{},
		unkept:   map[string]bool{},
		answered: map[string]int{},
		changed:  make(chan struct{}),
	}
	var requests []record.Request
	for _, e := range r.Events {
		if e.Kind != record.KindRequest {
			continue
		}
		if q, err := record.Of[record.Request](e); err == nil && q.Type != "websocket" {
			k := key(q.Method, q.URL)
			requests = append(requests, q)
			if unseen[q.Type] || !strings.HasPrefix(q.URL, "http") { // data: and blob: ask nobody
				continue
			}
			n.arrivals = append(n.arrivals, arrival{
				key:   k,
				ended: float64(ended(q).Sub(r.Header.Started).Microseconds()) / 1000,
			})
		}
	}
	slices.SortStableFunc(n.arrivals, func(a, b arrival) int { return cmp.Compare(a.ended, b.ended) })
	counts := map[string]int{}
	for i := range n.arrivals {
		a := &n.arrivals[i]
		counts[a.key]++
		a.count = counts[a.key]
	}
	// They were recorded when they ended.
	slices.SortStableFunc(requests, func(a, b record.Request) int { return a.Began.Compare(b.Began) })
	for _, q := range requests {
		body, err := r.Data(q.RequestBody)
		if err != nil {
			body = nil
		}
		asked := browser.Request{Method: q.Method, URL: withoutUser(q.URL), Body: body}
		_ = json.Unmarshal(q.RequestHeaders, &asked.Headers) // none without
		n.entries.Add(asked, q.Began, ended(q), q)
	}
	return n
}

func ended(q record.Request) time.Time {
	return q.Began.Add(time.Duration(q.DurationMS * float64(time.Millisecond)))
}

func key(method, address string) string { return method + " " + withoutUser(address) }

// withoutUser is an address as requests are compared by.
func withoutUser(address string) string {
	if u, err := url.Parse(address); err == nil {
		u.Fragment = ""
		u.RawFragment = ""
		u.User = nil
		address = u.String()
	}
	return address
}

// answer is the recorded answer.
func (n *network) answer(q browser.Request) browser.Answer {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := key(q.Method, q.URL)
	q.URL = withoutUser(q.URL)
	e, ok := n.entries.Next(q)
	if !ok {
		if !n.finished {
			n.unknown[k] = true
		}
		return browser.Answer{Failure: "InternetDisconnected"}
	}
	n.answered[k]++
	close(n.changed)
	n.changed = make(chan struct{})
	if e.State == "failed" && e.Status == 0 {
		return browser.Answer{Failure: reasonOf(e.Failure)}
	}
	out := browser.Answer{Status: e.Status, Headers: n.headers(e)}
	if e.Body != "" {
		data, err := n.from.Data(e.Body)
		if err != nil {
			n.unkept[k] = true
			return browser.Answer{Failure: "Failed"}
		}
		out.Body = data
	} else if e.BodyMissing != "" {
		n.unkept[k] = true
		return browser.Answer{Failure: "Failed"}
	}
	return out
}

// arrive waits, for limit at most, until the requests were answered that had ended at a moment of the
// recording, and returns how many milliseconds before that moment the last of them had. What does not come
// is not waited for again.
func (n *network) arrive(ctx context.Context, moment float64, limit time.Duration) (since float64) {
	if n == nil {
		return 0
	}
	late := time.NewTimer(limit)
	defer late.Stop()
	for {
		n.mu.Lock()
		for len(n.arrivals) > 0 && n.arrivals[0].ended <= moment &&
			n.answered[n.arrivals[0].key] >= n.arrivals[0].count {
			since = moment - n.arrivals[0].ended
			n.arrivals = n.arrivals[1:]
		}
		changed := n.changed
		waiting := len(n.arrivals) > 0 && n.arrivals[0].ended <= moment
		n.mu.Unlock()
		if !waiting {
			return since
		}
		select {
		case <-changed:
			continue
		case <-late.C:
		case <-ctx.Done():
		}
		n.mu.Lock()
		n.arrivals = slices.DeleteFunc(n.arrivals, func(a arrival) bool { return a.ended <= moment })
		n.mu.Unlock()
		return since
	}
}

// end says that what is requested from here on is of no call.
func (n *network) end() {
	if n != nil {
		n.mu.Lock()
		n.finished = true
		n.mu.Unlock()
	}
}

// lacks lists what could not be answered.
func (n *network) lacks() []string {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []string
	for _, k := range slices.Sorted(maps.Keys(n.unknown)) {
		if !strings.HasSuffix(k, "/favicon.ico") {
			out = append(out, "the recording has no request "+k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(n.unkept)) {
		out = append(out, "the recording has no body of "+k)
	}
	return out
}

// headers are those of an answer that hold no secret.
func (n *network) headers(e record.Request) []browser.Header {
	var all map[string]string
	_ = json.Unmarshal(e.ResponseHeaders, &all) // none without
	out := []browser.Header{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.EqualFold(name, "set-cookie") {
			for line := range strings.SplitSeq(all[name], "\n") {
				out = append(out, browser.Header{Name: name, Value: cookie(line, e.Began)})
			}
			continue
		}
		if strings.Contains(all[name], "{{secret:") {
			continue
		}
		for value := range strings.SplitSeq(all[name], "\n") {
			out = append(out, browser.Header{Name: name, Value: value})
		}
	}
	return browser.Resent(out)
}

// cookie is a line of Set-Cookie as it is sent again. A value that is not recorded is the same in each replay.
// One that was to expire later does not: the recording may be older.
func cookie(line string, began time.Time) string {
	line = strings.ReplaceAll(line, record.CookieValue, "recorded")
	parts := strings.Split(line, ";")
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		until, err := http.ParseTime(strings.ReplaceAll(value, "-", " "))
		return strings.EqualFold(name, "expires") && err == nil && until.After(began)
	}), ";")
}

// reasonOf is the failure that the browser reported as it takes one.
func reasonOf(failure string) string {
	for code, reason := range map[string]string{
		"CONNECTION_REFUSED":    "ConnectionRefused",
		"CONNECTION_RESET":      "ConnectionReset",
		"CONNECTION_CLOSED":     "ConnectionClosed",
		"ABORTED":               "Aborted",
		"TIMED_OUT":             "TimedOut",
		"NAME_NOT_RESOLVED":     "NameNotResolved",
		"INTERNET_DISCONNECTED": "InternetDisconnected",
		"ADDRESS_UNREACHABLE":   "AddressUnreachable",
		"ACCESS_DENIED":         "AccessDenied",
		"BLOCKED_BY_CLIENT":     "BlockedByClient",
		"BLOCKED_BY_RESPONSE":   "BlockedByResponse",
		"CONNECTION_FAILED":     "ConnectionFailed",
	} {
		if strings.Contains(failure, code) {
			return reason
		}
	}
	return "Failed"
}

// script makes a document that is replayed offline see the time of the recording and the same random numbers
// each time. offset is what is added to the clock, in milliseconds.
func script(offset int64) string {
	return fmt.Sprintf(fixed, offset)
}

const fixed = `(() => {
  const offset = %d;
  const RealDate = Date;
  const now = () => RealDate.now() + offset;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made),
    apply: () => new RealDate(now()).toString(),
    get: (target, name) => name === 'now' ? now : Reflect.get(target, name),
  });
  let seed = 0x2545f491;
  const next = () => { seed ^= seed << 13; seed ^= seed >>> 17; seed ^= seed << 5; return (seed >>> 0) / 4294967296; };
  Math.random = next;
  if (globalThis.Crypto) {
    Crypto.prototype.getRandomValues = function (array) {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let i = 0; i < bytes.length; i++) bytes[i] = next() * 256;
      return array;
    };
    if (Crypto.prototype.randomUUID) Crypto.prototype.randomUUID = function () {
      const b = this.getRandomValues(new Uint8Array(16));
      b[6] = b[6] & 15 | 64; b[8] = b[8] & 63 | 128;
      const h = [...b].map((n) => n.toString(16).padStart(2, '0')).join('');
      return h.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    };
  }
})();`
