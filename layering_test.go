// Package outrider_test holds what is true of the repository as a whole.
package outrider_test

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/outrider-run/outrider/"

// mayImport is the table of docs/reference/packages.md: a package may import the
// packages on its line and nothing else of ours. A trailing /... covers the
// folders below.
var mayImport = map[string][]string{
	"primitives/fault":     {},
	"primitives/schema":    {"primitives/fault"},
	"primitives/inject":    {},
	"primitives/quirks":    {},
	"primitives/span":      {"primitives/fault"},
	"primitives/plain":     {},
	"primitives/upstream":  {},
	"primitives/arguments": {"primitives/fault", "primitives/schema"},
	"primitives": {
		"internal/lazyregexp",
		"primitives/arguments", "primitives/fault", "primitives/quirks", "primitives/schema",
		"primitives/upstream", "primitives/effect", "primitives/pagetool",
	},
	"primitives/entries": {},
	"primitives/keys":    {"primitives", "primitives/fault", "primitives/quirks"},
	"primitives/locator": {"primitives", "primitives/arguments", "primitives/fault", "primitives/quirks"},
	"primitives/actionability": {
		"primitives", "primitives/arguments", "primitives/fault", "primitives/keys", "primitives/locator",
		"primitives/quirks",
	},
	"primitives/descriptor":     {"primitives", "primitives/address", "primitives/fault"},
	"internal/element/likeness": {},
	"internal/element/locators": {
		"internal/element/likeness", "primitives", "primitives/descriptor", "internal/jsonout",
	},
	"internal/element/lock": {
		"internal/element/likeness", "primitives/descriptor", "primitives/fault", "internal/jsonout",
	},
	"internal/mapedit":      {"primitives/fault", "internal/jsonout"},
	"internal/ownfolder":    {}, // files that must not outlive their process
	"internal/processgroup": {},
	"authoring/repair": {
		"internal/mapedit", "internal/element/lock", "internal/mask", "evidence/report", "primitives/fault", "runtime",
		"sites", "evidence/outfile",
		"runtime/checks",
	},
	"internal/testing/mapschema": {"primitives", "sites/manifest", "internal/jsonout"},
	"authoring/gogen":            {"primitives/fault", "sites/manifest"},
	"authoring/inspect":          {"internal/element/likeness", "primitives", "primitives/fault"},
	"authoring/sample":           {},
	"authoring/lint": {
		"internal/mapedit", "internal/element/likeness",
		"internal/element/locators", "evidence/report", "primitives/fault", "sites",
	},
	"authoring/ident":           {},
	"internal/testing/appstest": {}, // pages for tests
	"internal/testing/tasks":    {}, // examples of other libraries
	"authoring/learn": {
		"internal/lazyregexp",
		"internal/element/likeness", "internal/element/locators", "authoring/ident", "authoring/sample",
		"authoring/inspect", "evidence/record", "evidence/report", "primitives", "primitives/descriptor",
		"primitives/fault", "runtime", "runtime/call", "runtime/observe", "evidence/outfile",
		"internal/jsonout",
	},
	"authoring/recorder": {
		"authoring/learn", "internal/element/likeness", "internal/element/locators", "authoring/ident",
		"authoring/scaffold", "authoring/view", "internal/mask", "evidence/record", "evidence/report",
		"primitives", "primitives/fault", "primitives/inject", "runtime", "runtime/browser",
		"internal/jsonout",
	},
	"authoring/view": {"primitives", "runtime", "runtime/browser"},
	"authoring/picker": {
		"internal/element/likeness", "internal/element/locators", "authoring/inspect",
		"evidence/report", "primitives", "primitives/descriptor", "primitives/fault", "runtime",
	},
	"authoring/coverage": {
		"internal/element/likeness", "authoring/lint", "internal/element/locators", "authoring/inspect",
		"evidence/report", "primitives", "primitives/descriptor", "primitives/fault", "runtime",
	},
	"authoring/scaffold": {
		"internal/lazyregexp",
		"internal/element/likeness", "internal/element/locators", "authoring/ident", "authoring/sample",
		"authoring/inspect", "evidence/report", "primitives", "primitives/fault", "runtime",
		"runtime/observe", "internal/jsonout",
	},
	"primitives/session": {
		"primitives", "primitives/arguments", "primitives/fault", "primitives/quirks", "internal/jsonout",
	},
	"primitives/a11y": {
		"primitives", "primitives/fault", "primitives/keyboard", "primitives/keys",
		"primitives/locator", "primitives/quirks", "primitives/session",
	},
	"primitives/address": {"internal/lazyregexp", "primitives/fault"}, // which addresses callers may open
	"primitives/browser": {
		"primitives", "primitives/address", "primitives/actionability", "primitives/fault",
		"primitives/locator", "primitives/quirks", "primitives/session", "internal/jsonout",
	},
	"primitives/clipboard": {
		"primitives", "primitives/actionability", "primitives/arguments", "primitives/fault",
		"primitives/locator", "primitives/quirks", "primitives/session", "primitives/text",
	},
	"primitives/dom": {
		"primitives", "primitives/actionability", "primitives/arguments",
		"primitives/fault", "primitives/locator", "primitives/quirks",
	},
	"primitives/emulate":  {"primitives", "primitives/fault"},
	"primitives/pagetool": {},
	"primitives/webmcp": {
		"primitives/pagetool", "primitives", "primitives/address", "primitives/fault", "primitives/schema",
	},
	"primitives/files": {
		"primitives", "primitives/actionability", "primitives/fault", "primitives/entries",
		"primitives/locator", "internal/jsonout",
	},
	"primitives/keyboard": {
		"primitives", "primitives/actionability", "primitives/arguments", "primitives/fault",
		"primitives/keys", "primitives/locator", "primitives/quirks", "primitives/session",
	},
	"primitives/network": {
		"internal/lazyregexp",
		"primitives", "primitives/address", "primitives/fault", "primitives/entries", "internal/jsonout",
	},
	"primitives/overlay": {
		"internal/lazyregexp",
		"primitives", "primitives/address", "primitives/fault", "primitives/quirks", "primitives/session",
	},
	"primitives/page": {
		"internal/lazyregexp", "primitives", "primitives/actionability", "primitives/address",
		"primitives/arguments", "primitives/fault", "primitives/locator", "primitives/plain",
	},
	"primitives/pointer": {
		"primitives", "primitives/actionability", "primitives/arguments", "primitives/fault",
		"primitives/keys", "primitives/locator", "primitives/quirks", "primitives/session",
		"internal/jsonout",
	},
	"primitives/storage": {
		"primitives", "primitives/address", "primitives/fault", "primitives/entries", "primitives/session",
	},
	"primitives/text": {
		"primitives", "primitives/actionability", "primitives/arguments", "primitives/fault",
		"primitives/keyboard", "primitives/keys", "primitives/locator", "primitives/quirks",
	},
	"primitives/catalog": {"primitives/..."},
	"sites/manifest":     {"primitives/fault", "primitives/schema"},
	"sites": {
		"internal/lazyregexp",
		"primitives/address", "primitives/fault", "primitives/schema", "sites/manifest", "sites/location",
		"internal/jsonout",
	},
	"sites/location":        {"primitives/address"},
	"sites/selector":        {},
	"sites/filewatch":       {"sites/location"},
	"sites/demo":            {},
	"docs/examples/ci":      {"docs/examples/ci/shop"},
	"scripts/measure":       {},
	"scripts/benchguard":    {},
	"docs/examples/ci/shop": {},
	// tests only: runs what the pages show
	"docs": {},
	// tests only: scripted agents on real applications
	"internal/testing/agents": {
		"runtime/browser/launch", "faces/mcp", "primitives", "runtime",
		"internal/testing/axtest", "internal/testing/runtimetest",
	},
	"internal/testing/npmtest": {},
	// tests only: tasks on widgets of libraries
	"internal/testing/widgets": {
		"faces/mcp", "internal/testing/npmtest", "internal/testing/runtimetest", "runtime", "runtime/browser",
		"runtime/browser/launch",
	},
	// tests only: what actions answer on pages that deceive them
	"internal/testing/truth":  {},
	"projection/expr":         {"internal/lazyregexp", "primitives/fault", "projection/expr/jsonata"},
	"projection/expr/jsonata": {"primitives/fault"},
	"projection": {
		"primitives", "primitives/address", "primitives/fault", "primitives/schema", "sites/manifest",
		"projection/expr", "primitives/quirks", "primitives/locator",
	},
	"workflow": {
		"primitives", "primitives/fault", "sites/manifest", "projection/expr",
		"projection", "primitives/quirks", "primitives/span",
	},
	// a host over a real browser, for tests
	"internal/testing/runtimetest": {
		"runtime", "internal/testing/browsertest", "primitives", "projection/expr", "primitives/catalog",
	},
	// our provider, for tests
	"internal/testing/providertest": {"faces/provider", "internal/testing/runtimetest"},
	"runtime/call":                  {"internal/mask", "primitives/fault", "internal/jsonout"},
	"runtime/clipboard":             {"primitives", "primitives/fault", "primitives/session"},
	"runtime/checkcache":            {},
	"runtime/mapset": {
		"primitives", "primitives/fault", "primitives/upstream", "projection", "projection/expr",
		"runtime/call", "runtime/checkcache", "sites", "sites/filewatch", "sites/manifest", "workflow",
	},
	"runtime/checks": {
		"internal/element/locators", "internal/element/lock", "primitives", "primitives/descriptor", "primitives/fault",
	},
	"runtime/verify": {
		"internal/lazyregexp",
		"internal/mapedit", "internal/element/likeness", "internal/element/locators",
		"internal/element/lock", "primitives", "primitives/descriptor", "primitives/fault",
		"runtime/call", "sites", "sites/location", "sites/manifest", "internal/jsonout",
		"runtime/checks",
	},
	"runtime/state": {
		"primitives", "primitives/fault", "primitives/quirks", "primitives/session", "projection",
		"runtime/call", "runtime/mapset", "runtime/observe", "sites", "sites/manifest",
		"internal/jsonout",
	},
	"runtime/monitor": {
		"primitives", "runtime/call", "runtime/mapset", "runtime/observe", "runtime/verify", "sites",
	},
	"runtime/signal": {
		"primitives", "primitives/descriptor", "primitives/inject", "primitives/quirks", "runtime/call",
		"runtime/mapset", "runtime/verify", "sites", "sites/manifest",
	},
	"runtime/attach": {
		"primitives", "primitives/descriptor", "primitives/fault", "primitives/keys", "runtime/call",
		"runtime/mapset", "runtime/observe", "runtime/signal", "runtime/verify", "sites", "sites/manifest",
	},
	"runtime/announce": {
		"primitives", "primitives/fault", "primitives/session", "runtime/call", "runtime/observe",
	},
	"runtime/sitetool": {
		"internal/element/lock", "primitives", "primitives/fault", "primitives/schema", "projection",
		"runtime/attach", "runtime/call", "runtime/mapset", "runtime/monitor", "runtime/observe",
		"runtime/signal", "runtime/siteaction", "runtime/state", "runtime/verify", "sites",
		"sites/manifest", "internal/jsonout",
		"runtime/checks",
	},
	"runtime/siteaction": {
		"internal/element/lock", "primitives", "primitives/descriptor", "primitives/fault", "primitives/quirks",
		"projection/expr", "runtime/call", "runtime/mapset", "runtime/observe", "runtime/state", "runtime/verify",
		"sites", "sites/location", "sites/manifest", "sites/selector", "workflow", "primitives/span",
		"runtime/checks",
	},
	"runtime/observe":    {"primitives", "primitives/fault"},
	"runtime/screenshot": {"internal/mask", "primitives", "primitives/fault", "primitives/locator"},
	"runtime": {
		"primitives/address", "internal/mask", "primitives", "primitives/fault", "primitives/quirks",
		"primitives/session", "primitives/upstream", "projection/expr", "sites", "runtime/announce",
		"runtime/attach", "runtime/browser", "runtime/call", "runtime/clipboard", "runtime/mapset",
		"runtime/monitor", "runtime/observe", "runtime/screenshot", "runtime/signal", "runtime/siteaction",
		"runtime/sitetool", "runtime/state", "primitives/span", "primitives/locator", "internal/jsonout",
		"primitives/page", "internal/idempotency", "primitives/effect",
	},
	"runtime/browser/cdp":        {"primitives/fault"},
	"runtime/browser/webmcp":     {"primitives/pagetool", "primitives", "primitives/fault", "runtime/browser/cdp"},
	"runtime/browser/pasteboard": {"primitives/fault", "runtime/browser/cdp"},
	"runtime/browser/route":      {"primitives/address", "primitives/fault", "runtime/browser/cdp"},
	"runtime/browser/truncate":   {"internal/lazyregexp", "primitives/address"},
	"runtime/browser/launch":     {"internal/processgroup", "primitives/fault", "runtime/browser/cdp"},
	"runtime/browser/listen":     {"runtime/browser/cdp"},
	"runtime/browser/console":    {"primitives", "runtime/browser/cdp", "runtime/browser/truncate"},
	"runtime/browser/emulate": {
		"primitives/address", "primitives", "primitives/fault", "runtime/browser/cdp", "runtime/browser/truncate",
	},
	"runtime/browser/storage": {
		"primitives/address", "primitives", "primitives/fault", "runtime/browser/cdp", "runtime/browser/truncate",
	},
	"runtime/browser/files": {
		"internal/ownfolder", "primitives", "primitives/fault", "runtime/browser/cdp", "runtime/browser/truncate",
	},
	"runtime/browser/network": {
		"primitives/address", "primitives", "primitives/fault", "runtime/browser/cdp",
		"runtime/browser/truncate",
	},
	"runtime/browser/world": {
		"primitives", "primitives/fault", "primitives/inject", "runtime/browser/cdp", "internal/jsonout",
	},
	"runtime/browser/page": {
		"primitives/address", "primitives", "primitives/fault", "runtime/browser/cdp",
		"runtime/browser/truncate",
		"runtime/browser/world",
	},
	"runtime/browser": {
		"internal/devices", "internal/lazyregexp",
		"runtime/browser/truncate", "primitives/address", "primitives", "primitives/fault", "runtime/browser/cdp",
		"runtime/browser/console", "runtime/browser/emulate", "runtime/browser/files",
		"runtime/browser/launch", "runtime/browser/listen", "runtime/browser/network", "runtime/browser/page",
		"runtime/browser/pasteboard", "runtime/browser/route", "runtime/browser/storage",
		"runtime/browser/webmcp", "primitives/pagetool",
	},
	// roles, names and states beside the browser's, for tests
	"internal/testing/axtest":      {"primitives", "primitives/catalog"},
	"internal/testing/browsertest": {"runtime/browser", "runtime/browser/cdp", "runtime/browser/launch", "primitives"},
	"bridgeclient": {
		"internal/lazyregexp", "primitives/address", "runtime",
		"primitives/fault", "primitives/schema",
	},
	"bridgeclient/actionsbridge": {
		"bridgeclient", "runtime", "primitives/fault", "primitives/schema", "sites", "sites/manifest",
		"internal/jsonout",
	},
	"faces/asyncwriter": {}, // writes that an end does not wait for
	// what agents do, below the faces that agents use
	"faces/tools": {
		"internal/lazyregexp", "primitives", "primitives/address", "primitives/fault",
		"primitives/plain", "primitives/schema", "bridgeclient", "runtime", "internal/idempotency",
	},
	"faces/mcp": {
		"internal/idempotency", "internal/lazyregexp", "faces/asyncwriter", "faces/tools",
		"primitives/fault", "primitives/plain", "runtime",
	},
	"faces/provider": {
		"primitives/plain", "bridgeclient", "faces/asyncwriter", "runtime", "primitives/fault",
		"primitives/schema", "sites", "sites/manifest", "primitives/effect", "internal/jsonout", "internal/idempotency",
	},
	"internal/testing/peers":             {},                               // tests only
	"internal/testing/peerstest":         {"internal/testing/browsertest"}, // starts the upstream peers, for tests
	"conformance/bridgekit":              {"bridgeclient", "evidence/report", "primitives/fault"},
	"bridgeclient/browserbridge":         {"primitives/address", "runtime", "primitives/fault"},
	"bridgeclient/browserbridge/backend": {"bridgeclient/browserbridge"},
	// a host without a browser, for tests of the faces
	"internal/testing/hosttest": {"runtime", "primitives/fault"},
	"faces/leased": {
		"bridgeclient", "bridgeclient/actionsbridge", "faces/hub", "faces/mcp",
		"faces/provider", "fleet/session", "fleet/wire", "primitives/fault", "runtime",
	},
	"faces/startinghost": {"runtime", "primitives/fault"},
	"faces/hub": {
		"bridgeclient", "bridgeclient/actionsbridge", "runtime", "primitives/address", "primitives/fault",
		"primitives/schema", "sites", "sites/manifest", "internal/jsonout", "internal/idempotency",
	},
	"faces/provider/jcode": {"internal/background", "internal/lazyregexp", "faces/provider"},
	"faces/shell": {
		"evidence/outfile", "faces/tools", "internal/background", "internal/devices", "internal/idempotency",
		"internal/lazyregexp",
		"internal/owner", "primitives/fault", "runtime",
	},
	"internal/background":  {},
	"internal/devices":     {},
	"internal/idempotency": {"primitives/fault"},
	"internal/owner":       {},
	"internal/mask":        {"internal/lazyregexp", "primitives/address", "primitives/fault", "internal/jsonout"},
	"bridgeclient/demo": {
		"bridgeclient", "bridgeclient/actionsbridge", "faces/hub", "evidence/report", "plan",
		"primitives/fault", "runtime", "sites/demo", "internal/jsonout",
	},
	"projection/expr/explain": {"primitives/fault", "projection/expr"},
	"runtime/doctor": {
		"primitives/fault", "projection/expr", "runtime", "runtime/browser/launch", "sites/demo",
	},
	"evidence/outfile":        {},
	"evidence/picture":        {"evidence/outfile"}, // screenshots that are compared
	"evidence/outline":        {"internal/lazyregexp"},
	"internal/operate/traces": {"internal/lazyregexp", "primitives/fault", "primitives/span"},
	"internal/operate/ops":    {"internal/operate/metrics", "primitives/fault", "runtime"},
	"evidence/states":         {"evidence/report", "primitives/fault", "runtime", "primitives"},
	"evidence/report": {
		"primitives/plain", "primitives/fault", "evidence/outfile", "primitives",
		"internal/mask", "internal/jsonout", "internal/lazyregexp",
		"runtime/checks",
	},
	"fleet":          {"internal/lazyregexp", "primitives/fault", "internal/jsonout"},
	"fleet/wire":     {"primitives/fault"},
	"fleet/server":   {"primitives/fault"},
	"fleet/presence": {"fleet", "fleet/wire"},
	"fleet/queue":    {"fleet", "fleet/wire", "primitives/fault"},
	"fleet/worker":   {"fleet", "fleet/presence", "fleet/queue", "fleet/wire", "primitives/fault"},
	"fleet/submit":   {"fleet", "fleet/queue", "fleet/wire", "fleet/worker", "primitives/fault"},
	"fleet/tenant": {
		"internal/mask", "fleet", "fleet/queue", "fleet/server", "fleet/wire", "fleet/worker", "primitives/fault",
	},
	"fleet/session": {"fleet", "fleet/presence", "fleet/queue", "fleet/wire", "primitives/fault"},
	"fleet/status": {
		"evidence/report", "fleet", "fleet/presence", "fleet/queue", "fleet/wire", "primitives/fault",
	},
	// a server, simulated workers and a cutting proxy, for tests
	"internal/testing/fleettest": {"fleet", "fleet/queue", "fleet/server", "fleet/wire", "fleet/worker"},
	"plan/remote": {
		"internal/lazyregexp",
		"authoring/repair", "internal/ownfolder", "plan/schedule", "plan/spec", "internal/mask",
		"evidence/report", "fleet", "fleet/presence", "fleet/queue", "fleet/session", "fleet/submit",
		"fleet/worker", "plan", "primitives/fault", "projection/expr", "runtime", "runtime/browser", "sites",
	},
	"plan/serve": {"internal/processgroup", "primitives/fault"},
	"plan": {
		"internal/devices", "internal/lazyregexp", "plan/serve", "primitives",
		"primitives/address", "internal/element/lock", "authoring/repair", "internal/mask", "evidence/report",
		"plan/schedule", "plan/spec", "runtime", "runtime/browser", "sites", "sites/location",
		"projection/expr", "primitives/fault", "evidence/outfile", "evidence/outline", "evidence/picture",
		"runtime/checks",
	},
	"plan/schedule": {},
	"plan/watch":    {"evidence/report", "plan", "plan/spec", "sites/filewatch"},
	"plan/spec": {
		"internal/devices", "internal/lazyregexp", "evidence/outline",
		"internal/mask", "primitives/fault", "primitives/schema", "projection/expr", "internal/jsonout",
	},
	"internal/operate/metrics": {"primitives/fault", "runtime"},
	"evidence/record": {
		"internal/element/likeness", "internal/element/locators", "primitives/fault", "evidence/outfile",
		"primitives", "internal/jsonout",
	},
	"evidence/capture": {
		"internal/lazyregexp",
		"internal/element/likeness", "internal/element/locators", "internal/mask", "evidence/record", "primitives",
		"primitives/fault", "primitives/locator", "runtime", "runtime/browser",
	},
	"internal/operate/profiling": {},
	"evidence/recent": {
		"evidence/capture", "evidence/record", "internal/background", "primitives/fault", "runtime", "runtime/call",
	},
	"evidence/har":   {"evidence/record", "evidence/outfile", "internal/jsonout"},
	"evidence/trace": {"evidence/record", "primitives/fault", "evidence/outfile", "internal/jsonout"},
	"evidence/view": {
		"internal/lazyregexp", "evidence/record", "evidence/trace",
		"primitives/fault", "internal/jsonout",
	},
	"evidence/replay": {
		"primitives/address", "evidence/capture", "internal/mask", "evidence/record", "primitives", "primitives/fault",
		"primitives/quirks", "runtime", "runtime/browser", "evidence/outfile", "internal/ownfolder",
	},
	"client":       {}, // typed primitives
	"outridertest": {".", "client", "evidence/picture"},
	"outriderrod":  {"."},
	// the Go library
	".": {
		"client", "evidence/capture", "evidence/record", "evidence/trace", "internal/jsonout", "internal/mask",
		"runtime", "runtime/browser", "primitives", "primitives/catalog",
		"primitives/fault", "primitives/quirks", "projection/expr", "sites", "primitives/address",
	},
	"cmd/outrider":            {"internal/lazyregexp", "..."},
	"cmd/outrider/gcstart":    nil,
	"conformance/providerkit": {},
	"primitives/effect":       {},
	"internal/jsonout":        {},
	"internal/lazyregexp":     {},
}

