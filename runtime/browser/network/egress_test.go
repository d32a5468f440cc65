package network_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/network"
)

func TestOriginRules(t *testing.T) {
	for _, c := range []struct {
		name         string
		allow, block []string
		url, address string
		want         string // rule that refuses; "" when none does
	}{
		{"exact", []string{"https://a.test"}, nil, "https://a.test/x", "93.184.216.34", ""},
		{"another scheme", []string{"https://a.test"}, nil, "http://a.test/", "93.184.216.34", "not in the allow list"},
		{
			"another port", []string{"https://a.test"}, nil,
			"https://a.test:8443/", "93.184.216.34", "not in the allow list",
		},
		{"any port", []string{"https://a.test:*"}, nil, "https://a.test:8443/", "93.184.216.34", ""},
		{"no scheme", []string{"a.test"}, nil, "http://a.test:81/", "93.184.216.34", ""},
		{"a socket", []string{"https://a.test"}, nil, "wss://a.test/", "93.184.216.34", ""},
		{"below", []string{"https://*.a.test"}, nil, "https://x.y.a.test/", "93.184.216.34", ""},
		{
			"below is not the name", []string{"https://*.a.test"}, nil,
			"https://a.test/", "93.184.216.34", "not in the allow list",
		},
		{
			"not a suffix of letters", []string{"https://*.a.test"}, nil,
			"https://evila.test/", "93.184.216.34", "not in the allow list",
		},
		{"case and dot", []string{"https://A.test"}, nil, "https://a.TEST./", "93.184.216.34", ""},
		{
			"block wins", []string{"*"}, []string{"https://*.ads.test"},
			"https://x.ads.test/", "93.184.216.34", "block https://*.ads.test",
		},
		{"rebinding to loopback", []string{"http://a.test"}, nil, "http://a.test/", "127.0.0.1", "private address"},
		{"rebinding to a private net", []string{"*"}, nil, "http://a.test/", "10.1.2.3", "private address"},
		{"rebinding in another notation", []string{"*"}, nil, "http://a.test/", "::ffff:127.0.0.1", "private address"},
		{"link-local", []string{"*"}, nil, "http://a.test/", "169.254.169.254", "private address"},
		{"a named range", []string{"http://a.test", "10.0.0.0/8"}, nil, "http://a.test/", "10.1.2.3", ""},
		{"a named address", []string{"http://127.0.0.1:80"}, nil, "http://127.0.0.1/", "127.0.0.1", ""},
		{"localhost", []string{"http://localhost:3000"}, nil, "http://localhost:3000/", "127.0.0.1", ""},
		{"any does not name loopback", []string{"*"}, nil, "http://localhost/", "127.0.0.1", "private address"},
		{"a blocked range", nil, []string{"10.0.0.0/8"}, "http://a.test/", "10.1.2.3", "block 10.0.0.0/8"},
		{"no allow list leaves loopback open", nil, []string{"x.test"}, "http://localhost/", "127.0.0.1", ""},
		{"six", []string{"http://[::1]:80"}, nil, "http://[::1]/", "::1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := network.Refuses(c.allow, c.block, c.url, netip.MustParseAddr(c.address))
			if err != nil || got != c.want {
				t.Errorf("%s at %s: got %q, want %q, %v", c.url, c.address, got, c.want, err)
			}
		})
	}
	for rule, remedy := range map[string]string{
		"block https://*.ads.test": "take away --block-origin https://*.ads.test", "scheme": "only http and https",
		"private address": "the address itself", "not in the allow list": "allow it with --allow-origin",
	} {
		if got := network.RemedyOf(rule); !strings.Contains(got, remedy) {
			t.Errorf("the remedy of %q is %q, want %q in it", rule, got, remedy)
		}
	}
	for _, bad := range []string{
		"", "ftp://a.test", "http://", "http://a b", "a.test:99999", "http://a.test/path", "*.*.test", "[::1",
	} {
		if _, err := network.Refuses([]string{bad}, nil, "http://a.test/", netip.MustParseAddr("1.1.1.1")); err == nil {
			t.Errorf("pattern %q is taken", bad)
		}
	}
}

// The proxy carries what is allowed unchanged: tunnels, streams, and through an
// upstream proxy.
func TestEgressCarriesWhatIsAllowed(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "secure")
	}))
	defer secure.Close()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("X-Sent")+" "+r.Host)
		fmt.Fprint(w, "plain")
	}))
	defer plain.Close()
	allow := []string{secure.URL, plain.URL}
	direct, closeDirect, err := network.StartProxy(allow, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer closeDirect()
	through, closeThrough, err := network.StartProxy(allow, nil, "http://"+direct)
	if err != nil {
		t.Fatal(err)
	}
	defer closeThrough()
	for name, proxy := range map[string]string{"direct": direct, "through another proxy": through} {
		tr := &http.Transport{
			Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: proxy}),
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		}
		client := &http.Client{Transport: tr, Timeout: 10 * time.Second}
		for _, c := range []struct{ url, want string }{{secure.URL, "secure"}, {plain.URL, "plain"}} {
			req, _ := http.NewRequestWithContext(t.Context(), "GET", c.url, nil)
			req.Header.Set("X-Sent", "kept")
			res, err := client.Do(req)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			body, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if string(body) != c.want ||
				c.want == "plain" && res.Header.Get("X-Echo") != "kept "+strings.TrimPrefix(plain.URL, "http://") {
				t.Errorf("%s: got %q, %v", name, body, res.Header)
			}
		}
		if _, err := client.Get("https://127.0.0.1:1/"); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: what is not allowed: %v", name, err)
		}
		tr.CloseIdleConnections()
	}
}
