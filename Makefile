# make demo and make test need Go and nothing else: each finds Chromium or installs it.
GO ?= go
GOLANGCI_LINT ?= $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.6.1
# Of one package. It ends a test that hangs, and is not met by a machine that is slow.
TEST_TIMEOUT ?= 60m
# Busy processes beside the tests of make loaded.
BUSY ?= 8

# The packages that take longest come first, so that none of them runs alone at the end.
PACKAGES = ./runtime/browser ./runtime ./cmd/outrider ./faces/mcp ./evidence/replay ./internal/testing/truth ./internal/testing/peers \
	./authoring/learn ./authoring/scaffold ./docs/... . ./bridgeclient/browserbridge ./faces/provider/... ./...
# Tests of browsers wait a fifth of their time, so one package more than there are processors runs at once.
TESTFLAGS ?= -p $$(($$(getconf _NPROCESSORS_ONLN) + 1))
# For the tests and the programs that they build: with -trimpath, which outrider is built with, no package is compiled a
# second time, in another clone neither. Without tables for debuggers (-w) they are linked in two thirds of the time.
test quick test-long compare race: export GOFLAGS := -trimpath -ldflags=-w $(GOFLAGS)

# Where Chromium and the headless shell are, for tests and programs; a path in OUTRIDER_BROWSER is used for everything.
BROWSERS = OUTRIDER_CHROMIUM="$$(scripts/ensure-chromium)" && OUTRIDER_HEADLESS_SHELL="$$(scripts/ensure-chromium shell)" && \
	export OUTRIDER_CHROMIUM OUTRIDER_HEADLESS_SHELL

.PHONY: help quick test-long axe repair drift record-packages learned init-pages demo test compare peers agents widgets loaded race bench bench-browser bench-guard bench-ratios bench-drivers bench-heavy bench-growth lint generate check build install

# help lists what make can do.
help:
	@echo 'make demo           opens a page and acts on it'
	@echo 'make test           all tests, against a real Chromium'
	@echo 'make quick          tests of what the branch changed and of what imports it, tables in short'
	@echo 'make test-long      what only repeats: fresh tabs, both browsers, long tables, then make compare'
	@echo 'make compare        what compares with the folders of the peers'
	@echo 'make check          generate, gofmt, vet, test, and whether generated files are current'
	@echo 'make lint           vet and golangci-lint'
	@echo 'make generate       writes generated code and pages'
	@echo 'make build          bin/outrider; make install puts it where go install does'
	@echo 'make race           all tests with the race detector; make loaded: beside $(BUSY) busy processes'
	@echo 'make bench          benchmarks; bench-browser, bench-guard, bench-ratios, bench-drivers, bench-heavy, bench-growth'
	@echo 'make peers          compares with the upstream extension and bridge'
	@echo 'make agents         scripted agents on applications of npm and PyPI'
	@echo 'make widgets        tasks on widgets of libraries of npm'
	@echo 'make drift repair record-packages learned init-pages axe   measures on packages of npm'

demo:
	@$(BROWSERS) && exec $(GO) run ./cmd/outrider demo

# Folders beside this one: the upstream extension and bridge, and the published schemas and expressions. Without them, in
# a clone that lies alone, what needs them is skipped.
OUTRIDER_PEERS ?= $(wildcard $(abspath ../shared/peers))
OUTRIDER_UPSTREAM_DATA ?= $(wildcard $(abspath ../shared/data))
OUTRIDER_JSONATA_DATA ?= $(wildcard $(abspath ../shared/data))
export OUTRIDER_PEERS OUTRIDER_UPSTREAM_DATA OUTRIDER_JSONATA_DATA

# The packages whose tests compare with those folders.
COMPARED = ./internal/testing/peers ./conformance/bridgekit ./primitives ./primitives/upstream ./projection/expr/jsonata

# It prints what go test prints, and lists at the end what failed, and what was skipped and why.
GOTESTSUM = $(GO) run gotest.tools/gotestsum@v1.13.0 --format standard-quiet --