// soleImporters names the packages that alone may import an outside library, tests
// excluded. A prefix covers the packages below it.
var soleImporters = map[string][]string{
	"github.com/santhosh-tekuri/jsonschema": {"primitives/schema"},
	"github.com/blues/jsonata-go":           {"projection/expr"},
	"github.com/go-rod/rod":                 {"outriderrod", "runtime/browser/cdp", "runtime/browser/page"},
	"github.com/go-rod/rod/lib/cdp":         {"outriderrod", "runtime/browser/cdp"}, // its WebSocket
	// types of the protocol, where a command has many parameters
	"github.com/go-rod/rod/lib/proto":        {"outriderrod", "runtime/browser/page"},
	"github.com/coder/websocket":             {"bridgeclient", "conformance", "faces"},
	"github.com/modelcontextprotocol/go-sdk": {"faces/mcp"},
	"github.com/andybalholm/cascadia":        {"sites/selector"},
	"github.com/spf13/cobra":                 {"cmd/outrider"},
	"github.com/spf13/pflag":                 {"cmd/outrider", "faces/shell"},
	"github.com/google/uuid":                 {".", "cmd/outrider"},
	"github.com/bmatcuk/doublestar":          {"plan"},
	"github.com/cenkalti/backoff":            {"bridgeclient", "internal/operate/traces", "runtime"},
	"github.com/fsnotify/fsnotify":           {"sites/filewatch"},
	"github.com/prometheus/client_golang":    {"internal/operate/metrics"},
	"go.opentelemetry.io":                    {"internal/operate/traces"},
	"github.com/nats-io":                     {"fleet"},
	"golang.org/x/net":                       {"bridgeclient/browserbridge", "primitives/address"},
	"golang.org/x/image":                     {"primitives/browser"},
	"golang.org/x/text":                      {"sites/location"},
	"golang.org/x/sys":                       {"runtime/browser", "projection/expr", "internal"},
	"golang.org/x/term":                      {"cmd/outrider"},
	"google.golang.org/protobuf":             {"internal/operate/traces"},
	// They call methods by name, so that the linker keeps every method of every type: 5 MB.
	"html/template":   {"docs/examples"},
	"text/template":   {},
	"go.yaml.in/yaml": {"cmd/outrider", "fleet/tenant", "plan/spec", "sites"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Dir        string
}

func TestImportsFollowTheTable(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if name == strings.TrimSuffix(module, "/") {
			name = "."
		}
		allowed, ok := mayImport[name]
		if !ok {
			t.Errorf("package %s is not in the table: write down what it may import, and why it exists in "+
				"docs/reference/packages.md", name)
			continue
		}
		for _, imp := range p.Imports {
			if rest, ours := strings.CutPrefix(imp, module); ours {
				if !matches(allowed, rest) {
					t.Errorf("%s imports %s, which its line does not allow", name, rest)
				}
				continue
			}
			for lib, importers := range soleImporters {
				if imp != lib && !strings.HasPrefix(imp, lib+"/") {
					continue
				}
				if !slices.ContainsFunc(importers, func(importer string) bool {
					return name == importer || strings.HasPrefix(name, importer+"/")
				}) {
					t.Errorf("%s imports %s; its door is %v", name, imp, importers)
				}
			}
		}
	}
}

