// Package shop is the app of the example: a small shop with a login, a list with pages
// and a search, a dialog, an upload and a frame. It keeps everything in memory and is
// no model of a shop. The program beside it serves it, and so does the test.
package shop

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Item is a line of the list.
type Item struct {
	Name  string `json:"name"`
	Price string `json:"price"`
}

const (
	perPage    = 5
	largestCSV = 1 << 20
)

type shop struct {
	files fs.FS

	mu    sync.Mutex
	users map[string]string // by session
	added map[string][]Item // by user
}

// Handler serves the shop whose pages and items are in files. With testLink there is an
// address that signs in without a password, for checks of single pages.
func Handler(files fs.FS, testLink bool) http.Handler {
	s := &shop{files: files, users: map[string]string{}, added: map[string][]Item{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/items", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) { s.show(w, "login.html", nil) })
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("GET /items", s.signedIn(s.items))
	mux.HandleFunc("POST /items", s.signedIn(s.add))
	mux.HandleFunc("GET /upload", s.signedIn(func(w http.ResponseWriter, _ *http.Request, _ string) {
		s.show(w, "upload.html", nil)
	}))
	mux.HandleFunc("POST /upload", s.signedIn(s.upload))
	mux.HandleFunc("GET /help", func(w http.ResponseWriter, _ *http.Request) { s.show(w, "help.html", nil) })
	if testLink {
		mux.HandleFunc("GET /enter", func(w http.ResponseWriter, r *http.Request) {
			s.enter(w, r, r.FormValue("user"))
		})
	}
	mux.Handle("GET /static/", http.StripPrefix("/static/", http.FileServerFS(files)))
	return mux
}

func (s *shop) show(w http.ResponseWriter, page string, data any) {
	t, err := template.ParseFS(s.files, page)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = t.Execute(w, data)
}

func (s *shop) login(w http.ResponseWriter, r *http.Request) {
	user := strings.TrimSpace(r.FormValue("user"))
	if user == "" || r.FormValue("password") != "open sesame" {
		w.WriteHeader(http.StatusUnauthorized)
		s.show(w, "login.html", "The name or the password is wrong.")
		return
	}
	s.enter(w, r, user)
}

// enter begins a session.
func (s *shop) enter(w http.ResponseWriter, r *http.Request, user string) {
	session := rand.Text()
	s.mu.Lock()
	s.users[session] = user
	s.mu.Unlock()
	http.SetCookie(
		w, &http.Cookie{Name: "session", Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode},
	)
	http.Redirect(w, r, "/items", http.StatusSeeOther)
}

// signedIn leads who is not signed in to the login.
func (s *shop) signedIn(next func(w http.ResponseWriter, r *http.Request, user string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		user := ""
		if c, err := r.Cookie("session"); err == nil {
			s.mu.Lock()
			user = s.users[c.Value]
			s.mu.Unlock()
		}
		if user == "" {
			http.Redirect(w, r, "/login", http.StatusSeeOther)
			return
		}
		next(w, r, user)
	}
}

func (s *shop) items(w http.ResponseWriter, r *http.Request, user string) {
	raw, err := fs.ReadFile(s.files, "items.json")
	var all []Item
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.mu.Lock()
	all = append(all, s.added[user]...)
	s.mu.Unlock()
	query := r.FormValue("q")
	var found []Item
	for _, it := range all {
		if strings.Contains(strings.ToLower(it.Name), strings.ToLower(query)) {
			found = append(found, it)
		}
	}
	pages := max(1, (len(found)+perPage-1)/perPage)
	page, _ := strconv.Atoi(r.FormValue("page"))
	page = min(max(page, 1), pages)
	data := map[string]any{
		"User":  user,
		"Query": query,
		"Page":  page,
		"Pages": pages,
		"Items": found[(page-1)*perPage : min(page*perPage, len(found))],
	}
	if page < pages {
		data["Next"] = page + 1
	}
	s.show(w, "items.html", data)
}

func (s *shop) add(w http.ResponseWriter, r *http.Request, user string) {
	it := Item{Name: strings.TrimSpace(r.FormValue("name")), Price: strings.TrimSpace(r.FormValue("price"))}
	if it.Name == "" {
		http.Error(w, "an item needs a name", http.StatusUnprocessableEntity)
		return
	}
	s.mu.Lock()
	s.added[user] = append(s.added[user], it)
	s.mu.Unlock()
	http.Redirect(w, r, "/items?q="+template.URLQueryEscaper(it.Name), http.StatusSeeOther)
}

func (s *shop) upload(w http.ResponseWriter, r *http.Request, _ string) {
	r.Body = http.MaxBytesReader(w, r.Body, largestCSV)
	file, head, err := r.FormFile("prices")
	if err != nil {
		http.Error(w, "a price list is missing", http.StatusUnprocessableEntity)
		return
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.show(
		w, "upload.html",
		fmt.Sprintf("%s: %d prices", head.Filename, strings.Count(strings.TrimSpace(string(text)), "\n")),
	)
}
