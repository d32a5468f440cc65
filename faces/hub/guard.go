package hub

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// guard decides whose connections are accepted.
//
// Every web page the user visits can send requests to the loopback interface.
// What it cannot do is leave out or forge Origin and Host: a foreign Origin is
// a page, and a foreign Host is a page whose name was pointed at 127.0.0.1. A
// page that knows the pairing token has it from the user.
func (h *Hub) guard(next http.Handler) http.Handler {
	listen, _, _ := net.SplitHostPort(h.opts.Listen)
	local := loopback(listen)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if local && !h.hostAllowed(r.Host) {
			fail(
				w, http.StatusForbidden,
				fault.New(fault.PermissionDenied, "the Host of the request is not a name of this machine"),
			)
			return
		}
		paired := forRuntimes(r.URL.Path) && same(r.URL.Query().Get("token"), h.opts.Pairing)
		if len(r.Header.Values("Origin")) > 1 { // no browser sends two, and only one would be judged
			fail(w, http.StatusForbidden, fault.New(fault.OriginBlocked, "the request has several origins"))
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			if !paired && !h.originAllowed(origin, r) {
				remedy := remedyOf(origin, r.URL.Path)
				if h.refusals.first(origin) {
					h.log.Warn(
						"a foreign origin was refused",
						"origin", clip(origin),
						"path", clip(r.URL.Path),
						"remedy", remedy,
					)
				}
				fail(w, http.StatusForbidden, fault.New(
					fault.OriginBlocked, "the origin of the request is not allowed",
				).With("origin", clip(origin)).Next(remedy))
				return
			}
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
			w.Header().Add("Vary", "Origin")
			if r.Method == http.MethodOptions {
				w.Header().Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
				w.Header().Set("Access-Control-Allow-Headers", requestHeaders)
				w.Header().Set("Access-Control-Allow-Private-Network", "true")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		if r.URL.Path != "/health" && !paired && !h.tokenAllowed(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, http.StatusUnauthorized, fault.New(fault.PermissionDenied, "the request has no valid token"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

const (
	// requestHeaders are the headers that pages may send, and exposedHeaders those that they may read: those of the
	// Model Context Protocol beside the usual ones.
	requestHeaders = "content-type, authorization, accept, mcp-session-id, mcp-protocol-version, mcp-method, " +
		"mcp-name, last-event-id"
	exposedHeaders = "mcp-session-id, www-authenticate"

	extensionPath   = "/extension"
	itemsPath       = extensionPath + "/items"
	extensionScheme = "chrome-extension://"
)

// forRuntimes reports whether a path is one that runtimes connect to.
func forRuntimes(path string) bool { return path == extensionPath || path == itemsPath }

// remedyOf says how to admit an origin that was refused.
func remedyOf(origin, path string) string {
	switch {
	case !forRuntimes(path):
		return "allow it with --allow-web-origin if it is yours"
	case strings.HasPrefix(origin, extensionScheme):
		return "give the extension the pairing address that the hub prints, or start the hub with --allow-extension"
	}
	return "if it is the extension on this page, give it the pairing address that the hub prints"
}

// PairingURL is the address to give to the browser extension. It holds the
// pairing token.
func (h *Hub) PairingURL() string {
	return "ws://" + h.Addr() + extensionPath + "?token=" + h.opts.Pairing
}

// pairingToken makes the pairing token: of a hub that has a token always the
// same, so that the extension finds it again. It cannot be turned back.
func pairingToken(token string) string {
	if token == "" {
		return newID()
	}
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("pairing of a browser extension"))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// refusals remembers who was refused, so that one who tries again and again is
// logged once a minute.
type refusals struct {
	mu   sync.Mutex
	last map[string]time.Time
}

const (
	refusedEvery = time.Minute
	maxRefused   = 100
)

func (r *refusals) first(who string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.last[who]) < refusedEvery {
		return false
	}
	if r.last == nil || len(r.last) >= maxRefused {
		r.last = map[string]time.Time{}
	}
	r.last[who] = time.Now()
	return true
}

func (h *Hub) hostAllowed(host string) bool {
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	if loopback(name) {
		return true
	}
	for _, a := range h.opts.AllowHosts {
		if strings.EqualFold(a, name) || strings.EqualFold(a, host) {
			return true
		}
	}
	return false
}

func (h *Hub) originAllowed(origin string, r *http.Request) bool {
	origin = strings.ToLower(origin)
	if origin == "http://"+strings.ToLower(r.Host) {
		return true
	}
	if h.opts.AllowExtensions && forRuntimes(r.URL.Path) && strings.HasPrefix(origin, extensionScheme) {
		return true
	}
	for _, p := range h.opts.AllowOrigins {
		if ok, _ := path.Match(strings.ToLower(p), origin); ok {
			return true
		}
	}
	return false
}

func (h *Hub) tokenAllowed(r *http.Request) bool {
	if h.opts.Token == "" {
		return true
	}
	scheme, given, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	ok = ok && strings.EqualFold(scheme, "Bearer")
	if !ok {
		given = ""
	}
	if !ok && forRuntimes(r.URL.Path) {
		given = r.URL.Query().Get("token")
	}
	return same(given, h.opts.Token)
}

// vouched reports whether a runtime connection showed a token of this hub.
func (h *Hub) vouched(r *http.Request) bool {
	return h.opts.Token != "" || same(r.URL.Query().Get("token"), h.opts.Pairing)
}

// same compares two secrets. They are hashed, so that the time taken tells
// nothing about the length either.
func same(given, secret string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