test:
	@$(BROWSERS) && export OUTRIDER_REQUIRE_BROWSER=1 && \
		exec $(GOTESTSUM) $(TESTFLAGS) -timeout $(TEST_TIMEOUT) $(PACKAGES)

# quick tests what the branch, or what is not committed, changes, and what imports it. Of long tables it has one case of
# eight and those that were changed. BASE is the commit to compare with, if not where the branch left main.
quick:
	@$(BROWSERS) && OUTRIDER_REQUIRE_BROWSER=1 OUTRIDER_CHANGED="$$(scripts/changed files)" && \
		export OUTRIDER_REQUIRE_BROWSER OUTRIDER_CHANGED && \
		exec $(GOTESTSUM) $(TESTFLAGS) -short -timeout $(TEST_TIMEOUT) $$(scripts/changed)

# test-long runs in their long form the packages whose tests have one, then what compares with the peers.
LONG = $(shell git grep -lE 'browsertest[.](Only)?Long|OUTRIDER_LONG' -- '*_test.go' | xargs dirname | sort -u | sed 's|^|./|')
test-long:
	@$(BROWSERS) && export OUTRIDER_REQUIRE_BROWSER=1 OUTRIDER_LONG=1 && \
		exec $(GOTESTSUM) $(TESTFLAGS) -count=1 -timeout $(TEST_TIMEOUT) $(LONG)
	@$(MAKE) compare

# compare runs again what compares with the folders beside this one.
compare:
	@$(BROWSERS) && export OUTRIDER_REQUIRE_BROWSER=1 && \
		exec $(GOTESTSUM) $(TESTFLAGS) -timeout $(TEST_TIMEOUT) $(COMPARED)

# peers compares with the real upstream extension behind the real upstream bridge, and writes docs/profiles.md. It is
# skipped without their folder.
peers:
	@OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" OUTRIDER_PEERS_ALL=1 && export OUTRIDER_BROWSER OUTRIDER_PEERS_ALL && \
		$(GO) test -count=1 -v -timeout 30m -run TestPeers ./internal/testing/peers ./conformance/bridgekit
	@OUTRIDER_GENERATE=1 $(GO) test -count=1 -run PageIsCurrent ./internal/testing/peers

# agents lets scripted agents do tasks on applications of npm and PyPI, beside two other servers, and writes docs/agents.md.
# Then it compares names, roles and states of every page with the browser's own tree.
agents:
	@OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" && export OUTRIDER_BROWSER && \
		OUTRIDER_AGENTS=1 exec $(GO) test -count=1 -v -timeout 150m -run 'TestAgents|TestAgentsByShell|TestNamesOnApplications' ./internal/testing/agents

# widgets does what people ask of widgets on components of npm, judged by each library's own model, and writes
# docs/widgets.md.
widgets:
	@OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" && export OUTRIDER_BROWSER && \
		OUTRIDER_WIDGETS=1 exec $(GO) test -count=1 -v -timeout 120m -run TestWidgets ./internal/testing/widgets

loaded:
	@scripts/under-load $(BUSY) $(MAKE) test

race:
	@$(BROWSERS) && export OUTRIDER_REQUIRE_BROWSER=1 && \
		exec $(GO) test -race -timeout $(TEST_TIMEOUT) $(PACKAGES)

bench:
	@OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" && export OUTRIDER_BROWSER && \
		exec $(GO) test -run '^$$' -bench . -benchmem -timeout 30m ./...

bench-browser:
	@OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" && export OUTRIDER_BROWSER && \
		exec $(GO) test -run '^$$' -bench 'Peer|ColdStart|SixteenTabs|Snapshot|Extract|First' -benchtime 20x -timeout 30m ./runtime/browser

# bench-guard says which ratio to the floor got worse than in testdata/bench/ratios.json, and
# bench-ratios writes that file. Both are for an idle machine and take five to ten minutes.
GUARDED = Peer|ColdStart|SixteenTabs|Snapshot|Extract|Records|First
GUARD_RUNS ?= 3
guarded = @OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" && export OUTRIDER_BROWSER && set -o pipefail && \
	$(GO) test -run '^$$' -bench '$(GUARDED)' -benchtime 20x -count $(GUARD_RUNS) -timeout 60m ./runtime/browser ./faces/mcp | \
	$(GO) run ./scripts/benchguard $(1) testdata/bench/ratios.json
