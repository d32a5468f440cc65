package tasks_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/client"
	"github.com/outrider-run/outrider/outridertest"
)

// The tasks of rod's comparison with chromedp. rod's end with a panic where something fails, ours fail their test.

//task:rod/click
func rodClick(t *testing.T, site string) string {
	page := outridertest.Tab(t, site)
	page.BySelector("#pkg-examples").Click()
	return page.BySelector("#example-After textarea").Value()
}

//task:rod/cookie
func rodCookie(t *testing.T, site string) string {
	expires := time.Now().Add(180 * 24 * time.Hour)
	page := outridertest.Tab(t, "")
	page.SetCookies(site,
		&http.Cookie{Name: "cookie1", Value: "value1", HttpOnly: true, Expires: expires},
		&http.Cookie{Name: "cookie2", Value: "value2", HttpOnly: true, Expires: expires})
	page.Goto(site)
	for i, cookie := range page.Cookies() {
		t.Logf("chrome cookie %d: %+v", i, cookie)
	}
	return page.BySelector("#result").Text()
}

//task:rod/download_file
func rodDownloadFile(t *testing.T, site string) string {
	page := outridertest.Tab(t, site)
	page.ByText("Code").Click()
	file := page.WaitDownload(func() { page.ByRole("link", "Download ZIP").Click() })
	return fmt.Sprint(file.Name, file.Size)
}

//task:rod/download_image
func rodDownloadImage(t *testing.T, site, to string) {
	page := outridertest.Tab(t, "")
	answer := page.WaitResponse("", func() { page.Goto(site + "/image.png") })
	image, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, image, 0o644); err != nil {
		t.Fatal(err)
	}
}

//task:rod/emulate
func rodEmulate(t *testing.T, site, dir string) {
	page := outridertest.Tab(t, "")
	phone := outrider.Device("iPhone SE")
	phone.Width, phone.Height = phone.Height, phone.Width
	page.Emulate(phone)
	page.Goto(site)
	save(t, filepath.Join(dir, "screenshot1.png"), page.Screenshot())
	page.ResetEmulation()
	page.Emulate(outrider.Emulation{Width: 1920, Height: 2000, Scale: 1})
	page.Goto(site + "?a")
	save(t, filepath.Join(dir, "screenshot2.png"), page.Screenshot())
}

//task:rod/eval
func rodEval(t *testing.T, site string) []string {
	page := outridertest.Tab(t, site)
	return outridertest.Evaluate[[]string](page, "Object.keys(window)")
}

//task:rod/headers
func rodHeaders(t *testing.T, site string) string {
	page := outridertest.Tab(t, "")
	page.SetHeaders(http.Header{"X-Header": {"my request header"}})
	page.Goto(site)
	return page.BySelector("#result").Text()
}

//task:rod/keys
func rodKeys(t *testing.T, site string) []string {
	page := outridertest.Tab(t, site)
	page.BySelector("#textarea1").Type("\n\naoeu\n\ntest1\n\nblah2\n\nother box!\ntest4")
	page.BySelector("#select1").Press("ArrowDown")
	page.BySelector("#select1").Press("ArrowDown")
	return []string{
		page.BySelector("#input1").Value(), page.BySelector("#textarea1").Value(), page.BySelector("#select1").Value(),
	}
}

//task:rod/logic
func rodLogic(t *testing.T, site string) (all []string) {
	page := outridertest.Tab(t, site)
	section := page.BySelector("p").Filter("Selenium and browser control tools")
	for project := range page.BySelector("ul").Near(section).BySelector("li").All() {
		link := project.BySelector("a")
		href, _ := link.Attribute("href")
		all = append(all, fmt.Sprintf("%s (%s): '%s'", link.Text(), href, project.Text()))
	}
	return all
}

//task:rod/pdf
func rodPDF(t *testing.T, site, to string) {
	save(t, to, outridertest.Tab(t, site).PDF())
}

