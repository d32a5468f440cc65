package browser

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// HTTPRequest is a request that this process makes with the cookies of a browser context. No page
// has part in it.
type HTTPRequest struct {
	Method  string
	URL     string
	Headers []Header
	Body    []byte
	// Private are the names of headers that no other origin gets, and PrivateBody says it of the body.
	Private     []string
	PrivateBody bool
	// MaxRedirects is how many redirects are followed; the answer of the next one is returned.
	MaxRedirects int
	// MaxBody bounds the body of the answer, in bytes.
	MaxBody int
}

// HTTPAnswer is the answer. Cookies that it set are in the browser context.
type HTTPAnswer struct {
	Status     int
	StatusText string
	URL        string // of the last request
	Redirects  int
	Headers    []Header
	Cookies    []string // the names of those that were set
	Body       []byte
}

// Request makes a request with the cookies of a browser context, "" for the profile's own. It goes
// where the browser's own go: through its proxy, within the origins that are allowed.
func (b *Browser) Request(ctx context.Context, contextID string, q HTTPRequest) (HTTPAnswer, error) {
	if b.offline != nil {
		return HTTPAnswer{}, fault.New(
			fault.CapabilityUnavailable, "the browser is offline: everything is answered from a recording",
		)
	}
	agent, err := b.agent.Read(ctx, b.client)
	if err != nil {
		return HTTPAnswer{}, err
	}
	x := &exchange{
		browser: b,
		jar:     cdp.BrowserContext{Client: b.client, ID: b.ownContext(contextID)},
		agent:   agent,
		q:       q,
	}
	for _, c := range b.routesOf(contextID).Authorized() {
		x.keys = append(x.keys, c)
	}
	return x.do(ctx)
}

// exchange is a request with its redirects.
type exchange struct {
	browser *Browser
	jar     cdp.BrowserContext
	agent   string
	keys    []Credentials
	q       HTTPRequest
	cookies []string
}

func (x *exchange) do(ctx context.Context) (HTTPAnswer, error) {
	at, err := url.Parse(x.q.URL)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return HTTPAnswer{}, fault.New(fault.InvalidInput, "the address is no address of the web").
			With("url", fault.Clip(address.WithoutUser(x.q.URL), 300))
	}
	at.Fragment, at.User = "", nil
	for hops := 0; ; hops++ {
		answer, next, err := x.hop(ctx, at, hops)
		if err != nil || next == nil || hops >= x.q.MaxRedirects {
			answer.Redirects = hops
			answer.Cookies = x.cookies
			return answer, err
		}
		if address.Origin(next.String()) != address.Origin(at.String()) {
			x.q.Headers = slices.DeleteFunc(slices.Clone(x.q.Headers), func(h Header) bool {
				return strings.EqualFold(h.Name, "authorization") || slices.ContainsFunc(
					x.q.Private, func(name string) bool { return strings.EqualFold(name, h.Name) },
				)
			})
			if x.q.PrivateBody && len(x.q.Body) > 0 {
				return answer, fault.New(
					fault.PermissionDenied, "the answer leads to another origin, and the body has a secret",
				).With("origin", address.Origin(next.String()))
			}
		}
		at = next
	}
}

// hop makes one request, and says where its answer leads.
func (x *exchange) hop(ctx context.Context, at *url.URL, hops int) (HTTPAnswer, *url.URL, error) {
	if err := x.browser.egress.CheckNavigation(at.String()); err != nil {
		return HTTPAnswer{}, nil, err
	}
	answer, err := x.send(ctx, at, Credentials{})
	if err != nil {
		return HTTPAnswer{}, nil, err
	}
	key, ok := x.keyFor(at, answer)
	if ok {
		answer.Body.Close()
		answer, err = x.send(ctx, at, key)
		if err != nil {
			return HTTPAnswer{}, nil, err
		}
	}
	defer answer.Body.Close()
	if err := x.keep(ctx, at, answer); err != nil {
		return HTTPAnswer{}, nil, err
	}
	out := HTTPAnswer{
		Status:     answer.StatusCode,
		StatusText: strings.TrimSpace(strings.TrimPrefix(answer.Status, fmt.Sprint(answer.StatusCode))),
		URL:        at.String(),
	}
	for name, values := range answer.Header {
		for _, value := range values {
			out.Headers = append(out.Headers, Header{Name: name, Value: value})
		}
	}
	next, err := x.redirect(at, answer)
	if err != nil || next != nil && hops < x.q.MaxRedirects {
		return out, next, err
	}
	out.Body, err = io.ReadAll(io.LimitReader(answer.Body, int64(x.q.MaxBody)+1))
	if err != nil {
		return out, nil, requestFailed(ctx, at, err)
	}
	if len(out.Body) > x.q.MaxBody {
		return out, nil, fault.New(
			fault.PayloadTooLarge, "the body of the answer has more than %d bytes", x.q.MaxBody,
		).With("url", at.String()).With("status", out.Status)
	}
	return out, next, nil
}

