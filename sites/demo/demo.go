// Package demo is the site that ships inside the binary: a board with lists,
// cards, a dialog, late-arriving content, a frame and a shadow-root widget, and
// the map that describes it. `outrider demo` and several tests run on it.
package demo

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"sync"
	"time"
)

//go:embed site
var files embed.FS

// Maps holds the site's map, MapName, and what it imports.
//
//go:embed actions.json parts
var Maps embed.FS

// MapName is the path of the site's map in Maps.
const MapName = "actions.json"

type card struct {
	ID          string   `json:"id"`
	List        string   `json:"list"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Labels      []string `json:"labels"`
	Member      string   `json:"member"`
	Comments    []string `json:"comments"`
}

type list struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type board struct {
	mu       sync.Mutex
	next     int
	lists    []list
	cards    []*card
	activity []string
	delay    time.Duration
}

// Handler serves a new board. Its state lives as long as the handler. The
// activity feed answers after delay, as slow parts of real pages do.
func Handler(delay time.Duration) http.Handler {
	b := &board{
		delay: delay,
		lists: []list{{"todo", "To do"}, {"doing", "Doing"}, {"done", "Done"}},
		activity: []string{
			"The harbour master opened the board", "The pilot asked for a berth", "The tug reported ready",
		},
	}
	for _, c := range []card{
		{List: "todo", Title: "Paint the lighthouse", Labels: []string{"upkeep"}},
		{List: "todo", Title: "Count the buoys"},
		{List: "todo", Title: "Order new mooring lines", Labels: []string{"purchase"}},
		{List: "todo", Title: "Check the tide tables"},
		{List: "todo", Title: "Repair the north jetty", Labels: []string{"upkeep", "urgent"}},
		{List: "todo", Title: "Train the night watch"},
		{List: "todo", Title: "Sweep the fish market"},
		{List: "doing", Title: "Dredge the channel", Member: "Grace"},
		{List: "doing", Title: "Answer the ferry company"},
		{List: "done", Title: "Replace the harbour lamps"},
	} {
		b.add(c)
	}
	site, err := fs.Sub(files, "site")
	if err != nil {
		panic(err) // the embedded folder is part of the build
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(site))
	mux.HandleFunc("GET /api/board", b.read)
	mux.HandleFunc("GET /api/activity", b.feed)
	mux.HandleFunc("POST /api/cards", b.create)
	mux.HandleFunc("PATCH /api/cards/{id}", b.change)
	mux.HandleFunc("DELETE /api/cards/{id}", b.remove)
	mux.HandleFunc("POST /api/cards/{id}/comments", b.comment)
	return mux
}

func (b *board) add(c card) *card {
	b.next++
	c.ID = fmt.Sprintf("c%d", b.next)
	if c.Labels == nil {
		c.Labels = []string{}
	}
	if c.Comments == nil {
		c.Comments = []string{}
	}
	b.cards = append(b.cards, &c)
	return &c
}

func (b *board) read(w http.ResponseWriter, _ *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	answer(w, http.StatusOK, map[string]any{
		"lists": b.lists, "cards": b.cards,
		"labels": []string{"upkeep", "purchase", "urgent"}, "members": []string{"Ada", "Grace", "Linus"},
	})
}

func (b *board) feed(w http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(b.delay):
	case <-r.Context().Done():
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	answer(w, http.StatusOK, b.activity)
}

func (b *board) create(w http.ResponseWriter, r *http.Request) {
	var in struct{ List, Title string }
	if !decode(w, r, &in) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if in.Title == "" || !slices.ContainsFunc(b.lists, func(l list) bool { return l.ID == in.List }) {
		http.Error(w, "a card needs a title and a known list", http.StatusBadRequest)
		return
	}
	c := b.add(card{List: in.List, Title: in.Title})
	b.activity = append(b.activity, "Somebody added a card")
	answer(w, http.StatusCreated, c)
}

func (b *board) change(w http.ResponseWriter, r *http.Request) {
	var in struct {
		List, Description, Member *string
		Labels                    *[]string
	}
	if !decode(w, r, &in) {
		return
	}
	b.with(w, r, func(c *card) any {
		if in.List != nil {
			c.List = *in.List
		}
		if in.Description != nil {
			c.Description = *in.Description
		}
		if in.Member != nil {
			c.Member = *in.Member
		}
		if in.Labels != nil {
			c.Labels = *in.Labels
		}
		return c
	})
}

func (b *board) comment(w http.ResponseWriter, r *http.Request) {
	var in struct{ Text string }
	if !decode(w, r, &in) {
		return
	}
	b.with(w, r, func(c *card) any {
		c.Comments = append(c.Comments, in.Text)
		return c
	})
}

func (b *board) remove(w http.ResponseWriter, r *http.Request) {
	b.with(w, r, func(c *card) any {
		b.cards = slices.DeleteFunc(b.cards, func(o *card) bool { return o == c })
		return nil
	})
}

func (b *board) with(w http.ResponseWriter, r *http.Request, do func(*card) any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.cards {
		if c.ID == r.PathValue("id") {
			if out := do(c); out != nil {
				answer(w, http.StatusOK, out)
			} else {
				w.WriteHeader(http.StatusNoContent)
			}
			return
		}
	}
	http.NotFound(w, r)
}

func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(into); err != nil {
		http.Error(w, "the body is not the expected JSON", http.StatusBadRequest)
		return false
	}
	return true
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the peer has closed when this fails
}
