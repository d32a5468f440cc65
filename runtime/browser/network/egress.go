package network

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/truncate"
)

// Egress is a forward proxy on the loopback interface that every request of the
// browser has to take when origins are allowed or blocked. Intercepting requests
// in the browser cannot do this: redirects, sockets, workers of every kind,
// speculative loads and WebRTC have ways around it. Here each hop is decided
// again, on the name and on the address that it stands for, and nothing of a
// refused request is sent.
//
// The proxy listens on 127.0.0.1, so other programs of this machine can connect to it;
// they get no further than the pages.
type Egress struct {
	policy   *originPolicy
	upstream *url.URL
	log      *slog.Logger
	lookup   func(ctx context.Context, host string) ([]netip.Addr, error)

	listener net.Listener
	server   *http.Server
	forward  *httputil.ReverseProxy
	ctx      context.Context
	stop     context.CancelFunc
	wg       sync.WaitGroup

	mu      sync.Mutex
	blocked []primitives.BlockedRequest
	failing *fault.Error // why the upstream proxy took the last request not on
	seq     int
}

// maxBlocked bounds what is remembered of refused requests.
const maxBlocked = 500

// errRefused ends a dial that the policy forbids.
var errRefused = errors.New("refused by the origin policy")

// StartEgress starts the proxy for patterns of origins. upstream is the proxy that was
// asked for, "" for none.
func StartEgress(allow, block []string, upstream string, log *slog.Logger) (*Egress, error) {
	policy, err := newOriginPolicy(allow, block)
	if err != nil {
		return nil, err
	}
	e := &Egress{policy: policy, log: log}
	e.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}
	if err := CheckProxy(upstream); err != nil {
		return nil, err
	}
	if upstream != "" {
		u, err := url.Parse(upstream)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, fault.New(
				fault.BrowserFailed,
				"with credentials, or with allowed or blocked origins, only an http or https proxy can be used",
			)
		}
		e.upstream = u
	}
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, &fault.Error{
			Code:    fault.BrowserFailed,
			Message: "the origin policy's proxy cannot listen",
			Err:     err,
		}
	}
	e.listener = ln
	e.ctx, e.stop = context.WithCancel(context.Background())
	transport := &http.Transport{
		DialContext:           e.dialAllowed,
		DisableCompression:    true,
		ForceAttemptHTTP2:     false,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       30 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	if e.upstream != nil {
		transport.Proxy = http.ProxyURL(e.upstream)
		transport.DialContext = nil // names are the upstream proxy's to resolve
	}
	e.forward = &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.Out.Host = r.In.Host },
		Transport:      transport,
		ModifyResponse: e.checkUpstream,
		FlushInterval:  -1, // streams arrive as they are sent
		ErrorLog:       slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		// The browser sees a connection that ends, not an answer of ours that
		// would pass for the site's.
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			e.noteUpstream(err)
			panic(http.ErrAbortHandler)
		},
	}
	e.server = &http.Server{
		Handler:           e,
		ReadHeaderTimeout: 30 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return e.ctx },
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	e.wg.Go(func() { _ = e.server.Serve(ln) })
	return e, nil
}

// HasCredentials reports whether the address of a proxy holds credentials, however it is
// written. They are kept from the browser's command line, which everybody on the machine
// can read: it is given a proxy of ours, which has them.
func HasCredentials(proxy string) bool { return strings.Contains(proxy, "@") }

// CheckProxy says what is wrong with the address of a proxy that holds credentials. What it
// says does not have the address.
func CheckProxy(proxy string) error {
	if !HasCredentials(proxy) {
		return nil
	}
	u, err := url.Parse(proxy)
	web := err == nil && (u.Scheme == "http" || u.Scheme == "https")
	bare := web && strings.Trim(u.Path, "/") == "" && u.RawQuery == ""
	if bare && u.User != nil && u.Hostname() != "" && !strings.Contains(u.Host, "@") {
		return nil
	}
	return fault.New(fault.InvalidArguments, "the address of the proxy has an @ and is not understood: expected "+
		"http://NAME:PASSWORD@HOST:PORT").
		Next("in a name and a password write %40 for @, %2F for /, %3A for :, %25 for % and so on; it is not " +
			"shown here")
}