bench-guard bench-ratios: SHELL = /bin/bash
bench-guard:
	$(call guarded,)

bench-ratios:
	$(call guarded,-update)

# bench-drivers does the same work with raw CDP, Outrider, chromedp, Playwright and over MCP in one run, and writes
# docs/drivers.md.
# One that npm or the module proxy does not give is left out with the reason. It is for an idle machine.
DRIVERS_ROUNDS ?= 40
DRIVERS_PAGE ?= docs/drivers.md
bench-drivers:
	@dir="$$(mktemp -d)" && trap 'rm -rf "$$dir"' EXIT && \
		{ $(GO) -C testdata/drivers build -o "$$dir/chromedp" . && export OUTRIDER_CHROMEDP="$$dir/chromedp" || true; } && \
		{ $(GO) build -trimpath -o "$$dir/outrider" ./cmd/outrider && export OUTRIDER_PROGRAM="$$dir/outrider" || true; } && \
		{ npm install --silent --no-audit --no-fund --prefix "$$dir" playwright-core @playwright/mcp @playwright/cli agent-browser && export PLAYWRIGHT_DIR="$$dir" || true; } && \
		OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" OUTRIDER_DRIVERS="$(abspath $(DRIVERS_PAGE))" OUTRIDER_DRIVERS_ABOUT="$(ABOUT)" \
		$(GO) test -run '^$$' -bench Drivers -benchtime $(DRIVERS_ROUNDS)x -timeout 60m ./runtime/browser

# bench-heavy goes to heavy pages over MCP with Outrider and three other servers, and writes docs/heavy-pages.md. Without
# npm it is skipped. It is for an idle machine.
HEAVY_ROUNDS ?= 12
HEAVY_PAGE ?= docs/heavy-pages.md
HEAVY_LIBRARIES = ag-grid-community handsontable monaco-editor swagger-ui-dist grapesjs three
HEAVY_SERVERS = @playwright/mcp@latest chrome-devtools-mcp@latest agent-browser@latest
bench-heavy:
	@dir="$$(mktemp -d)" && trap 'rm -rf "$$dir"' EXIT && \
		{ $(GO) build -trimpath -o "$$dir/outrider" ./cmd/outrider && export OUTRIDER_PROGRAM="$$dir/outrider" || true; } && \
		{ npm install --silent --no-audit --no-fund --prefix "$$dir" $(HEAVY_LIBRARIES) $(HEAVY_SERVERS) && \
			export HEAVY_PACKAGES="$$dir" || true; } && \
		OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" OUTRIDER_HEAVY="$(abspath $(HEAVY_PAGE))" OUTRIDER_DRIVERS_ABOUT="$(ABOUT)" \
		$(GO) test -run '^$$' -bench Heavy -benchtime $(HEAVY_ROUNDS)x -timeout 60m -v ./runtime/browser

# bench-growth measures how time and memory grow, and writes docs/growth.md with its pictures.
# OUTRIDER_GROWTH_CALLS, _NAVIGATIONS and _CYCLES make the sessions longer. ABOUT says what machine it was, and
# UNIT, which is ms or MB, leaves the other out: on a busy machine only memory says something.
UNIT ?=
ABOUT ?= **Machine**: $$(nproc) cores, $$(uname -s). **Measured**: $$(date '+%-d %B %Y').
bench-growth:
	@dir="$$(mktemp -d)" && trap 'rm -rf "$$dir"' EXIT && echo "$(ABOUT)" > "$$dir/about.txt" && \
		OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" OUTRIDER_GROWTH="$$dir" \
		$(GO) test -count=1 -v -timeout 6h -run TestGrowth ./runtime && \
		$(GO) -C scripts/growth run . "$$dir" "$(abspath docs/growth.md)" $(UNIT)

