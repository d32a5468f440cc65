package browsertest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Faulty answers, below /-/, as servers do that are slow, bring no document or never finish one, and leaves
// the rest to next. Milliseconds are part of the path, and a query makes an address of one's own:
//
//	/-/after/MS     a document, after so long
//	/-/empty/MS     204, after so long
//	/-/file/MS      a download, after so long
//	/-/moved/MS     a redirect with a body, to a document
//	/-/stream/MS    a list of ten rows that arrives within so long
//	/-/unfinished   a document that is usable, and whose picture never comes
//	/-/never        nothing
//	/-/asked?OF     how often OF was asked for, to every origin
//
// A request that is given up is not answered any more.
func Faulty(next http.Handler) http.Handler {
	var mu sync.Mutex
	requests := map[string]int{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, special := strings.CutPrefix(r.URL.Path, "/-/")
		if !special {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		kind, number, _ := strings.Cut(path, "/")
		ms, _ := strconv.Atoi(number)
		after := time.Duration(ms) * time.Millisecond
		mu.Lock()
		if kind == "asked" {
			fmt.Fprint(w, requests[r.URL.RawQuery])
			mu.Unlock()
			return
		}
		requests[r.URL.RequestURI()]++
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch kind {
		case "failed": // an answer of this status, without a document
			w.WriteHeader(ms)
		case "never":
			<-r.Context().Done()
		case "unfinished":
			fmt.Fprint(w, `<!doctype html><title>Usable</title><h1>Ready</h1>`+
				`<button onclick="this.textContent='Gone'">Go</button><img src="/-/never">`)
		case "stream":
			stream(w, r, after)
		default:
			select {
			case <-time.After(after):
			case <-r.Context().Done():
				return
			}
			switch kind {
			case "empty":
				w.WriteHeader(http.StatusNoContent)
			case "file":
				w.Header().Set("Content-Disposition", "attachment; filename=file.bin")
				fmt.Fprint(w, "x")
			case "admin": // is not for this user, who is led to another page that says so
				w.Header().Set("Location", "/-/said/0")
				w.WriteHeader(http.StatusFound)
			case "said":
				fmt.Fprint(w, `<!doctype html><title>Dashboard</title><h1>Dashboard</h1>`+
					`<p role="alert">You do not have permission to open this page</p>`)
			case "moved":
				w.Header().Set("Location", "/-/came/0")
				w.WriteHeader(http.StatusFound)
				fmt.Fprint(w, "it moved")
			default:
				fmt.Fprint(w, `<!doctype html><title>Came</title><h1>Came</h1>`)
			}
		}
	})
}

// stream sends a document with the rows of a list one after the other.
func stream(w http.ResponseWriter, r *http.Request, within time.Duration) {
	const rows = 10
	fmt.Fprint(w, `<!doctype html><title>Stream</title><h1>List</h1><ul>`+strings.Repeat(" ", 2048))
	for i := range rows {
		fmt.Fprintf(w, "<li>row %d</li>%s", i, strings.Repeat(" ", 1024))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(within / rows):
		case <-r.Context().Done():
			return
		}
	}
	fmt.Fprint(w, `</ul>`)
}