// Address is the proxy as a browser's option names it.
func (e *Egress) Address() string { return "http://" + e.listener.Addr().String() }

// Close ends the proxy and waits for what it carries.
func (e *Egress) Close() {
	if e == nil {
		return
	}
	e.stop()
	_ = e.server.Close()
	e.forward.Transport.(*http.Transport).CloseIdleConnections()
	e.wg.Wait()
}

// Flags make every request take the proxy. Nothing is resolved in the browser,
// loopback is no exception, and what does not speak to proxies has no way out.
func (e *Egress) Flags() []string {
	return []string{
		"--proxy-server=" + e.Address(),
		"--proxy-bypass-list=<-loopback>",
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
		"--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--webrtc-ip-handling-policy=disable_non_proxied_udp", // its newer name
		"--disable-quic",
		"--dns-prefetch-disable",
	}
}

// ServeHTTP is one request of the browser.
func (e *Egress) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		e.tunnel(w, r)
		return
	}
	if !r.URL.IsAbs() || r.URL.Host == "" {
		http.Error(w, "this is a proxy", http.StatusBadRequest)
		return
	}
	d := destinationOf(r.URL)
	if rule := e.policy.refuses(d); rule != "" {
		e.note(r, d, "", rule)
		panic(http.ErrAbortHandler)
	}
	e.forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, r)))
}

type requestKey struct{}

// tunnel serves CONNECT, which TLS and every WebSocket takes: decided by host
// and port before the first byte.
func (e *Egress) tunnel(w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.Host)
	number, _ := strconv.Atoi(port)
	if err != nil || number == 0 {
		http.Error(w, "expected host:port", http.StatusBadRequest)
		return
	}
	d := destination{host: strings.TrimSuffix(strings.ToLower(host), "."), port: number}
	if rule := e.policy.refuses(d); rule != "" {
		e.note(r, d, "", rule)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), requestKey{}, r), 30*time.Second)
	defer cancel()
	out, err := e.connect(ctx, r.Host)
	if err != nil {
		e.noteUpstream(err)
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer out.Close()
	in, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer in.Close()
	_ = in.SetDeadline(time.Time{})
	if _, err := io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	ended := context.AfterFunc(e.ctx, func() { _, _ = in.Close(), out.Close() })
	defer ended()
	done := make(chan struct{})
	e.wg.Go(func() {
		defer close(done)
		_, _ = io.Copy(out, buffered)
		if c, ok := out.(*net.TCPConn); ok {
			_ = c.CloseWrite()
		}
	})
	_, _ = io.Copy(in, out)
	_, _ = in.Close(), out.Close()
	<-done
}

// connect opens a tunnel's far end: by itself, or through the upstream proxy.
func (e *Egress) connect(ctx context.Context, address string) (net.Conn, error) {
	if e.upstream == nil {
		return e.dialAllowed(ctx, "tcp", address)
	}
	return dialThrough(ctx, e.upstream, address)
}

// dialAllowed resolves a host and connects to those of its addresses that the
// policy lets through.
func (e *Egress) dialAllowed(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	number, _ := strconv.Atoi(port)
	d := destination{host: strings.ToLower(host), port: number}
	r, _ := ctx.Value(requestKey{}).(*http.Request)
	var addrs []netip.Addr
	switch addr, err := netip.ParseAddr(host); {
	case err == nil:
		addrs = []netip.Addr{addr}
	case isLocalhost(d.host): // as browsers do, whatever the resolver returns
		addrs = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	default:
		addrs, err = e.lookup(ctx, host)
		if err != nil {
			return nil, err
		}
	}
	var dialer net.Dialer
	last := error(errRefused)
	for _, addr := range addrs {
		if rule := e.policy.refusesAddress(d, addr); rule != "" {
			e.note(r, d, addr.Unmap().String(), rule)
			continue
		}
		conn, err := dialer.DialContext(ctx, network, net.JoinHostPort(addr.Unmap().String(), port))
		if err == nil {
			return conn, nil
		}
		last = err
	}
	return nil, last
}

