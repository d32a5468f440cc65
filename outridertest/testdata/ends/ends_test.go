// Package ends_test has tests that end in every way in which a test can end. The test of outridertest runs them, and
// looks for what they leave.
package ends_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/outridertest"
)

func TestMain(m *testing.M) {
	if os.Getenv("WITHOUT_RUN") != "" {
		os.Exit(m.Run())
	}
	before := runtime.NumGoroutine()
	code := outridertest.Run(m)
	for range 200 { // those that were told to end need a moment
		if runtime.NumGoroutine() <= before {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		stacks := make([]byte, 1<<20)
		fmt.Printf("%d goroutines are left:\n%s\n", n-before, stacks[:runtime.Stack(stacks, true)])
		code = 3
	}
	os.Exit(code)
}

// begun is a page that has a file to download and got one to upload.
func begun(t *testing.T) *outridertest.Page {
	page := outridertest.Tab(t, "")
	page.SetContent(`<a download=a.txt href="data:,a">Save</a><input type=file aria-label=File>`)
	page.ByLabel("File").UploadFiles(outrider.File{Name: "b.txt", Content: strings.NewReader("b")})
	page.WaitDownload(func() { page.ByRole("link", "Save").Click() })
	return page
}

func TestPasses(t *testing.T) {
	t.Parallel()
	begun(t)
}

func TestFails(t *testing.T) {
	page := begun(t)
	page.Patience = 100 * time.Millisecond
	page.ByRole("button", "None").Click()
}

func TestPanics(t *testing.T) {
	begun(t)
	panic("of the test")
}

func TestPanicsInGoroutine(t *testing.T) {
	begun(t)
	go panic("of a goroutine")
	select {}
}

func TestFatalInGoroutine(t *testing.T) {
	page := begun(t)
	page.Patience = 100 * time.Millisecond
	var clicks sync.WaitGroup
	for range 3 {
		clicks.Go(func() { page.ByRole("button", "None").Click() })
	}
	clicks.Wait()
}

func TestFatalInAct(t *testing.T) {
	page := begun(t)
	page.Patience = 100 * time.Millisecond
	page.WaitRequest("", func() { page.ByRole("button", "None").Click() })
}

func TestExits(t *testing.T) {
	begun(t)
	os.Exit(1)
}

func TestHangs(t *testing.T) {
	page := begun(t)
	fmt.Println("ready")
	page.Patience = time.Hour
	page.ByRole("button", "None").Click()
}
