package provider

import (
	"cmp"
	"context"
)

const ensureParams = `{"type":"object","required":["client_session_id"],"properties":{` +
	`"client_session_id":{"type":"string","minLength":1,"maxLength":200},"browser_preference":{"type":"string"},` +
	`"isolation":{"type":"string"},` +
	`"attach":{"type":"string"},"persist":{"type":"boolean"},"metadata":{"type":"object"},` +
	`"events":{"type":["boolean","array"],"items":{"type":"string"}}}}`

// ensureSession makes the session of a client, or finds it.
func ensureSession(ctx context.Context, r *request) (any, *Failure) {
	var in struct {
		Client     string `json:"client_session_id"`
		Preference string `json:"browser_preference"`
		Isolation  string `json:"isolation"`
		Attach     string `json:"attach"`
		Persist    bool   `json:"persist"`
		Events     any    `json:"events"`
	}
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	options := sessionOptions{isolation: isolationOwn, attach: "prefer", persist: in.Persist}
	switch in.Isolation {
	case isolationOwn, isolationShared:
		options.isolation = in.Isolation
	case "":
	default:
		r.warn("unknown_isolation", "isolation is not per_jcode_session or shared; per_jcode_session was used")
	}
	switch in.Attach {
	case "prefer", "never":
		options.attach = in.Attach
	case "require":
		options.attach = in.Attach
		if !r.server.opts.Attached {
			return nil, newFailure(UnsupportedTarget, "this provider starts a browser of its own").
				with("member", "attach").
				with("next_step", "start the provider with --attach")
		}
	case "":
	default:
		r.warn("unknown_attach", "attach is not prefer, require or never; prefer was used")
	}
	switch in.Preference {
	case "", "auto", browserFamily, "chrome", "edge", "brave":
	default:
		r.warn("browser_preference_ignored", "this provider has one browser, of the family "+browserFamily)
	}
	s, created, failure := r.server.sessions.ensure(ctx, in.Client, options, r.connection)
	if failure != nil {
		return nil, failure
	}
	if !created && s.options != options {
		r.warn("session_options_ignored", "the session exists already, with other options")
	}
	if s.attached && s.options.isolation == isolationOwn {
		r.warn(
			"profile_shared",
			"the session has pages of its own, and the cookies and storage of the browser it is attached to",
		)
	}
	r.connection.want(s.id, in.Events)
	out := map[string]any{
		"session_id":                   s.id,
		"browser_family":               browserFamily,
		"browser_label":                r.server.browserLabel(),
		"attached_to_existing_browser": s.attached,
		"isolation":                    s.options.isolation,
		"persist":                      s.options.persist,
		"created":                      created,
	}
	if page, failure := s.page(r.server, ""); failure == nil {
		out["default_page_id"] = pageID(page)
	} else if opened, failure := r.openTab(ctx, s, true); failure == nil {
		out["default_page_id"] = pageID(opened)
	} else {
		return nil, failure
	}
	return out, nil
}

// browserLabel is the browser's own name and version, such as Chrome/130.0.
func (s *Server) browserLabel() string { return cmp.Or(s.opts.Host.Info().Browser, "Chromium") }

// closeSession ends a session. Requests that are waiting behind it fail with
// session_not_found.
func closeSession(ctx context.Context, r *request) (any, *Failure) {
	s := r.session
	if !r.server.sessions.remove(s) {
		return nil, newFailure(SessionNotFound, "there is no such session")
	}
	closed := len(s.tabs(r.server))
	if s.workspace == nil {
		closed = 0
	}
	s.closeWorkspace(context.WithoutCancel(ctx), r.server)
	return map[string]any{"closed": true, "session_id": s.id, "closed_pages": closed}, nil
}
