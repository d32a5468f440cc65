package outrider_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/client"
)

// shop is a page with a list, a form and a frame.
const shop = `
<ul><li class=book><h2><a href="/1">Harbours</a></h2><b>CHF 1'240.50</b> <i>blue</i> <i>old</i> <button>Buy</button>
<li class=book><h2><a href="/2">Tides</a></h2><b>CHF 12.00</b> <button>Buy</button></ul>
<form onsubmit="event.preventDefault(); said.textContent = town.value + ', ' + size.value + ', ' + gift.checked">
<label>Town <input id=town placeholder="Where to"></label>
<label>Size <select id=size><option value=s>Small<option value=l>Large</select></label>
<label><input type=checkbox id=gift> A gift</label>
<button title="Ends the order">Order</button></form>
<p id=said data-testid=said></p><img alt="A lighthouse" src="data:,">
<iframe id=note srcdoc="<button onclick=&quot;this.textContent = 'Noted'&quot;>Note</button>"></iframe>`

// in runs an example on a page.
func in(html string, run func(ctx context.Context, tab *outrider.Tab) error) {
	site := page(html)
	defer site.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site.URL}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if err := run(ctx, s.Tab()); err != nil {
		fmt.Println(err)
	}
}

func ExampleLocator() {
	in(shop, func(ctx context.Context, tab *outrider.Tab) error {
		if err := tab.ByLabel("Town").Fill(ctx, "Cape Town"); err != nil {
			return err
		}
		if err := tab.ByLabel("Size").Select(ctx, "Large"); err != nil {
			return err
		}
		if err := tab.ByLabel("A gift").Check(ctx); err != nil {
			return err
		}
		if err := tab.ByRole("button", "Order").Click(ctx); err != nil {
			return err
		}
		said, err := tab.ByTestID("said").Text(ctx)
		fmt.Println(said)
		return err
	})
	// Output: Cape Town, l, true
}

func ExampleLocator_Has() {
	in(shop, func(ctx context.Context, tab *outrider.Tab) error {
		tides := tab.ByRole("listitem", "").Has(tab.ByRole("link", "Tides"))
		fmt.Println(tab.ByLabel("Town"))
		price, err := tides.BySelector("b").Text(ctx)
		fmt.Println(price)
		return err
	})
	// Output:
	// {"label":"Town","pierce":true,"strict":true}
	// CHF 12.00
}

func ExampleLocator_All() {
	in(shop, func(ctx context.Context, tab *outrider.Tab) error {
		for book, err := range tab.BySelector("li.book").All(ctx) {
			if err != nil {
				return err
			}
			link, _, err := book.ByRole("link", "").Attribute(ctx, "href")
			if err != nil {
				return err
			}
			fmt.Println(link)
		}
		return nil
	})
	// Output:
	// /1
	// /2
}

func ExampleLocator_In() {
	in(shop, func(ctx context.Context, tab *outrider.Tab) error {
		if err := tab.ByRole("button", "Note").In("#note").Click(ctx); err != nil {
			return err
		}
		text, err := tab.ByRole("button", "").In("#note").Text(ctx)
		fmt.Println(text)
		return err
	})
	// Output: Noted
}

func ExampleTab_Find() {
	in(shop, func(ctx context.Context, tab *outrider.Tab) error {
		text, err := tab.Find(client.Query{Role: "link", Name: client.Regexp("^har", "i")}).Text(ctx)
		fmt.Println(text)
		return err
	})
	// Output: Harbours
}

func ExampleEvaluate() {
	in(shop, func(ctx context.Context, tab *outrider.Tab) error {
		links, err := outrider.Evaluate[[]string](ctx, tab, `[...document.links].map(a => a.textContent)`)
		if err != nil {
			return err
		}
		sum, err := outrider.Evaluate[int](ctx, tab, `(a, b) => a + b`, 40, 2)
		if err != nil {
			return err
		}
		fmt.Println(links, sum)
		type size struct{ Width, Depth int }
		_, err = outrider.Evaluate[size](ctx, tab, `({width: 3})`)
		return err
	})
	// Output:
	// [Harbours Tides] 42
	// invalid_result: value.Depth is missing
}

func ExampleExtract() {
	type book struct {
		Title string   `select:"h2 a"`
		Link  *url.URL `select:"h2 a" attr:"href"`
		Price float64  `select:"b" as:"number"`
		Tags  []string `select:"i"`
	}
	in(shop, func(ctx context.Context, tab *outrider.Tab) error {
		books, err := outrider.Extract[[]book](ctx, tab.BySelector("li.book"))
		for _, b := range books {
			fmt.Println(b.Title, b.Link.Path, b.Price, b.Tags)
		}
		return err
	})
	// Output:
	// Harbours /1 1240.5 [blue old]
	// Tides /2 12 []
}

func ExampleStateAs() {
	site := board()
	defer site.Close()
	ctx := context.Background()
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site.URL}, Maps: []string{"sites/demo/actions.json"}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if err := s.Tab().BySelector("[data-card]").First().Wait(ctx, "visible"); err != nil {
		log.Fatal(err)
	}
	type lists struct {
		Lists []struct{ Name string }
	}
	state, err := outrider.StateAs[lists](ctx, s, "board.state")
	fmt.Println(state.Lists[1].Name, err)
	list, err := outrider.ActionAs[struct{ Count int }](ctx, s, "board.list_cards", map[string]any{"list": "doing"})
	fmt.Println(list.Count, err)
	// Output:
	// Doing <nil>
	// 2 <nil>
}

func ExampleTab_WaitConsole() {
	in(`<button onclick="console.log('Bought', 2)">Buy</button>`, func(ctx context.Context, tab *outrider.Tab) error {
		line, err := tab.WaitConsole(ctx, func() error { return tab.ByRole("button", "Buy").Click(ctx) })
		if err != nil {
			return err
		}
		fmt.Println(line.Level, line.Text)
		return nil
	})
	// Output: log Bought 2
}

func ExampleTab_WaitDialog() {
	html := `<button onclick="title = confirm('Sure?')">Delete</button>`
	in(html, func(ctx context.Context, tab *outrider.Tab) error {
		dialog, err := tab.WaitDialog(ctx, func() error { return tab.ByRole("button", "Delete").Click(ctx) })
		if err != nil {
			return err
		}
		fmt.Println(dialog.Type, dialog.Message)
		return dialog.Accept(ctx, "")
	})
	// Output: confirm Sure?
}

func ExampleTab_OpenCDP() {
	in(shop, func(ctx context.Context, tab *outrider.Tab) error {
		session, err := tab.OpenCDP(ctx)
		if err != nil {
			return err
		}
		defer session.Close()
		if err := session.Call(ctx, "Page.enable", nil, nil); err != nil {
			return err
		}
		events := session.Events(ctx, "Page.loadEventFired")
		if err := tab.Reload(ctx); err != nil {
			return err
		}
		for e := range events {
			fmt.Println(e.Method)
			break
		}
		return nil
	})
	// Output: Page.loadEventFired
}

func ExampleTab_Route() {
	in(`<p>none</p>`, func(ctx context.Context, tab *outrider.Tab) error {
		stop, err := tab.Route(ctx, "*/price", func(w outrider.RouteWriter, _ *http.Request) {
			fmt.Fprint(w, `{"price": 3}`)
		})
		if err != nil {
			return err
		}
		defer stop()
		type offer struct {
			Price int `json:"price"`
		}
		got, err := outrider.Evaluate[offer](ctx, tab, `fetch('/price').then(r => r.json())`)
		fmt.Println(got.Price)
		return err
	})
	// Output: 3
}
