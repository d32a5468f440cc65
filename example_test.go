package outrider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/client"
	"github.com/outrider-run/outrider/sites/demo"
)

// board serves the demonstration site: lists with cards, and a dialog for each
// card. Its map is sites/demo/actions.json.
func board() *httptest.Server { return httptest.NewServer(demo.Handler(0)) }

// page serves one HTML document.
func page(html string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>Example</title>"+html)
	}))
}

func Example() {
	site := board()
	defer site.Close()
	ctx := context.Background()

	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site.URL}, Maps: []string{"sites/demo/actions.json"}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	out, err := s.Action(ctx, "board.list_cards", map[string]any{"list": "doing"})
	if err != nil {
		log.Fatal(err)
	}
	var list struct{ Count int }
	if err := json.Unmarshal(out, &list); err != nil {
		log.Fatal(err)
	}
	fmt.Println(list.Count, "cards in doing")
	// Output: 2 cards in doing
}

func ExampleSession_State() {
	site := board()
	defer site.Close()
	ctx := context.Background()
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site.URL}, Maps: []string{"sites/demo/actions.json"}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if _, err := client.LocatorWaitFor(ctx, s.Tab(), client.LocatorWaitForArgs{
		Locator:   &client.Query{Selector: "[data-card]"},
		TimeoutMS: new(5000),
	}); err != nil {
		log.Fatal(err)
	}

	state, err := s.State(ctx, "board.state")
	if err != nil {
		log.Fatal(err)
	}
	var v struct {
		Lists []struct {
			Name  string
			Cards []struct{ Title string }
		}
	}
	if err := json.Unmarshal(state.Value, &v); err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Lists[2].Name+":", v.Lists[2].Cards[0].Title)

	// A long list comes item by item.
	for row, err := range s.Tab().StateRows(ctx, "board.state", "/lists/1/cards") {
		if err != nil {
			log.Fatal(err)
		}
		var card struct{ Title string }
		if err := json.Unmarshal(row, &card); err != nil {
			log.Fatal(err)
		}
		fmt.Println(card.Title)
	}
	// Output:
	// Done: Replace the harbour lamps
	// Dredge the channel
	// Answer the ferry company
}

func ExampleSession_Check() {
	site := board()
	defer site.Close()
	ctx := context.Background()
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site.URL}, Maps: []string{"sites/demo/actions.json"}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	result, err := s.Check(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.OK, len(result.Checks), "checks,", result.Summary["failed"], "failed")
	// Output: true 3 checks, 0 failed
}

func ExampleSession_Events() {
	site := board()
	defer site.Close()
	ctx := context.Background()
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site.URL}, Maps: []string{"sites/demo/actions.json"}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	events := s.Events(ctx) // from here on nothing is missed
	if _, err := s.Action(
		ctx, "board.add_card", map[string]any{"list": "done", "title": "Greet the crew"},
	); err != nil {
		log.Fatal(err)
	}
	for e := range events {
		if e.Kind == outrider.PageEvent && e.Name == "board.card_added" {
			fmt.Println(e.Name)
			break
		}
	}
	// Output: board.card_added
}

func ExampleSession_NewTab() {
	first, second := page("<h1>One</h1>"), page("<h1>Two</h1>")
	defer first.Close()
	defer second.Close()
	ctx := context.Background()
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{first.URL}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	if _, err := s.NewTab(ctx, second.URL); err != nil {
		log.Fatal(err)
	}
	for _, tab := range s.Tabs() {
		heading, err := client.LocatorTextContent(ctx, tab, client.LocatorTextContentArgs{
			Locator: &client.Query{Selector: "h1"},
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(heading.Text)
	}
	// Output:
	// One
	// Two
}

func ExampleSession_NewSession() {
	site := page("")
	defer site.Close()
	ctx := context.Background()
	ada, err := outrider.Open(ctx, outrider.Options{Open: []string{site.URL}})
	if err != nil {
		log.Fatal(err)
	}
	defer ada.Close()
	grace, err := ada.NewSession(ctx, site.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer grace.Close()

	// Each session has cookies of its own.
	if _, err := client.PageEvaluate(ctx, ada.Tab(), client.PageEvaluateArgs{
		Body: "document.cookie = 'user=ada'",
	}); err != nil {
		log.Fatal(err)
	}
	for _, s := range []*outrider.Session{ada, grace} {
		r, err := client.PageEvaluate(ctx, s.Tab(), client.PageEvaluateArgs{Body: "return document.cookie"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", r.Value)
	}
	// Output:
	// "user=ada"
	// ""
}

func Example_client() {
	site := page(`<label>Name <input></label><button onclick="document.title = 'Hello ' + ` +
		`document.querySelector('input').value">Greet</button>`)
	defer site.Close()
	ctx := context.Background()
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site.URL}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	tab := s.Tab()
	if _, err := client.TextInsert(ctx, tab, client.TextInsertArgs{
		Locator: &client.Query{Label: client.Text("Name")},
		Text:    "Ada",
	}); err != nil {
		log.Fatal(err)
	}
	if _, err := client.PointerClick(ctx, tab, client.PointerClickArgs{
		Locator: &client.Query{Role: "button", Name: client.Text("Greet")},
	}); err != nil {
		log.Fatal(err)
	}
	info, err := client.PageInfo(ctx, tab)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Title)
	// Output: Hello Ada
}

func Example_refs() {
	site := page(`<main><h1>Shop</h1><button>Buy</button></main>`)
	defer site.Close()
	ctx := context.Background()
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site.URL}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	snapshot, err := client.PageSnapshot(ctx, s.Tab(), client.PageSnapshotArgs{Format: "json", InteractiveOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range snapshot.Nodes {
		fmt.Println(n.Role, n.Name)
	}
	// Output: button Buy
}

func Example_screenshot() {
	site := page(`<h1>Shop</h1>`)
	defer site.Close()
	ctx := context.Background()
	s, err := outrider.Open(ctx, outrider.Options{
		Open:    []string{site.URL},
		Browser: outrider.BrowserOptions{Width: 400, Height: 300},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	shot, err := client.BrowserScreenshot(ctx, s.Tab(), client.BrowserScreenshotArgs{})
	if err != nil {
		log.Fatal(err)
	}
	image, err := shot.Image()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %q\n", shot.MimeType, image[1:4])
	// Output: image/png "PNG"
}

func ExampleError() {
	site := page(`<button disabled>Buy</button>`)
	defer site.Close()
	ctx := context.Background()
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site.URL}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	_, err = client.PointerClick(ctx, s.Tab(), client.PointerClickArgs{
		Locator:   &client.Query{Role: "button"},
		TimeoutMS: new(50),
	})
	var e *outrider.Error
	if errors.As(err, &e) {
		fmt.Println(e.Code, e.Retryable)
	}
	fmt.Println(errors.Is(err, outrider.Code("target_not_actionable")))
	// Output:
	// target_not_actionable true
	// true
}