// maxLead is how many lines of prose a package comment has before its first
// heading.
const maxLead = 12

// A package comment says in about three sentences what the package is for, what
// it does not do, and who calls it.
func TestPackagesIntroduceThemselves(t *testing.T) {
	for _, p := range list(t) {
		comment := packageComment(t, p.Dir)
		lead, _, _ := strings.Cut(comment, "\n# ")
		lines := 0
		for line := range strings.Lines(lead) {
			if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(line, "\t") {
				lines++
			}
		}
		name := strings.TrimPrefix(p.ImportPath, module)
		if sentences := len(sentenceEnd.FindAllString(lead, -1)); sentences < 2 {
			t.Errorf(
				"%s: its package comment has %d sentences: expected what it is for, what it does not do, who calls it",
				name, sentences,
			)
		}
		if lines > maxLead {
			t.Errorf(
				"%s: its package comment has %d lines before the first heading: expected at most %d",
				name, lines, maxLead,
			)
		}
	}
}

var sentenceEnd = regexp.MustCompile(`[.?]\)?(\s|$)`)

// packageComment returns the comment of the package in a folder. One of tests
// only has it in a test file.
func packageComment(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if parsed.Doc == nil || strings.HasSuffix(parsed.Name.Name, "_test") && len(files) > 1 {
			continue
		}
		name := strings.TrimSuffix(parsed.Name.Name, "_test")
		if name != "main" && !strings.HasPrefix(parsed.Doc.Text(), "Package "+name+" ") {
			t.Errorf("%s: the comment does not begin with %q, as go doc prints it", file, "Package "+name)
		}
		all = append(all, parsed.Doc.Text())
	}
	if len(all) > 1 {
		t.Errorf("%s has %d package comments: expected one", dir, len(all))
	}
	return strings.Join(all, "\n")
}

