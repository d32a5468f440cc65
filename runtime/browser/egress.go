package browser

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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// fence is a forward proxy on the loopback interface that every request of the
// browser has to take when origins are allowed or blocked. Intercepting requests
// in the browser cannot do this: redirects, sockets, workers of every kind,
// speculative loads and WebRTC have ways around it. Here each hop is decided
// again, on the name and on the address that it stands for, and nothing of a
// refused request is sent.
//
// The proxy listens on 127.0.0.1, so other programs of this machine can reach it;
// they get no further than the pages.
type fence struct {
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
	seq     int
}

// maxBlocked bounds what is remembered of refused requests.
const maxBlocked = 500

// errRefused ends a dial that the policy forbids.
var errRefused = errors.New("refused by the origin policy")

// newFence starts the proxy. upstream is the proxy that was asked for, "" for
// none.
func newFence(policy *originPolicy, upstream string, log *slog.Logger) (*fence, error) {
	f := &fence{policy: policy, log: log}
	f.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}
	if upstream != "" {
		u, err := url.Parse(upstream)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, fault.New(fault.BrowserFailed, "with credentials, or with allowed or blocked origins, only an http or https proxy can be used")
		}
		f.upstream = u
	}
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, &fault.Error{Code: fault.BrowserFailed, Message: "the origin policy's proxy cannot listen", Err: err}
	}
	f.listener = ln
	f.ctx, f.stop = context.WithCancel(context.Background())
	transport := &http.Transport{
		DialContext: f.dialAllowed, DisableCompression: true, ForceAttemptHTTP2: false, MaxIdleConnsPerHost: 8,
		IdleConnTimeout: 30 * time.Second, ExpectContinueTimeout: time.Second,
	}
	if f.upstream != nil {
		transport.Proxy = http.ProxyURL(f.upstream)
		transport.DialContext = nil // names are the upstream proxy's to resolve
	}
	f.forward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.Out.Host = r.In.Host },
		Transport:     transport,
		FlushInterval: -1, // streams arrive as they are sent
		ErrorLog:      slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		// The browser sees a connection that ends, not an answer of ours that
		// would pass for the site's.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	f.server = &http.Server{
		Handler: f, ReadHeaderTimeout: 30 * time.Second, BaseContext: func(net.Listener) context.Context { return f.ctx },
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	f.wg.Go(func() { _ = f.server.Serve(ln) })
	return f, nil
}

// proxySecret reports whether the address of a proxy holds credentials. They are kept
// from the browser's command line, which everybody on the machine can read: it is
// given a proxy of ours, which has them.
func proxySecret(proxy string) bool {
	u, err := url.Parse(proxy)
	return err == nil && u.User != nil
}

// raiseFence starts the proxy when the options ask for a policy, or for another
// proxy with credentials, and makes the browser use it.
func (b *Browser) raiseFence() error {
	secret := proxySecret(b.opts.Proxy)
	decides := len(b.opts.AllowOrigins)+len(b.opts.BlockOrigins) > 0
	if !decides && !secret {
		return nil
	}
	policy, err := newOriginPolicy(b.opts.AllowOrigins, b.opts.BlockOrigins)
	if err != nil {
		return err
	}
	if b.opts.Attach != "" {
		return fault.New(fault.BrowserFailed, "origins can be allowed and blocked only in a browser that is launched, not in one that is attached to")
	}
	if b.fence, err = newFence(policy, b.opts.Proxy, b.log); err != nil {
		return err
	}
	b.opts.Proxy = ""
	if !decides {
		b.opts.Proxy = "http://" + b.fence.listener.Addr().String()
		return nil
	}
	b.opts.ExtraArgs = append(slices.Clone(b.opts.ExtraArgs), b.fence.flags()...)
	return nil
}

// close ends the proxy and waits for what it carries.
func (f *fence) close() {
	if f == nil {
		return
	}
	f.stop()
	_ = f.server.Close()
	f.forward.Transport.(*http.Transport).CloseIdleConnections()
	f.wg.Wait()
}

// flags make every request take the proxy. Nothing is resolved in the browser,
// loopback is no exception, and what does not speak to proxies has no way out.
func (f *fence) flags() []string {
	return []string{
		"--proxy-server=http://" + f.listener.Addr().String(),
		"--proxy-bypass-list=<-loopback>",
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
		"--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--webrtc-ip-handling-policy=disable_non_proxied_udp", // its newer name
		"--disable-quic",
		"--dns-prefetch-disable",
	}
}

