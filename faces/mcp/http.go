package mcp

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTPOptions configure the streamable HTTP transport.
type HTTPOptions struct {
	// Token, when not empty, must come as a bearer token with every request.
	Token string
	// AllowHosts lists names, beside those of loopback, by which clients reach
	// the server. A page of another site that was rebound to this address comes
	// with a Host of its own and is refused.
	AllowHosts []string
	// AllowOrigins lists web origins whose pages may use the server, such as
	// "https://inspector.example". A request with any other Origin is refused;
	// one without is no page's.
	AllowOrigins []string
	// Idle ends an MCP session without requests. Default 30 min.
	Idle time.Duration
}

// Handler serves any number of clients over streamable HTTP, of every version of the
// protocol at one address. In versions with sessions a stream that breaks can be resumed.
func (s *Server) Handler(opts HTTPOptions) http.Handler {
	return guard(opts, s.Transport(opts.Idle))
}

// Transport is Handler without its guard, for a server that has one. idle ends
// an MCP session without requests; zero is 30 minutes.
func (s *Server) Transport(idle time.Duration) http.Handler {
	if idle <= 0 {
		idle = 30 * time.Minute
	}
	server := func(*http.Request) *sdk.Server { return s.server }
	sessions := sdk.NewStreamableHTTPHandler(server, &sdk.StreamableHTTPOptions{
		// the guard does it
		Logger: s.log, EventStore: sdk.NewMemoryEventStore(nil), SessionTimeout: idle, DisableLocalhostProtection: true,
	})
	without := sdk.NewStreamableHTTPHandler(server, &sdk.StreamableHTTPOptions{
		Logger: s.log, Stateless: true, DisableLocalhostProtection: true,
		// Without a session a client cancels a call by ending its request.
		PropagateRequestCancellation: true,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if refused := oneMessage(r); refused != nil {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write(refused.Line())
				return
			}
		}
		if sessionless(r) {
			without.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
}

// readAgain is a body of which the beginning was read.
type readAgain struct {
	io.Reader
	io.Closer
}

// oneMessage refuses a body in which something stands behind the message: the SDK reads the first value and
// drops the rest. What is wrong with the message, or is too long, the SDK says.
func oneMessage(r *http.Request) *lineRefusal {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxLine+1))
	r.Body = readAgain{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	if err != nil || len(body) > maxLine || json.Valid(body) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	var first json.RawMessage
	if d.Decode(&first) != nil {
		return nil
	}
	return moreThanOne(d.InputOffset())
}

// firstSessionless is the first protocol version without sessions. Versions are dates.
const firstSessionless = "2026-07-28"

// sessionless reports whether a request is of a version without sessions: it says the
// version, or names its method in a header, which older versions do not have.
func sessionless(r *http.Request) bool {
	if r.Header.Get("Mcp-Session-Id") != "" {
		return false
	}
	return r.Header.Get("Mcp-Protocol-Version") >= firstSessionless || r.Header.Get("Mcp-Method") != ""
}

const (
	// requestHeaders are the headers that pages may send, and exposedHeaders those that they may read.
	requestHeaders = "content-type, authorization, accept, mcp-session-id, mcp-protocol-version, mcp-method, " +
		"mcp-name, last-event-id"
	exposedHeaders = "mcp-session-id, www-authenticate"
)

// guard lets only those in who may use the server: see HTTPOptions.
func guard(opts HTTPOptions, next http.Handler) http.Handler {
	refuse := func(w http.ResponseWriter, status int, code, message string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"` + message +
			`","data":{"code":"` + code + `"}}}` + "\n"))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !knownHost(r.Host, opts.AllowHosts) {
			refuse(w, http.StatusForbidden, "permission_denied", "this host name is not one of the server's")
			return
		}
		origin := r.Header.Get("Origin")
		if len(r.Header.Values("Origin")) > 1 { // no browser sends two, and only one would be judged
			refuse(w, http.StatusForbidden, "origin_blocked", "the request has several origins")
			return
		}
		if origin != "" && !knownOrigin(origin, r.Host, opts) {
			refuse(w, http.StatusForbidden, "origin_blocked", "pages of this origin may not use the server")
			return
		}
		if origin != "" {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
			w.Header().Add("Vary", "Origin")
			if r.Method == http.MethodOptions { // a page asks before it sends; it shows no token then
				w.Header().Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
				w.Header().Set("Access-Control-Allow-Headers", requestHeaders)
				w.Header().Set("Access-Control-Allow-Private-Network", "true")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		if opts.Token != "" {
			scheme, got, ok := strings.Cut(r.Header.Get("Authorization"), " ")
			if !ok || !strings.EqualFold(scheme, "Bearer") ||
				subtle.ConstantTimeCompare([]byte(got), []byte(opts.Token)) != 1 {
				w.Header().Set("WWW-Authenticate", `Bearer realm="outrider"`)
				refuse(w, http.StatusUnauthorized, "permission_denied", "a bearer token is required")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func knownHost(host string, allowed []string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if name == "localhost" {
		return true
	}
	if ip := net.ParseIP(name); ip != nil && ip.IsLoopback() {
		return true
	}
	for _, a := range allowed {
		if strings.EqualFold(a, name) || strings.EqualFold(a, host) {
			return true
		}
	}
	return false
}

// knownOrigin accepts the origins that were allowed, and pages that come from
// the very address that they ask.
func knownOrigin(origin, host string, opts HTTPOptions) bool {
	for _, a := range opts.AllowOrigins {
		if strings.EqualFold(a, origin) {
			return true
		}
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" || !knownHost(u.Host, nil) {
		return false
	}
	_, port, _ := net.SplitHostPort(host)
	return u.Port() == port
}