# axe looks at the HTML report with axe-core, which it fetches from npm.
axe:
	@dir="$$(mktemp -d)" && trap 'rm -rf "$$dir"' EXIT && npm install --silent --no-audit --no-fund --prefix "$$dir" axe-core@4 && \
		OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" OUTRIDER_AXE="$$dir/node_modules/axe-core/axe.min.js" \
		$(GO) test -count=1 -v -run Axe ./evidence/report

# repair measures repair on pages of component libraries, which it fetches from npm.
HELD_OUT = admin-lte@3.2.0 gentelella@1.4.0 govuk-frontend@6.6.0 startbootstrap-sb-admin-2@4.1.4 uikit@3.25.29
repair:
	@dir="$$(mktemp -d)" && trap 'rm -rf "$$dir"' EXIT && for p in $(HELD_OUT); do \
		(cd "$$dir" && npm pack --silent "$$p" >p.txt && mkdir "$${p%@*}" && tar xzf "$$(cat p.txt)" -C "$${p%@*}") || exit 1; done && \
		OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" OUTRIDER_REPAIR_PAGES="$$dir" \
		$(GO) test -count=1 -v -timeout 30m -run HeldOut ./internal/element/locators

# drift runs maps that were written on old versions of pages and libraries of npm on their new versions.
DRIFTED = $(shell grep -rhoE '"[^"/ ]+@[0-9][^"/ ]*"' testdata/drift --include=drift.json | sort -u)
drift:
	@dir="$$(mktemp -d)" && trap 'rm -rf "$$dir"' EXIT && for p in $(DRIFTED); do \
		(cd "$$dir" && npm pack --silent "$$p" >p.txt && mkdir "$$p" && tar xzf "$$(cat p.txt)" --strip-components=1 -C "$$p") || exit 1; done && \
		OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" OUTRIDER_DRIFT_PACKAGES="$$dir" \
		$(GO) test -count=1 -v -timeout 30m -run VersionPairs ./cmd/outrider

# Recordings over editors, drag libraries and selects of npm packages.
RECORDED = quill@2.0.3 trix@2.1.19 codemirror@5.65.21 sortablejs@1.15.7 dragula@3.7.3 choices.js@11.2.4 slim-select@2.13.1 tom-select@2.6.2

record-packages:
	@dir="$$(mktemp -d)" && trap 'rm -rf "$$dir"' EXIT && (cd "$$dir" && npm install --silent --no-audit --no-fund --ignore-scripts $(RECORDED)) && \
		OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" OUTRIDER_RECORD_PACKAGES="$$dir" \
		$(GO) test -count=1 -v -timeout 30m -run RecordingsOfPackages ./authoring/recorder

# Sessions of agents and first maps, on fixtures and on pages of npm packages. learned writes docs/learned.md.
learned:
	@OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" && export OUTRIDER_BROWSER && \
		OUTRIDER_LEARN_SESSIONS=1 $(GO) test -count=1 -v -timeout 60m -run LearnOfAllSessions ./authoring/learn

init-pages:
	@OUTRIDER_BROWSER="$$(scripts/ensure-chromium)" && export OUTRIDER_BROWSER && \
		OUTRIDER_INIT_PAGES=1 $(GO) test -count=1 -v -timeout 60m -run InitOfThirtyPages ./authoring/scaffold

build:
	$(GO) build -trimpath -o bin/outrider ./cmd/outrider

# install puts outrider where go install puts programs, and says where that is.
install:
	$(GO) install -trimpath ./cmd/outrider
	@dir="$$($(GO) env GOBIN)"; echo "installed $${dir:-$$($(GO) env GOPATH)/bin}/outrider"

lint:
	$(GO) vet ./...
	$(GOLANGCI_LINT) run ./...

generate:
	OUTRIDER_GENERATE=1 $(GO) test -count=1 -run 'Page(s)?IsCurrent|Docs|Documentation|Generated' . ./client ./primitives/... ./sites/manifest ./plan/spec ./internal/testing/mapschema ./internal/testing/truth ./conformance/bridgekit ./internal/testing/peers ./internal/testing/axtest ./cmd/outrider

check: generate
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(MAKE) test
	@git diff --exit-code --stat || { echo "generated files or formatting changed: commit them"; exit 1; }
