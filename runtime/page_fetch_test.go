package runtime_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

func TestPageFetch(t *testing.T) {
	var stolen atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stolen.Add(1)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		fmt.Fprint(w, "elsewhere")
	}))
	t.Cleanup(other.Close)
	var methods []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "of the page"})
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><title>x</title>")
		case "/data":
			methods = append(methods, r.Method)
			c, err := r.Cookie("session")
			if err != nil {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			fmt.Fprint(w, c.Value)
		case "/here":
			http.Redirect(w, r, "/data", http.StatusFound)
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/endless":
			w.Header().Set("Content-Type", "text/plain")
			for range 64 {
				fmt.Fprint(w, strings.Repeat("x", 1<<18))
			}
		case "/broken":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "x")
		case "/slow":
			<-r.Context().Done()
		}
	}))
	t.Cleanup(s.Close)
	h := open(t, runtime.Options{Open: []string{s.URL + "/"}})
	get := func(path string, timeout time.Duration) runtime.Reply {
		return do(t, h, "page.fetch", `{"url":"`+s.URL+path+`"}`, timeout)
	}
	v := value(t, get("/data", 10*time.Second))
	if v["body"] != "of the page" || v["ok"] != true || v["redirected"] != false {
		t.Errorf("the page's cookies are not sent: %v", v)
	}
	v = value(t, get("/here", 10*time.Second))
	if v["body"] != "of the page" || v["redirected"] != true || v["url"] != s.URL+"/data" {
		t.Errorf("a redirect within the origin: %v", v)
	}
	if methods[0] != http.MethodGet {
		t.Errorf("method %s", methods[0])
	}
	for path, want := range map[string]fault.Code{
		"/away": fault.PageFetchFailed, "/endless": fault.PayloadTooLarge, "/broken": fault.PageFetchFailed,
	} {
		if r := get(path, 10*time.Second); fault.CodeOf(r.Err) != want {
			t.Errorf("%s: got %v, want %s", path, r.Err, want)
		}
	}
	if n := stolen.Load(); n != 0 {
		t.Errorf("the other origin got %d requests", n)
	}
	if r := get("/slow", 1500*time.Millisecond); fault.CodeOf(r.Err) != fault.PageFetchFailed &&
		fault.CodeOf(r.Err) != fault.HandlerTimeout {
		t.Errorf("an address that does not answer: %v", r.Err)
	}
}

// TestPageFetchOfAddressesThatGoRefuses: a bare percent sign in the path is an
// address to a browser and to many servers. Go's own server refuses it, so this
// one reads the request line by itself.
func TestPageFetchOfAddressesThatGoRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(time.Minute))
				in := bufio.NewScanner(c)
				in.Scan()
				var path string
				if f := strings.Fields(in.Text()); len(f) > 1 {
					path = f[1]
				}
				for in.Scan() && in.Text() != "" {
				}
				switch path {
				case "/":
					fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n"+
						"<!doctype html><title>x</title>")
				case "/to":
					fmt.Fprint(
						c,
						"HTTP/1.1 302 Found\r\nLocation: /sale/50%\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
					)
				case "/sale/50%":
					fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nhalf")
				default:
					fmt.Fprint(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				}
			})
		}
	})
	origin := "http://" + l.Addr().String()
	t.Cleanup(func() {
		_ = l.Close()
		served.Wait()
	})
	h := open(t, runtime.Options{Open: []string{origin + "/"}})
	for path, redirected := range map[string]bool{"/sale/50%": false, "/to": true} {
		v := value(t, do(t, h, "page.fetch", `{"url":"`+origin+path+`"}`, 20*time.Second))
		if v["body"] != "half" || v["url"] != origin+"/sale/50%" || v["redirected"] != redirected {
			t.Errorf("%s: got %v", path, v)
		}
	}
}
