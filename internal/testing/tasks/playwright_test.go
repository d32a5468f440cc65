package tasks_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/outridertest"
)

// The examples of playwright-go: whole programs, which look at each error.

//task:playwright-go/network-monitoring
func playwrightNetwork(ctx context.Context, site string) error {
	s, err := outrider.Open(ctx, outrider.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	tab := s.Tab()
	requests, responses := tab.Requests(ctx), tab.Responses(ctx)
	if _, err := tab.Goto(ctx, site); err != nil {
		return err
	}
	if err := tab.WaitIdle(ctx, 500*time.Millisecond); err != nil {
		return err
	}
	for request := range requests {
		fmt.Printf(">> %s %s\n", request.Method, request.URL)
		break
	}
	for response := range responses {
		fmt.Printf("<< %v %s\n", response.Status, response.URL)
		break
	}
	return nil
}

//task:playwright-go/use-local-chrome
func playwrightLocalChrome(ctx context.Context, site string) error {
	chrome := outrider.BrowserOptions{Path: "chromium"}
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site}, Browser: chrome})
	if err != nil {
		return err
	}
	defer s.Close()
	titles, err := s.Tab().BySelector(".athing td.title > span > a").Texts(ctx)
	for i, title := range titles {
		fmt.Printf("%d: %s\n", i+1, title)
	}
	return err
}

//task:playwright-go/scraping
func playwrightScraping(ctx context.Context, site string) error {
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site}})
	if err != nil {
		return err
	}
	defer s.Close()
	titles, err := s.Tab().BySelector(".athing td.title > span > a").Texts(ctx)
	for i, title := range titles {
		fmt.Printf("%d: %s\n", i+1, title)
	}
	return err
}

//task:playwright-go/screenshot
func playwrightScreenshot(ctx context.Context, site, to string) error {
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site}})
	if err != nil {
		return err
	}
	defer s.Close()
	picture, err := s.Tab().Screenshot(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(to, picture, 0o644)
}

//task:playwright-go/mobile-and-geolocation
func playwrightMobile(ctx context.Context, site, to string) error {
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site}})
	if err != nil {
		return err
	}
	defer s.Close()
	phone := outrider.Device("Pixel 7")
	phone.Position = &outrider.Position{Longitude: 12.492507, Latitude: 41.889938}
	if err := s.Tab().Emulate(ctx, phone); err != nil {
		return err
	}
	if err := s.Tab().ByTitle("Show My Location").Click(ctx); err != nil {
		return err
	}
	picture, err := s.Tab().Screenshot(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(to, picture, 0o644)
}

//task:playwright-go/parallel-scraping
func playwrightParallel(ctx context.Context, sites []string, dir string) error {
	s, err := outrider.Open(ctx, outrider.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	visit := func(i int, site string) error {
		ctx, cancel := context.WithTimeout(ctx, 12*time.Second)
		defer cancel()
		own, err := s.NewSession(ctx, site)
		if err != nil {
			return err
		}
		defer own.Close()
		if err := own.Tab().WaitIdle(ctx, 500*time.Millisecond); err != nil {
			return err
		}
		picture, err := own.Tab().Screenshot(ctx)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".png")), picture, 0o644)
	}
	jobs := make(chan int, len(sites))
	for i := range sites {
		jobs <- i
	}
	close(jobs)
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			for i := range jobs {
				var err error
				for range 3 {
					err = visit(i, sites[i])
					if err == nil {
						break
					}
				}
				fmt.Println(sites[i], err)
			}
		})
	}
	workers.Wait()
	return nil
}

//task:playwright-go/end-to-end-testing
func playwrightTodo(t *testing.T, site string) {
	page := outridertest.Tab(t, site)
	todos := page.BySelector("ul.todo-list > li")
	todos.Expect().Count(0)
	page.BySelector("input.new-todo").Fill("Bake a cake")
	page.BySelector("input.new-todo").Press("Enter")
	todos.Expect().Count(1)
	todos.First().BySelector("label").Expect().Text("Bake a cake")
	page.Reload()
	todos.Expect().Count(1)
	page.BySelector("input.toggle").Click()
	page.ByRole("link", "Active").Click()
	todos.Expect().Count(0)
	page.ByRole("link", "Completed").Click()
	todos.Expect().Count(1)
	page.ByRole("button", "Clear completed").Click()
	todos.Expect().Count(0)
}

//task:playwright-go/javascript
func playwrightJavaScript(ctx context.Context, site string) error {
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site}})
	if err != nil {
		return err
	}
	defer s.Close()
	name, err := outrider.Evaluate[string](ctx, s.Tab(), "mw.config.values.wgPageName")
	fmt.Println("No type casting, brought to you by", name)
	return err
}

//task:playwright-go/video
func playwrightRecording(ctx context.Context, sites []string, to string) error {
	s, err := outrider.Open(ctx, outrider.Options{Record: true})
	if err != nil {
		return err
	}
	defer s.Close()
	recording, err := s.Record()
	if err != nil {
		return err
	}
	for _, site := range sites {
		if _, err := s.Tab().Goto(ctx, site); err != nil {
			return err
		}
	}
	return recording.Save(ctx, to)
}

//task:playwright-go/download
func playwrightDownload(ctx context.Context, site string) error {
	temporary := outrider.BrowserOptions{DownloadDir: outrider.Temporary}
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site}, Browser: temporary})
	if err != nil {
		return err
	}
	defer s.Close()
	tab := s.Tab()
	if err := tab.SetContent(ctx, `<a href="/download" download>download</a>`); err != nil {
		return err
	}
	download, err := tab.WaitDownload(ctx, func() error { return tab.ByText("download").Click(ctx) })
	if err != nil {
		return err
	}
	fmt.Println(download.Name)
	return nil
}

//task:playwright-go/pdf
func playwrightPDF(ctx context.Context, site, to string) error {
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site}})
	if err != nil {
		return err
	}
	defer s.Close()
	pdf, err := s.Tab().PDF(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(to, pdf, 0o644)
}
