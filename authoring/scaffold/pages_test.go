package scaffold_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/authoring/scaffold"
	"github.com/outrider-run/outrider/internal/testing/appstest"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
)

const fixtures = "../../testdata"

// What init wrote of a wizard validates and runs.
func TestInitOfAWizard(t *testing.T) {
	r := writtenRuns(t, runtimetest.Open(t, runtime.Options{}), appstest.Serve(t, "testdata").URL+"/wizard/")
	if len(r.Map.Tools) == 0 {
		t.Errorf("it has no action: %+v", r.Report)
	}
}

// The same of thirty pages: fixtures, among them a mail client and a sign-in form, and components of npm.
func TestInitOfThirtyPages(t *testing.T) {
	if os.Getenv("OUTRIDER_INIT_PAGES") == "" {
		t.Skip("make init-pages runs it: it installs packages from npm")
	}
	type page struct{ name, dir, path string }
	var pages []page
	for _, name := range []string{"contact", "login", "orders", "settings", "todo", "wizard"} {
		pages = append(pages, page{"fixture " + name, "testdata", name + "/"})
	}
	for _, name := range []string{
		"sites/mail/", "sites/sheet/", "pages/torture/login_form.html", "pages/torture/typed_inputs.html",
		"pages/torture/grid_virtual_rows.html", "pages/torture/booking_nested_frames.html",
	} {
		pages = append(pages, page{"fixture " + name, fixtures, name})
	}
	for _, a := range appstest.NPM(t, filepath.Join(fixtures, "agents"), appstest.Cache(t)) {
		pages = append(pages, page{a.Name, a.Dir, a.Page})
	}
	if only := os.Getenv("OUTRIDER_INIT_ONLY"); only != "" {
		pages = slices.DeleteFunc(pages, func(p page) bool { return !strings.Contains(p.name, only) })
	} else if len(pages) < 30 {
		t.Errorf("there are %d pages", len(pages))
	}
	for _, p := range pages {
		t.Run(strings.ReplaceAll(p.name, "/", " "), func(t *testing.T) {
			t.Parallel()
			h := runtimetest.Open(t, runtime.Options{})
			r := writtenRuns(t, h, appstest.Serve(t, p.dir).URL+"/"+p.path)
			t.Logf(
				"%d actions, %d projections, %d states, %d left out",
				len(r.Map.Tools), len(r.Map.Projections), len(r.Map.States), len(r.Report.LeftOut),
			)
		})
	}
}

// writtenRuns writes a map of a page, and runs all that is in it on the page as somebody finds it.
func writtenRuns(t *testing.T, h *runtime.Host, address string) *scaffold.Result {
	t.Helper()
	open(t, h, address)
	result := written(t, h, true)
	text, err := result.Map.Encode()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(arguments map[string]any) runtime.Reply {
		return h.Do(browsertest.Within(t, time.Minute), runtime.Call{
			ID:        runtimetest.NewID(),
			Target:    runtime.Target{RuntimeID: h.Tabs()[0].RuntimeID},
			Name:      runtime.SiteTool,
			Arguments: encode(arguments),
			Timeout:   30 * time.Second,
			Map:       &runtime.SuppliedMap{Path: "actions.json", JSON: text},
		})
	}
	open(t, h, "about:blank")
	open(t, h, address)
	for _, p := range result.Map.Projections {
		browsertest.Eventually(t, 10*time.Second, "entries of "+p.Name, func() bool {
			reply := ask(map[string]any{"mode": "state_read", "projection_name": p.Name})
			var read struct {
				State struct {
					Items []json.RawMessage `json:"items"`
				} `json:"state"`
			}
			return reply.Err == nil && json.Unmarshal(reply.Output, &read) == nil && len(read.State.Items) > 0
		})
	}
	for _, tool := range result.Map.Tools {
		arguments := map[string]any{}
		for _, p := range tool.InputSchema.Properties {
			arguments[p.Name] = p.Value(2)
		}
		open(t, h, "about:blank")
		open(t, h, address)
		if reply := ask(map[string]any{"mode": "call", "action": tool.Name, "arguments": arguments}); reply.Err != nil {
			t.Errorf(
				"action %s of %s: %v %v\n%s", tool.Name, encode(arguments), reply.Err, reply.Err.Evidence, encode(tool),
			)
		}
	}
	return result
}