// send makes one request, as it would be made without redirects.
func (x *exchange) send(ctx context.Context, at *url.URL, key Credentials) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, x.q.Method, at.String(), bytes.NewReader(x.q.Body))
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "the request cannot be made: %v", err)
	}
	if len(x.q.Body) == 0 {
		q.Body = http.NoBody
		q.GetBody = nil
	}
	q.Header.Set("User-Agent", x.agent)
	q.Header.Set("Accept", "*/*")
	if locale := x.browser.opts.Locale; locale != "" {
		q.Header.Set("Accept-Language", locale)
	}
	for _, h := range x.q.Headers {
		q.Header.Set(h.Name, h.Value)
	}
	cookies, err := x.cookiesFor(ctx, at)
	if err != nil {
		return nil, err
	}
	if cookies != "" {
		q.Header.Set("Cookie", cookies)
	}
	if key.Name != "" || key.Password != "" {
		q.SetBasicAuth(key.Name, key.Password)
	}
	_, refused := x.browser.egress.Refused(0)
	through := x.browser.requestTransport(at)
	answer, err := through.RoundTrip(q)
	if err == nil {
		return answer, nil
	}
	failed := fault.New(fault.NavigationFailed, "the request failed")
	if cause := x.browser.egress.ExplainNavigation(refused, failed); cause != nil {
		return nil, cause
	}
	return nil, requestFailed(ctx, at, err)
}

func requestFailed(ctx context.Context, at *url.URL, err error) error {
	if ctx.Err() != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return context.Cause(ctx)
		}
		return fault.New(fault.Timeout, "the request did not end in time").With("url", at.String())
	}
	var inside *url.Error
	if errors.As(err, &inside) {
		err = inside.Err
	}
	return fault.New(fault.PageFetchFailed, "the request failed: %s", fault.Clip(err.Error(), 300)).
		With("url", at.String())
}

// requestTransport goes where the browser's requests go.
func (b *Browser) requestTransport(to *url.URL) http.RoundTripper {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DisableKeepAlives:     true,
		TLSHandshakeTimeout:   30 * time.Second,
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     true,
	}
	decides := len(b.opts.AllowOrigins)+len(b.opts.BlockOrigins) > 0
	proxy := b.opts.Proxy
	if b.egress != nil {
		proxy = b.egress.Address()
	}
	if proxy != "" {
		if !strings.Contains(proxy, "://") {
			proxy = "http://" + proxy
		}
		through, err := url.Parse(proxy)
		t.Proxy = func(*http.Request) (*url.URL, error) { return through, err }
		if !decides && loopback(to.Hostname()) {
			t.Proxy = nil // as the browser does
		}
	}
	if b.insecure.Trusts(to.String()) {
		t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the user named the origin
	}
	return t
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// redirect is where an answer leads, nil when it does not. What is sent there is what the standard
// of fetch says.
func (x *exchange) redirect(at *url.URL, answer *http.Response) (*url.URL, error) {
	switch answer.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	to := answer.Header.Get("Location")
	if to == "" {
		return nil, nil
	}
	next, err := at.Parse(to)
	if err != nil || next.Host == "" || next.Scheme != "http" && next.Scheme != "https" {
		return nil, fault.New(fault.PageFetchFailed, "the answer leads to no address of the web").
			With("url", at.String()).With("location", fault.Clip(to, 300))
	}
	next.Fragment, next.User = "", nil
	seeOther := answer.StatusCode == http.StatusSeeOther && x.q.Method != http.MethodHead
	moved := answer.StatusCode < http.StatusSeeOther && x.q.Method == http.MethodPost
	if x.q.MaxRedirects > 0 && (seeOther || moved) {
		x.q.Method, x.q.Body = http.MethodGet, nil
		x.q.Headers = slices.DeleteFunc(slices.Clone(x.q.Headers), func(h Header) bool {
			return strings.HasPrefix(strings.ToLower(h.Name), "content-")
		})
	}
	return next, nil
}

// keyFor is what a server gets that asks for a name and a password.
func (x *exchange) keyFor(at *url.URL, answer *http.Response) (Credentials, bool) {
	if answer.StatusCode != http.StatusUnauthorized {
		return Credentials{}, false
	}
	basic := slices.ContainsFunc(answer.Header.Values("WWW-Authenticate"), func(line string) bool {
		scheme, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		return strings.EqualFold(scheme, "basic")
	})
	i := slices.IndexFunc(x.keys, func(c Credentials) bool { return c.Origin == address.Origin(at.String()) })
	own := slices.ContainsFunc(x.q.Headers, func(h Header) bool { return strings.EqualFold(h.Name, "authorization") })
	if !basic || i < 0 || own {
		return Credentials{}, false
	}
	return x.keys[i], true
}