// ServeHTTP is one request of the browser.
func (f *fence) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		f.tunnel(w, r)
		return
	}
	if !r.URL.IsAbs() || r.URL.Host == "" {
		http.Error(w, "this is a proxy", http.StatusBadRequest)
		return
	}
	d := destinationOf(r.URL)
	if rule := f.policy.refuses(d); rule != "" {
		f.note(r, d, "", rule)
		panic(http.ErrAbortHandler)
	}
	f.forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, r)))
}

type requestKey struct{}

// tunnel serves CONNECT, which TLS and every WebSocket takes: decided by host
// and port before the first byte.
func (f *fence) tunnel(w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.Host)
	number, _ := strconv.Atoi(port)
	if err != nil || number == 0 {
		http.Error(w, "expected host:port", http.StatusBadRequest)
		return
	}
	d := destination{host: strings.TrimSuffix(strings.ToLower(host), "."), port: number}
	if rule := f.policy.refuses(d); rule != "" {
		f.note(r, d, "", rule)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), requestKey{}, r), 30*time.Second)
	defer cancel()
	out, err := f.connect(ctx, r.Host)
	if err != nil {
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
	ended := context.AfterFunc(f.ctx, func() { _, _ = in.Close(), out.Close() })
	defer ended()
	done := make(chan struct{})
	f.wg.Go(func() {
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
func (f *fence) connect(ctx context.Context, address string) (net.Conn, error) {
	if f.upstream == nil {
		return f.dialAllowed(ctx, "tcp", address)
	}
	return dialThrough(ctx, f.upstream, address)
}

// dialAllowed resolves a host and connects to those of its addresses that the
// policy lets through.
func (f *fence) dialAllowed(ctx context.Context, network, address string) (net.Conn, error) {
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
	case isLocalhost(d.host): // as browsers do, whatever the resolver says
		addrs = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	default:
		if addrs, err = f.lookup(ctx, host); err != nil {
			return nil, err
		}
	}
	var dialer net.Dialer
	last := error(errRefused)
	for _, addr := range addrs {
		if rule := f.policy.refusesAddress(d, addr); rule != "" {
			f.note(r, d, addr.Unmap().String(), rule)
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
func (f *fence) note(r *http.Request, d destination, addr, rule string) {
	b := primitives.BlockedRequest{At: time.Now(), Host: net.JoinHostPort(d.host, strconv.Itoa(d.port)), Address: addr, Rule: rule}
	if r != nil {
		b.Method = r.Method
		if r.Method != http.MethodConnect {
			b.URL = address(r.URL.String())
		}
		b.Vector = r.Header.Get("Sec-Fetch-Dest") // only on requests to origins that count as secure
		b.Page = address(r.Header.Get("Referer"))
		if mode := r.Header.Get("Sec-Fetch-Mode"); mode == "navigate" {
			b.Vector = "navigation"
		}
	}
	f.mu.Lock()
	f.seq++
	b.Seq = f.seq
	f.blocked = append(f.blocked, b)
	if len(f.blocked) > maxBlocked {
		f.blocked = f.blocked[1:]
	}
	f.mu.Unlock()
	f.log.Info("request refused by the origin policy", "method", b.Method, "host", b.Host, "address", addr, "rule", rule, "vector", b.Vector)
}

func (f *fence) since(seq int) (list []primitives.BlockedRequest, last int) {
	if f == nil {
		return nil, 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.blocked {
		if b.Seq > seq {
			list = append(list, b)
		}
	}
	return list, f.seq
}

// refusesNavigation decides about an address that a caller asks for. Only web
// addresses lead somewhere; files are not an origin that a list could name.
func (f *fence) refusesNavigation(raw string) error {
	if f == nil {
		return nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil // the browser says what is wrong with it
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
	case "about", "data", "blob", "javascript", "":
		return nil
	default:
		return originBlocked(u.Scheme+":", "scheme")
	}
	d := destinationOf(u)
	if rule := f.policy.refuses(d); rule != "" {
		return originBlocked(u.Scheme+"://"+u.Host, rule)
	}
	return nil
}

func originBlocked(origin, rule string) error {
	return fault.New(fault.OriginBlocked, "the origin is not allowed by this runtime's policy").With("origin", cutText(origin, 300)).With("rule", rule).
		Next("a person can allow it with --allow-origin")
}

// blockedSince explains a navigation that failed: with the request that was
// refused meanwhile, if there was one.
func (f *fence) blockedSince(seq int, err error) error {
	if f == nil || !errors.Is(err, fault.NavigationFailed) {
		return err
	}
	list, _ := f.since(seq)
	if len(list) == 0 {
		return err
	}
	last := list[len(list)-1]
	return originBlocked(last.Host, last.Rule)
}

// dialThrough asks an upstream proxy for a tunnel.
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
