package hub

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"path"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// guard decides who is heard at all.
//
// Every web page the user visits can send requests to the loopback interface.
// What it cannot do is leave out or forge Origin and Host: a foreign Origin is
// a page, and a foreign Host is a page whose name was pointed at 127.0.0.1.
func (h *Hub) guard(next http.Handler) http.Handler {
	listen, _, _ := net.SplitHostPort(h.opts.Listen)
	local := loopback(listen)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if local && !h.hostAllowed(r.Host) {
			fail(w, http.StatusForbidden, fault.New(fault.PermissionDenied, "the Host of the request is not a name of this machine"))
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			if !h.originAllowed(origin, r.Host) {
				h.log.Warn("foreign origin refused")
				fail(w, http.StatusForbidden, fault.New(fault.OriginBlocked, "the origin of the request is not allowed").
					Next("allow it by name if it is yours"))
				return
			}
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Add("Vary", "Origin")
			if r.Method == http.MethodOptions {
				w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
				w.Header().Set("Access-Control-Allow-Headers", "content-type, authorization")
				w.Header().Set("Access-Control-Allow-Private-Network", "true")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		if r.URL.Path != "/health" && !h.tokenAllowed(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, http.StatusUnauthorized, fault.New(fault.PermissionDenied, "the request has no valid token"))
			return
		}
		next.ServeHTTP(w, r)
	})
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

func (h *Hub) originAllowed(origin, host string) bool {
	origin = strings.ToLower(origin)
	if origin == "http://"+strings.ToLower(host) {
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
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok && r.URL.Path == "/extension" {
		given = r.URL.Query().Get("token")
	}
	// Hashed, so that the time taken tells nothing about the length either.
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(h.opts.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