// Only the command ends the process or writes to the standard streams.
func TestOnlyTheCommandExits(t *testing.T) {
	out, err := exec.Command(
		"git", "grep", "-nE", `os\.Exit\(|fmt\.Print|os\.Stdout|log\.Fatal`,
		"--", "*.go", ":!cmd", ":!testdata", ":!*_test.go",
	).CombinedOutput()
	if err != nil && len(out) > 0 {
		t.Skipf("git is not usable here: %s", out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "layering:allow") {
			continue
		}
		t.Errorf("outside cmd: %s", strings.TrimSpace(line))
	}
}

// Whoever calls methods by a name that is no constant has the linker keep every method: 5 MB more.
func TestNothingCallsMethodsByName(t *testing.T) {
	out, err := exec.Command(
		"git", "grep", "-nE", `MethodByName\(|Set(Version|Usage|Help)Template\(`, "--", "*.go", ":!*_test.go",
	).CombinedOutput()
	if err != nil && len(out) > 0 {
		t.Skipf("git is not usable here: %s", out)
	}
	for line := range strings.Lines(string(out)) {
		t.Errorf("the binary grows by a tenth: %s", strings.TrimSpace(line))
	}
}

// A time means the same on every machine: nothing that waits for a page asks how busy this one is.
func TestNoWaitReadsTheLoad(t *testing.T) {
	asks := regexp.MustCompile(`loadavg|getloadavg`)
	read := 0
	for _, folder := range []string{"runtime", "primitives", "workflow", "projection", "sites", "faces"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			read++
			if asks.Match(text) {
				t.Errorf("%s asks how busy the machine is", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 100 {
		t.Errorf("read %d files only", read)
	}
}

func matches(allowed []string, pkg string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		if a == "..." {
			return true
		}
		if prefix, ok := strings.CutSuffix(a, "/..."); ok {
			return pkg == prefix || strings.HasPrefix(pkg, prefix+"/")
		}
		return pkg == a
	})
}

func list(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Dir", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing packages: %v", err)
	}
	var all []goPackage
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 5 {
		t.Fatalf("found %d packages: the test does not see the repository", len(all))
	}
	return all
}

