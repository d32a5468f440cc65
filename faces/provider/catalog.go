package provider

import (
	"context"

	"github.com/outrider-run/outrider/primitives/schema"
)

// tier says how a method is announced.
type tier int

const (
	core tier = iota
	optional
	setup
	custom
)

// scope says what a method works on.
type scope int

const (
	onProvider scope = iota // nothing of a session
	onSession               // a session; a page of it where the method takes one
	onPage                  // one page: the named one, or the active one
)

// method is one method of the protocol.
type method struct {
	name  string
	tier  tier
	scope scope
	// needs are the primitives without which the method is not offered.
	needs []string
	when  func(*Server) bool // a further condition, nil for none
	// free does not wait for earlier requests of the session.
	free bool
	// concernsAll waits for all earlier requests of the session even when it
	// names a page.
	concernsAll  bool
	experimental bool
	description  string // of custom methods
	input        string // JSON schema of params; further members are ignored
	output       string // of custom methods, "" for none
	schema       *schema.Schema
	run          func(context.Context, *request) (any, *Failure)
}

func (m *method) stability() string {
	if m.experimental {
		return "experimental"
	}
	return "stable"
}

// Members of params that many methods share.
const (
	sessionMember = `"session_id":{"type":"string","minLength":1}`
	pageMembers   = sessionMember +
		`,"page_id":{"type":"string","minLength":1},"timeout_ms":{"type":"number","minimum":0,"maximum":600000}`
	targetMembers = pageMembers +
		`,"element_ref":{"type":"string","minLength":1},"selector":{"type":"string","minLength":1}`
	pressMembers = targetMembers + `,"text_query":{"type":"string","minLength":1},` +
		`"position":{"type":"object","required":["x","y"],"properties":{"x":{"type":"number"},"y":{"type":"number"}}}`
	listMembers = pageMembers +
		`,"limit":{"type":"integer","minimum":1,"maximum":1000},"since":{"type":"integer","minimum":0}`
)

// params is an object schema; required members are among the given ones.
func params(members string, required ...string) string {
	s := `{"type":"object","properties":{` + members + `}`
	for i, name := range required {
		if i == 0 {
			s += `,"required":[`
		} else {
			s += `,`
		}
		s += `"` + name + `"`
		if i == len(required)-1 {
			s += `]`
		}
	}
	return s + `}`
}

func onServer(
	f func(*Server, context.Context, *request) (any, *Failure),
) func(context.Context, *request) (any, *Failure) {
	return func(ctx context.Context, r *request) (any, *Failure) { return f(r.server, ctx, r) }
}

