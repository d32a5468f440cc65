package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tiktoken-go/tokenizer"

	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/internal/testing/axtest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime"
)

const (
	// mostElements bounds what is compared of one look at a page.
	mostElements = 600
	// settleTries is how often a page that changes while it is read is read again.
	settleTries = 3
)

// TestNamesOnApplicationsAreThoseOfTheBrowser does the tasks with this server alone. After
// every look and act it compares roles, names and states of the elements of the page with
// the tree that the browser computes.
func TestNamesOnApplicationsAreThoseOfTheBrowser(t *testing.T) {
	if os.Getenv("OUTRIDER_AGENTS") == "" {
		t.Skip("make agents runs it: it installs applications from npm and PyPI")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	root := folder(t)
	host := runtimetest.Open(t, runtime.Options{Open: []string{"about:blank"}})
	server, err := mcp.New(ctx, mcp.Options{Host: host, NewID: runtimetest.NewID, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server.Handler(mcp.HTTPOptions{}))
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	n := names{host: host, found: map[string]bool{}}
	d := &driver{
		dialect:   outrider{},
		name:      "outrider",
		who:       "n",
		codec:     codec,
		transport: &sdk.StreamableClientTransport{Endpoint: front.URL},
		visited:   n.compare,
	}
	if err := d.start(ctx); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = d.session.Close()
		front.CloseClientConnections()
		front.Close()
		_ = server.Close(context.WithoutCancel(ctx))
	}()
	compared, all := served(ctx, t, root, func(t *testing.T, a app, address string) {
		n.differences = nil
		for _, one := range a.Tasks {
			_ = d.do(ctx, address, a.dir, one) // whether it succeeds is another test's matter
		}
		for _, difference := range n.differences {
			t.Error(difference)
		}
	})
	t.Logf("%d elements on %d looks compared", n.elements, n.snapshots)
	if all && !t.Failed() {
		last, err := json.Marshal(axtest.Compared{Applications: compared, Looks: n.snapshots, Elements: n.elements})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("../../..", axtest.ComparedFile), append(last, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// names compares the pages of a host.
type names struct {
	host                *runtime.Host
	snapshots, elements int
	found               map[string]bool // differences that are reported already
	differences         []string
}

func (n *names) compare(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	_ = n.host.Visit(ctx, runtime.Target{}, func(ctx context.Context, page primitives.Page) error {
		var last []string
		for try := range settleTries {
			elements, err := axtest.Read(ctx, page, "", mostElements)
			if err != nil {
				return err // the page is leaving, or asks something
			}
			var all []string
			for _, e := range elements {
				all = append(all, e.Differences(e.BrowserName())...)
			}
			if try == 0 {
				n.snapshots++
				n.elements += len(elements)
				last = all
			} else { // what is another thing each time is a page that changes
				last = slices.DeleteFunc(last, func(one string) bool { return !slices.Contains(all, one) })
			}
			if len(last) == 0 {
				return nil
			}
			if err := primitives.Sleep(ctx, 100*time.Millisecond); err != nil {
				return err
			}
		}
		for _, one := range last {
			if n.found[one] || axtest.Explained(one) {
				continue
			}
			n.found[one] = true
			n.differences = append(n.differences, fmt.Sprintf("%s: %s", page.Tab().Title, one))
		}
		return nil
	})
}