// maxFolderFiles is how many files without tests one person keeps in mind of a folder.
const maxFolderFiles = 40

// manyFiles names the folders that have more, with the reason.
var manyFiles = map[string]string{
	"cmd/outrider":            "a file is a verb",
	"projection/expr/jsonata": "the JSONata evaluator: a library of its own, cut as the language is",
}

func TestFoldersFitIntoOneHead(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		entries, err := os.ReadDir(p.Dir)
		if err != nil {
			t.Fatal(err)
		}

		files := 0
		for _, e := range entries {
			isCode := strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go")
			if isCode && !e.IsDir() {
				files++
			}
		}
		if _, excepted := manyFiles[name]; files > maxFolderFiles && !excepted {
			t.Errorf("%s has %d files: expected at most %d", name, files, maxFolderFiles)
		}
	}
}

// engine is the engine and what lies below it: it imports no face, no front room and no command.
var engine = regexp.MustCompile(`^(runtime|workflow|projection|sites|primitives|internal/(mask|element|mapedit))(/|$)`)

// above is what stands on the engine.
var above = regexp.MustCompile(
	`^(cmd|faces|bridgeclient|conformance|plan|fleet|authoring|evidence|internal/operate)(/|$)`,
)

func TestEngineImportsNothingAbove(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if !engine.MatchString(name) {
			continue
		}
		for _, imp := range p.Imports {
			if rest, ours := strings.CutPrefix(imp, module); ours && above.MatchString(rest) {
				t.Errorf("%s imports %s, which stands above it", name, rest)
			}
		}
	}
}