// note remembers a refused request.
func (e *Egress) note(r *http.Request, d destination, addr, rule string) {
	b := primitives.BlockedRequest{
		At:      time.Now(),
		Host:    net.JoinHostPort(d.host, strconv.Itoa(d.port)),
		Address: addr,
		Rule:    rule,
	}
	if r != nil {
		b.Method = r.Method
		if r.Method != http.MethodConnect {
			b.URL = truncate.Address(r.URL.String())
		}
		b.Vector = r.Header.Get("Sec-Fetch-Dest") // only on requests to origins that count as secure
		b.Page = truncate.Address(r.Header.Get("Referer"))
		if mode := r.Header.Get("Sec-Fetch-Mode"); mode == "navigate" {
			b.Vector = "navigation"
		}
	}
	e.mu.Lock()
	e.seq++
	b.Seq = e.seq
	e.blocked = append(e.blocked, b)
	if len(e.blocked) > maxBlocked {
		e.blocked = e.blocked[1:]
	}
	e.mu.Unlock()
	e.log.Info(
		"request refused by the origin policy",
		"method", b.Method,
		"host", b.Host,
		"address", addr,
		"rule", rule,
		"vector", b.Vector,
	)
}

// Refused lists the requests that were refused after one with its number.
func (e *Egress) Refused(seq int) (list []primitives.BlockedRequest, last int) {
	if e == nil {
		return nil, 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, b := range e.blocked {
		if b.Seq > seq {
			list = append(list, b)
		}
	}
	return list, e.seq
}

// CheckNavigation decides about an address that a caller gives. Only web
// addresses lead somewhere; files are not an origin that a list could name.
func (e *Egress) CheckNavigation(raw string) error {
	if e == nil {
		return nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil // the browser reports what is wrong with it
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
	case "about", "data", "blob", "javascript", "":
		return nil
	default:
		return originBlocked(u.Scheme+":", "scheme")
	}
	d := destinationOf(u)
	if rule := e.policy.refuses(d); rule != "" {
		return originBlocked(u.Scheme+"://"+u.Host, rule)
	}
	return nil
}

func originBlocked(origin, rule string) error {
	return fault.New(fault.OriginBlocked, "the origin is not allowed by this runtime's policy").
		With("origin", truncate.Bytes(origin, 300)).With("rule", rule).
		Next(remedyOf(rule))
}

// remedyOf is what a person can do about a rule that refused something. A block
// wins over every permission, and no flag admits another scheme.
func remedyOf(rule string) string {
	switch {
	case rule == "scheme":
		return "only http and https addresses can be reached under an origin policy"
	case strings.HasPrefix(rule, "block "):
		return "a person can take away --block-origin " + strings.TrimPrefix(rule, "block ") +
			"; --allow-origin does not help against it"
	}
	if rule == privateAddress {
		return "a person can allow the address itself, or a range that has it, with --allow-origin"
	}
	return "a person can allow it with --allow-origin"
}

// ExplainNavigation returns the cause of a navigation that failed: the request that was
// refused meanwhile, nil when there was none.
func (e *Egress) ExplainNavigation(seq int, err error) error {
	if e == nil || !errors.Is(err, fault.NavigationFailed) {
		return nil
	}
	if why := e.upstreamFailure(); why != nil {
		return why
	}
	list, _ := e.Refused(seq)
	if len(list) == 0 {
		return nil
	}
	last := list[len(list)-1]
	return originBlocked(last.Host, last.Rule)
}

// dialThrough opens a tunnel through an upstream proxy.
func dialThrough(ctx context.Context, proxy *url.URL, target string) (net.Conn, error) {
	host := proxy.Host
	if proxy.Port() == "" {
		host = net.JoinHostPort(proxy.Hostname(), strconv.Itoa(schemePorts[proxy.Scheme]))
	}
	conn, err := dialProxy(ctx, proxy, host)
	if err != nil {
		return nil, err
	}
	if d, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(d)
	}
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{}}
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		req.SetBasicAuth(u.Username(), password)
		req.Header.Set("Proxy-Authorization", req.Header.Get("Authorization"))
		req.Header.Del("Authorization")
	}
	if err := req.Write(conn); err != nil {
		conn.Close()
		return nil, err
	}
	if err := readConnected(conn); err != nil {
		conn.Close()
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	return conn, nil
}
