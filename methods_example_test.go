package outrider_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/client"
)

func ExampleTab_WaitRequest() {
	html := `<button onclick="fetch('/orders', {method: 'POST', body: 'tea'})">Order</button>`
	in(html, func(ctx context.Context, tab *outrider.Tab) error {
		r, err := tab.WaitRequest(ctx, "/orders", func() error { return tab.ByRole("button", "Order").Click(ctx) })
		if err != nil {
			return err
		}
		fmt.Println(r.Method, string(r.Body))
		return nil
	})
	// Output: POST tea
}

func ExampleTab_Responses() {
	in(``, func(ctx context.Context, tab *outrider.Tab) error {
		responses := tab.Responses(ctx) // from here on nothing is missed
		if err := tab.Reload(ctx); err != nil {
			return err
		}
		for r, err := range responses {
			if err != nil {
				return err
			}
			fmt.Println(r.Method, r.Status)
			break
		}
		return nil
	})
	// Output: GET 200
}

func ExampleTab_Dialogs() {
	html := `<button onclick="title = prompt('Name?') + ', ' + confirm('Sure?')">Ask</button>`
	in(html, func(ctx context.Context, tab *outrider.Tab) error {
		dialogs := tab.Dialogs(ctx)
		if err := tab.ByRole("button", "Ask").Click(ctx); err != nil {
			return err
		}
		for dialog, err := range dialogs {
			if err != nil {
				return err
			}
			fmt.Println(dialog.Type, dialog.Message)
			if err := dialog.Accept(ctx, "Ada"); err != nil {
				return err
			}
			if dialog.Type == "confirm" {
				break
			}
		}
		title, _, err := tab.ByRole("button", "").Attribute(ctx, "title")
		fmt.Println(title)
		return err
	})
	// Output:
	// prompt Name?
	// confirm Sure?
	// Ada, true
}

func ExampleLocator_UploadFiles() {
	html := `<input type=file aria-label=File onchange="this.files[0].text().then(text => said.textContent = text)">
<p id=said></p>`
	in(html, func(ctx context.Context, tab *outrider.Tab) error {
		file := outrider.File{Name: "a.txt", Content: strings.NewReader("from memory")}
		if err := tab.ByLabel("File").UploadFiles(ctx, file); err != nil {
			return err
		}
		return tab.WaitText(ctx, "from memory")
	})
	// Output:
}

func ExampleTab_WaitFileChooser() {
	html := `<button onclick="choice.click()">Choose</button>
<input id=choice type=file hidden onchange="said.textContent = this.files[0].name"><p id=said></p>`
	in(html, func(ctx context.Context, tab *outrider.Tab) error {
		chooser, err := tab.WaitFileChooser(ctx, func() error { return tab.ByRole("button", "Choose").Click(ctx) })
		if err != nil {
			return err
		}
		err = chooser.UploadFiles(ctx, outrider.File{Name: "a.txt", Content: strings.NewReader("a")})
		if err != nil {
			return err
		}
		return tab.WaitText(ctx, "a.txt")
	})
	// Output:
}

func ExampleSession_SetCookies() {
	in(``, func(ctx context.Context, tab *outrider.Tab) error {
		s := tab.Session()
		if err := s.SetCookies(ctx, tab.URL(), &http.Cookie{Name: "user", Value: "ada"}); err != nil {
			return err
		}
		cookies, err := s.Cookies(ctx, tab.URL())
		for _, c := range cookies {
			fmt.Println(c.Name, c.Value)
		}
		return err
	})
	// Output: user ada
}

func ExampleSession_StorageState() {
	in(``, func(ctx context.Context, tab *outrider.Tab) error {
		if _, err := outrider.Evaluate[string](ctx, tab, "localStorage.user = 'ada'"); err != nil {
			return err
		}
		state, err := tab.Session().StorageState(ctx)
		if err != nil {
			return err
		}
		other, err := tab.Session().NewSession(ctx, "") // or in another program
		if err != nil {
			return err
		}
		defer other.Close()
		if err := other.SetStorageState(ctx, state); err != nil {
			return err
		}
		if _, err := other.Tab().Goto(ctx, tab.URL()); err != nil {
			return err
		}
		user, err := outrider.Evaluate[string](ctx, other.Tab(), "localStorage.user")
		fmt.Println(user)
		return err
	})
	// Output: ada
}

func ExampleTab_Emulate() {
	in(``, func(ctx context.Context, tab *outrider.Tab) error {
		phone := outrider.Device("Pixel 7")
		phone.Timezone = "Asia/Tokyo"
		phone.Position = &outrider.Position{Latitude: 35.68, Longitude: 139.76}
		if err := tab.Emulate(ctx, phone); err != nil {
			return err
		}
		scale, err := outrider.Evaluate[float64](ctx, tab, "devicePixelRatio")
		fmt.Println(scale)
		return err
	})
	// Output: 2.625
}

func ExampleExpose() {
	in(`<p id=said></p>`, func(ctx context.Context, tab *outrider.Tab) error {
		stop, err := outrider.Expose(ctx, tab, "greet", func(_ context.Context, name string) (string, error) {
			return "hello " + name, nil
		})
		if err != nil {
			return err
		}
		defer stop()
		said, err := outrider.Evaluate[string](ctx, tab, "greet('Ada')")
		fmt.Println(said)
		return err
	})
	// Output: hello Ada
}

func ExampleTab_PDFWith() {
	in(`<h1>Report</h1>`, func(ctx context.Context, tab *outrider.Tab) error {
		pdf, err := tab.PDFWith(ctx, client.PagePDFArgs{Format: "A4", Landscape: true})
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", pdf[:4])
		return nil
	})
	// Output: %PDF
}

func ExampleTab_SetHeaders() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<p>", r.Header.Get("X-Kind"))
	}))
	defer site.Close()
	in(``, func(ctx context.Context, tab *outrider.Tab) error {
		stop, err := tab.SetHeaders(ctx, http.Header{"X-Kind": {"own"}})
		if err != nil {
			return err
		}
		defer stop()
		if _, err := tab.Goto(ctx, site.URL); err != nil {
			return err
		}
		text, err := tab.BySelector("p").Text(ctx)
		fmt.Println(text)
		return err
	})
	// Output: own
}