// catalog lists every method, in the order in which provider.describe lists
// them.
func catalog() []*method {
	const any = `{"type":"object"}`
	list := []*method{
		{name: "provider.describe", tier: core, free: true, input: any, run: onServer((*Server).describe)},
		{name: "provider.status", tier: core, free: true, input: any, run: onServer((*Server).status)},
		{name: "session.ensure", tier: core, free: true, input: ensureParams, run: ensureSession},
		{
			name:        "session.close",
			tier:        core,
			scope:       onSession,
			concernsAll: true,
			input:       params(sessionMember, "session_id"),
			run:         closeSession,
		},
		{
			name:  "page.open",
			tier:  core,
			scope: onSession,
			needs: []string{"browser.navigate"},
			run:   openPage,
			input: params(pageMembers+
				`,"url":{"type":"string","minLength":1},"new_page":{"type":"boolean"},"foreground":{"type":"boolean"},`+
				`"wait_until":{"enum":["load","domcontentloaded","networkidle","provider_default"]}`,
				"session_id", "url"),
		},
		{
			name:  "page.snapshot",
			tier:  core,
			scope: onPage,
			needs: []string{"page.snapshot", "page.extract"},
			run:   snapshotPage,
			input: params(pageMembers+
				`,"include_screenshot":{"type":"boolean"},"include_html":{"type":"boolean"},`+
				`"include_dom":{"type":"boolean"},"include_a11y":{"type":"boolean"},`+
				`"include_text":{"type":"boolean"},"max_nodes":{"type":"integer","minimum":1,"maximum":100000}`,
				"session_id"),
		},
		{
			name:  "page.click",
			tier:  core,
			scope: onPage,
			needs: []string{"pointer.click"},
			input: params(pressMembers, "session_id"),
			run:   click,
		},
		{
			name:  "page.type",
			tier:  core,
			scope: onPage,
			needs: []string{"text.insert", "keyboard.press"},
			run:   typeText,
			input: params(
				targetMembers+`,"text":{"type":"string"},"replace":{"type":"boolean"},"submit":{"type":"boolean"}`,
				"session_id", "text",
			),
		},
		{
			name:  "page.wait",
			tier:  core,
			scope: onPage,
			needs: []string{"page.wait"},
			run:   wait,
			input: params(pageMembers+
				`,"text_present":{"type":"string","minLength":1},"text_absent":{"type":"string","minLength":1},`+
				`"selector_present":{"type":"string","minLength":1},`+
				`"selector_absent":{"type":"string","minLength":1},"element_ref_present":{"type":"string",`+
				`"minLength":1},"url_matches":{"type":"string","minLength":1},`+
				`"navigation_complete":{"type":"boolean"}`, "session_id"),
		},
		{
			name:  "page.screenshot",
			tier:  core,
			scope: onPage,
			needs: []string{"browser.screenshot"},
			run:   screenshot,
			input: params(pageMembers+
				`,"full_page":{"type":"boolean"},"element_ref":{"type":"string","minLength":1},`+
				`"clip":{"type":"object","required":["x","y","width","height"],"properties":{`+
				`"x":{"type":"number","minimum":0},"y":{"type":"number","minimum":0},"width":{"type":"number",`+
				`"exclusiveMinimum":0},"height":{"type":"number","exclusiveMinimum":0}}}`, "session_id"),
		},

		{name: "provider.setup_guide", tier: setup, free: true, input: any, run: onServer((*Server).setupGuide)},
		{name: "provider.verify", tier: setup, free: true, input: any, run: onServer((*Server).verify)},

		{
			name:  "page.go_back",
			tier:  optional,
			scope: onPage,
			needs: []string{"page.history"},
			input: params(pageMembers, "session_id"),
			run:   history("back"),
		},
		{
			name:  "page.go_forward",
			tier:  optional,
			scope: onPage,
			needs: []string{"page.history"},
			input: params(pageMembers, "session_id"),
			run:   history("forward"),
		},
		{
			name:  "page.reload",
			tier:  optional,
			scope: onPage,
			needs: []string{"page.history"},
			input: params(pageMembers, "session_id"),
			run:   history("reload"),
		},
		{
			name:  "page.press",
			tier:  optional,
			scope: onPage,
			needs: []string{"keyboard.press"},
			run:   press,
			input: params(targetMembers+`,"key":{"type":"string","minLength":1},"modifiers":{"type":"array",`+
				`"items":{"type":"string"}}`, "session_id", "key"),
		},
		{
			name:  "page.select",
			tier:  optional,
			scope: onPage,
			needs: []string{"page.select"},
			run:   selectOptions,
			input: params(targetMembers+
				`,"value":{"type":"string"},"values":{"type":"array","items":{"type":"string"}},`+
				`"label":{"type":"string"}`, "session_id"),
		},
		{
			name:  "page.hover",
			tier:  optional,
			scope: onPage,
			needs: []string{"page.hover", "pointer.move"},
			input: params(pressMembers, "session_id"),
			run:   hover,
		},
		{
			name:  "page.scroll",
			tier:  optional,
			scope: onPage,
			needs: []string{"viewport.scroll"},
			run:   scroll,
			input: params(
				targetMembers+`,"x":{"type":"number"},"y":{"type":"number"},"position":{"enum":["top","bottom"]}`,
				"session_id",
			),
		},
		{
			name:  "page.eval",
			tier:  optional,
			scope: onPage,
			needs: []string{"browser.run_javascript"},
			run:   evaluate,
			input: params(pageMembers+`,"expression":{"type":"string","minLength":1}`, "session_id", "expression"),
		},
		{name: "tab.list", tier: optional, scope: onSession, input: params(sessionMember, "session_id"), run: listTabs},
		{
			name:        "tab.new",
			tier:        optional,
			scope:       onSession,
			concernsAll: true,
			needs:       []string{"browser.navigate", "browser.open_tab"},
			run:         newTab,
			input: params(
				pageMembers+`,"url":{"type":"string","minLength":1},"foreground":{"type":"boolean"}`, "session_id",
			),
		},
		{
			name:        "tab.activate",
			tier:        optional,
			scope:       onSession,
			concernsAll: true,
			run:         activateTab,
			input:       params(sessionMember+`,"tab_id":{"type":"string","minLength":1}`, "session_id", "tab_id"),
		},
		{
			name:        "tab.close",
			tier:        optional,
			scope:       onSession,
			concernsAll: true,
			run:         closeTab,
			input:       params(sessionMember+`,"tab_id":{"type":"string","minLength":1}`, "session_id", "tab_id"),
		},
		{
			name:  "network.list",
			tier:  optional,
			scope: onPage,
			needs: []string{"network.list"},
			input: params(listMembers, "session_id"),
			run:   entries("network.list"),
		},
		{
			name:  "console.list",
			tier:  optional,
			scope: onPage,
			needs: []string{"console.list"},
			input: params(listMembers, "session_id"),
			run:   entries("console.list"),
		},
		{
			name:  "storage.get",
			tier:  optional,
			scope: onPage,
			needs: []string{"storage_state.get"},
			run:   storage,
			input: params(
				pageMembers+`,"area":{"enum":["local","session"]},"keys":{"type":"array","items":{"type":"string"}}`,
				"session_id",
			),
		},
		{
			name:  "cookie.list",
			tier:  optional,
			scope: onPage,
			needs: []string{"cookie.list"},
			run:   cookies,
			input: params(pageMembers+`,"urls":{"type":"array","items":{"type":"string"}}`, "session_id"),
		},
		{
			name:  "download.list",
			tier:  optional,
			scope: onPage,
			needs: []string{"download.list"},
			when:  downloads,
			input: params(pageMembers, "session_id"),
			run:   listDownloads,
		},
		{
			name:  "download.wait",
			tier:  optional,
			scope: onPage,
			needs: []string{"download.wait"},
			when:  downloads,
			run:   waitDownload,
			input: params(pageMembers+`,"download_id":{"type":"string","minLength":1}`, "session_id"),
		},
		{
			name:  "upload.set_files",
			tier:  optional,
			scope: onPage,
			needs: []string{"upload.set_files"},
			when:  func(s *Server) bool { return s.opts.Uploads },
			run:   setFiles,
			input: params(
				targetMembers+`,"paths":{"type":"array","minItems":1,"items":{"type":"string","minLength":1}}`,
				"session_id", "paths",
			),
		},
	}
	return append(list, customMethods()...)
}

func downloads(s *Server) bool { return s.opts.Downloads }