//task:rod/proxy
func rodProxy(t *testing.T, site, proxy string) string {
	page := outridertest.TabWith(t, "", outrider.Options{
		Browser: outrider.BrowserOptions{Proxy: proxy, Flags: []string{"--proxy-bypass-list=<-loopback>"}},
	})
	answer := page.WaitResponse("/tab", func() { page.Goto(site + "/tab") })
	return answer.Header.Get("X-Proxy")
}

//task:rod/remote
func rodRemote(t *testing.T, browser, site string) string {
	page := outridertest.TabWith(t, site, outrider.Options{Browser: outrider.BrowserOptions{Attach: browser}})
	page.BySelector("#logo_homepage_link").Expect().Visible()
	return page.HTML()
}

//task:rod/screenshot
func rodScreenshot(t *testing.T, site, dir string) {
	page := outridertest.Tab(t, site)
	save(t, filepath.Join(dir, "element.png"), page.BySelector("#box").Screenshot())
	save(t, filepath.Join(dir, "full.jpg"), page.ScreenshotWith(client.BrowserScreenshotArgs{
		FullPage: true, Format: "jpeg", Quality: 90,
	}))
}

//task:rod/submit
func rodSubmit(t *testing.T, site string) string {
	page := outridertest.Tab(t, site)
	page.BySelector("input[name=q]").Fill("chromedp")
	page.BySelector("input[name=q]").Press("Enter")
	return page.BySelector("article").Has(page.ByRole("link", "chromedp/chromedp")).BySelector("p").Text()
}

//task:rod/subtree
func rodSubtree(t *testing.T, site string, out io.Writer) {
	type node struct {
		NodeName, NodeValue string
		Attributes          []string
		Children            []node
	}
	var print func(nodes []node, padding string)
	print = func(nodes []node, padding string) {
		for _, n := range nodes {
			if n.NodeName == "#text" {
				fmt.Fprintf(out, "%s#text: %q\n", padding, n.NodeValue)
				continue
			}
			fmt.Fprintf(out, "%s%s:\n", padding, strings.ToLower(n.NodeName))
			for i := 0; i < len(n.Attributes); i += 2 {
				fmt.Fprintf(out, "%s  %s: %q\n", padding, n.Attributes[i], n.Attributes[i+1])
			}
			print(n.Children, padding+"    ")
		}
	}
	var document struct{ Root node }
	tab := outridertest.Tab(t, site).Outrider()
	err := tab.CDP(t.Context(), "DOM.getDocument", map[string]any{"depth": -1, "pierce": true}, &document)
	if err != nil {
		t.Fatal(err)
	}
	print(document.Root.Children, "")
}

//task:rod/text
func rodText(t *testing.T, site string) string {
	return outridertest.Tab(t, site).BySelector(":has(> #pkg-overview)").Text()
}

//task:rod/upload
func rodUpload(t *testing.T, site, content string) string {
	page := outridertest.Tab(t, site)
	file := outrider.File{Name: "main.go", Content: strings.NewReader(content)}
	page.BySelector("input[name=upload]").UploadFiles(file)
	page.BySelector("input[name=submit]").Click()
	return fmt.Sprintf("original size: %d, upload size: %s", len(content), page.BySelector("#result").Text())
}

//task:rod/visible
func rodVisible(t *testing.T, site string) {
	page := outridertest.Tab(t, site)
	page.Evaluate("setTimeout(() => document.querySelector('#box1').style.display = '', 100)", nil)
	page.BySelector("#box1").Expect().Visible()
	page.BySelector("#box2").Expect().Visible()
}

// save writes a file of a test.
func save(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// proxied is a proxy that adds a line to what it forwards.
func proxied(t *testing.T) (address string) {
	s := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(*httputil.ProxyRequest) {},
		ModifyResponse: func(r *http.Response) error {
			r.Header.Set("X-Proxy", "yes")
			return nil
		},
	})
	t.Cleanup(s.Close)
	return s.URL
}