// jarCookie is a cookie of the browser context.
type jarCookie struct {
	Name      string          `json:"name"`
	Value     string          `json:"value"`
	Domain    string          `json:"domain"` // begins with a dot when hosts below have it too
	Path      string          `json:"path"`
	Secure    bool            `json:"secure"`
	Expires   float64         `json:"expires"`
	Partition json.RawMessage `json:"partitionKey"`
}

// cookiesFor are the cookies of the browser context for an address, as the header has them.
func (x *exchange) cookiesFor(ctx context.Context, at *url.URL) (string, error) {
	var out struct {
		Cookies []jarCookie `json:"cookies"`
	}
	if err := x.jar.Do(ctx, "Storage.getCookies", nil, &out); err != nil {
		return "", cdp.Explain(err, "reading cookies")
	}
	sent := slices.DeleteFunc(out.Cookies, func(c jarCookie) bool { return !c.goesTo(at) })
	slices.SortStableFunc(sent, func(a, b jarCookie) int { return len(b.Path) - len(a.Path) }) // RFC 6265, 5.4
	var pairs []string
	for _, c := range sent {
		pairs = append(pairs, strings.TrimPrefix(c.Name+"="+c.Value, "="))
	}
	return strings.Join(pairs, "; "), nil
}

// goesTo reports whether a request to an address has the cookie, by RFC 6265, 5.4.
func (c jarCookie) goesTo(at *url.URL) bool {
	if len(c.Partition) > 0 && string(c.Partition) != "null" {
		return false // it belongs to pages of one site
	}
	host := address.ASCIIHost(strings.ToLower(at.Hostname()))
	domain := strings.ToLower(c.Domain)
	below, wide := strings.CutPrefix(domain, ".")
	if host != below && (!wide || !strings.HasSuffix(host, domain)) {
		return false
	}
	if c.Secure && at.Scheme != "https" && !loopback(host) {
		return false
	}
	path := at.EscapedPath()
	if path == "" {
		path = "/"
	}
	return path == c.Path || strings.HasPrefix(path, strings.TrimSuffix(c.Path, "/")+"/")
}

// keep gives the browser context the cookies that an answer sets. One that the browser refuses, such
// as one for another site, is left out, as it would be of a page.
func (x *exchange) keep(ctx context.Context, at *url.URL, answer *http.Response) error {
	for _, line := range answer.Header.Values("Set-Cookie") {
		c, err := http.ParseSetCookie(line)
		if err != nil || !domainOf(c.Domain, at) {
			continue
		}
		one := map[string]any{
			"url":      at.String(),
			"name":     c.Name,
			"value":    c.Value,
			"secure":   c.Secure,
			"httpOnly": c.HttpOnly,
		}
		if c.Domain != "" && net.ParseIP(at.Hostname()) == nil {
			one["domain"] = c.Domain
		}
		if strings.HasPrefix(c.Path, "/") {
			one["path"] = c.Path
		} else {
			one["path"] = defaultPath(at)
		}
		switch c.SameSite {
		case http.SameSiteLaxMode:
			one["sameSite"] = "Lax"
		case http.SameSiteStrictMode:
			one["sameSite"] = "Strict"
		case http.SameSiteNoneMode:
			one["sameSite"] = "None"
		}
		switch {
		case c.MaxAge < 0 || c.MaxAge == 0 && !c.Expires.IsZero() && c.Expires.Before(time.Now()):
			one["expires"] = 1 // it is gone
		case c.MaxAge > 0:
			one["expires"] = time.Now().Unix() + int64(c.MaxAge)
		case !c.Expires.IsZero():
			one["expires"] = c.Expires.Unix()
		}
		err = x.jar.Do(ctx, "Storage.setCookies", map[string]any{"cookies": []any{one}}, nil)
		var refused *cdp.Error
		if errors.As(err, &refused) {
			continue
		}
		if err != nil {
			return cdp.Explain(err, "setting cookies")
		}
		if !slices.Contains(x.cookies, c.Name) {
			x.cookies = append(x.cookies, c.Name)
		}
	}
	return nil
}

// domainOf reports whether a host may set a cookie for a domain, by RFC 6265, 5.3. A domain of one label
// is nobody's own.
func domainOf(domain string, at *url.URL) bool {
	host := address.ASCIIHost(strings.ToLower(at.Hostname()))
	domain = address.ASCIIHost(strings.TrimPrefix(strings.ToLower(domain), "."))
	if domain == "" || domain == host {
		return true
	}
	return strings.Contains(domain, ".") && net.ParseIP(host) == nil && strings.HasSuffix(host, "."+domain)
}

// defaultPath is the path of a cookie that names none, by RFC 6265, 5.1.4.
func defaultPath(at *url.URL) string {
	path := at.EscapedPath()
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}
