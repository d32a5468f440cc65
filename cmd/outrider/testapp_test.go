package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// freeAddress is an address of this machine that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// testApp is the program "testapp ADDRESS" of scripts: the app that a plan is about. It signs people
// in, tells who they are, and repeats what it was sent.
func testApp() {
	fail := flag.Int("fail", 0, "end at once with this status")
	die := flag.Bool("die", false, "end when /die is requested")
	flag.Parse()
	address := flag.Arg(0)
	fmt.Println("\x1b[32mtestapp\x1b[0m begins, token", os.Getenv("APP_TOKEN"))
	if *fail != 0 {
		fmt.Fprintln(os.Stderr, "testapp: no database")
		os.Exit(*fail)
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("  ready at http://%s/\n", address)
	if err := http.Serve(ln, appHandler(*die)); err != nil {
		os.Exit(1)
	}
}

var sixDigits = regexp.MustCompile(`^[0-9]{6}$`)

func appHandler(dies bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/" {
			http.NotFound(w, q)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		user, _ := q.Cookie("sid")
		name := "nobody"
		if user != nil {
			name = strings.TrimPrefix(user.Value, "for-")
		}
		fmt.Fprintf(w, `<!doctype html><title>App</title><link rel="icon" href="data:,"><h1>Hello %s</h1>`, name)
	})
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, q *http.Request) {
		if q.FormValue("password") != "s3cr3t-word" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "for-" + q.FormValue("user"), Path: "/", HttpOnly: true})
		http.SetCookie(w, &http.Cookie{Name: "other", Value: "1", Domain: "example.com"})
		http.Redirect(w, q, "/me", http.StatusSeeOther)
	})
	mux.HandleFunc("POST /logout", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sid", Path: "/", MaxAge: -1})
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("/me", func(w http.ResponseWriter, q *http.Request) {
		c, err := q.Cookie("sid")
		if err != nil {
			http.Error(w, "who?", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"user": strings.TrimPrefix(c.Value, "for-"), "method": q.Method})
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"method": q.Method, "body": string(body), "type": q.Header.Get("Content-Type"),
			"digits": sixDigits.Match(body), "key": q.Header.Get("X-Key"),
			"cookie": q.Header.Get("Cookie"), "agent": q.Header.Get("User-Agent"),
		})
	})
	mux.HandleFunc("/basic", func(w http.ResponseWriter, q *http.Request) {
		if user, password, ok := q.BasicAuth(); !ok || user != "ada" || password != "s3cr3t-word" {
			w.Header().Set("WWW-Authenticate", `Basic realm="app"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, "in")
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, q.URL.Query().Get("to"), http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 2<<20))
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, q *http.Request) {
		select {
		case <-q.Context().Done():
		case <-time.After(time.Minute):
		}
	})
	mux.HandleFunc("/die", func(http.ResponseWriter, *http.Request) {
		if dies {
			fmt.Println("testapp: dies")
			os.Exit(7)
		}
	})
	return mux
}
