package provider

import (
	"context"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Identity of this provider.
const (
	providerID    = "outrider"
	providerLabel = "Outrider"
	browserFamily = "chromium"
)

// startState reports whether the host runs: not yet, or never with a reason.
func (s *Server) startState() (ready bool, err *fault.Error) {
	if late, ok := s.opts.Host.(startingHost); ok {
		return late.Started()
	}
	return true, nil
}

// notRunning says why there is no browser; nil when there is one and nothing
// else was to be reported.
func (s *Server) notRunning(otherwise string) *Failure {
	ready, err := s.startState()
	switch {
	case err != nil:
		return failureOf(err)
	case !ready:
		return notReady("the browser is being started")
	case s.opts.Host.Info().Browser == "":
		f := newFailure(BrowserNotRunning, "the browser has ended and is being started again")
		f.Retryable = true
		return f
	case otherwise == "":
		return nil
	}
	return newFailure(InternalError, "%s", otherwise)
}

// refused says why a session or a tab could not be had.
func (s *Server) refused(err error) *Failure {
	f := failureOf(fault.From(err))
	if f.Code == InternalError || f.Code == NotReady {
		if why := s.notRunning(""); why != nil {
			return why
		}
	}
	return f
}

func notReady(format string, args ...any) *Failure {
	f := newFailure(NotReady, format, args...)
	f.Retryable = true
	return f
}

func (s *Server) describe(_ context.Context, r *request) (any, *Failure) {
	d := Description{
		ProviderID:        providerID,
		ProviderLabel:     providerLabel,
		ProviderVersion:   s.opts.Version,
		ProtocolVersion:   ProtocolVersion,
		BrowserFamilies:   []string{browserFamily},
		Transport:         r.connection.transport,
		CertificationTier: "certified",
		Capabilities: Capabilities{
			CoreMethods:     []string{},
			OptionalMethods: []string{},
			CustomMethods:   []CustomMethod{},
			Features:        s.features(),
			Events:          eventNames(),
			Stability:       map[string]string{},
		},
	}
	c := &d.Capabilities
	for _, m := range s.order {
		switch m.tier {
		case core:
			c.CoreMethods = append(c.CoreMethods, m.name)
		case custom:
			entry := CustomMethod{
				Name:        m.name,
				Description: m.description,
				Stability:   m.stability(),
				InputSchema: []byte(m.input),
			}
			if m.output != "" {
				entry.OutputSchema = []byte(m.output)
			}
			c.CustomMethods = append(c.CustomMethods, entry)
			continue
		default:
			c.OptionalMethods = append(c.OptionalMethods, m.name)
		}
		c.Stability[m.name] = m.stability()
	}
	return d, nil
}

// features names what is true of this provider as it was started.
func (s *Server) features() []string {
	list := []string{"element_refs", "a11y_snapshot", "isolated_contexts"}
	add := func(name string, ok bool) {
		if ok {
			list = append(list, name)
		}
	}
	has := func(method string) bool { _, ok := s.methods[method]; return ok }
	add("full_page_screenshot", s.argumentOf("browser.screenshot", "full_page"))
	add("attach_existing_browser", s.opts.Attached)
	add("persistent_profile", s.opts.PersistentProfile)
	add("js_eval", has("page.eval"))
	add("network_observe", has("network.list"))
	add("console_observe", has("console.list"))
	add("file_upload", has("upload.set_files"))
	add("download_observe", has("download.list"))
	return list
}

// argumentOf reports whether a primitive takes an argument.
func (s *Server) argumentOf(primitive, argument string) bool {
	return strings.Contains(string(s.primitives[primitive].InputSchema), `"`+argument+`"`)
}

func (s *Server) status(context.Context, *request) (any, *Failure) {
	out := Status{
		Availability:       "ready",
		BrowserDetected:    true,
		BrowserRunning:     true,
		SetupState:         "complete",
		RecommendedBrowser: browserFamily,
		ManualSteps:        []string{},
		Diagnostics:        []Diagnostic{},
	}
	note := func(level, code, message string, steps ...string) {
		out.Diagnostics = append(out.Diagnostics, Diagnostic{level, code, message, steps})
	}
	ready, err := s.startState()
	switch {
	case err != nil:
		out.Availability = "unavailable"
		out.BrowserRunning = false
		out.SetupState = "broken"
		out.ManualSteps = s.steps(err)
		if err.Code == fault.BrowserNotFound {
			out.BrowserDetected = false
			out.SetupState = "required"
			out.RequiresManualSetup = true
		}
		note("error", string(err.Code), err.Message, out.ManualSteps...)
	case !ready:
		out.Availability, out.BrowserRunning = "degraded", false
		note("info", "browser_starting", "the browser is being started; requests wait for it")
	case s.opts.Host.Info().Browser == "":
		out.Availability, out.BrowserRunning = "degraded", false
		note(
			"warning", "browser_restarting",
			"the browser has ended and is being started again; tabs come back at their addresses",
		)
	default:
		note("info", "browser_running", s.opts.Host.Info().Browser)
	}
	note("info", "session_close_closes_tabs", "session.close closes the pages of the session and forgets its cookies "+
		"and storage; a shared session is only detached")
	if !s.opts.Uploads {
		note("info", "uploads_not_declared", "upload.set_files is not offered: no folder was declared for uploads")
	}
	if !s.opts.Downloads {
		note("info", "downloads_not_declared", "downloads are refused: no folder was declared for them")
	}
	return out, nil
}

// steps tell a person what to do about a browser that does not start.
func (s *Server) steps(err *fault.Error) []string {
	if err.NextStep != "" {
		return []string{err.NextStep}
	}
	if err.Code == fault.BrowserNotFound {
		return []string{"install Chrome or Chromium, or run: outrider setup"}
	}
	return []string{"run: outrider doctor"}
}

func (s *Server) setupGuide(context.Context, *request) (any, *Failure) {
	steps := []string{
		"install Chrome or Chromium 120 or newer, or run: outrider setup",
		"check what works with: outrider doctor", "call provider.verify",
	}
	guide := map[string]any{
		"title": "Outrider needs Chrome or Chromium on this machine and nothing else: no extension, no debugging port",
		"steps": steps,
		"permissions": []string{
			"uploads: start the provider with --upload-dir", "downloads: start the provider with --download-dir",
			"a browser that runs already: start the provider with --attach",
		},
		"troubleshooting": []map[string]string{
			{
				"symptom": "availability is unavailable",
				"remedy":  "read the diagnostics of provider.status; outrider doctor says more",
			},
			{
				"symptom": "requests answer browser_not_running",
				"remedy":  "wait: the browser is started again by itself",
			},
			{"symptom": "requests answer not_ready with details.code dialog_open", "remedy": "call dialog.answer"},
		},
		"requires_manual_setup": false,
	}
	if detect := s.opts.DetectBrowser; detect != nil {
		if err := detect(); err != nil {
			guide["requires_manual_setup"] = true
			guide["steps"] = append(s.steps(err), steps[1:]...)
		}
	}
	return guide, nil
}

// verify opens a page of its own and inspects it.
func (s *Server) verify(ctx context.Context, r *request) (any, *Failure) {
	type check struct {
		Name    string `json:"name"`
		OK      bool   `json:"ok"`
		Message string `json:"message,omitempty"`
	}
	var checks []check
	ok := true
	add := func(name string, failure *Failure) bool {
		c := check{Name: name, OK: failure == nil}
		if failure != nil {
			c.Message, ok = failure.Error(), false
		}
		checks = append(checks, c)
		return failure == nil
	}
	done := func() (any, *Failure) { return map[string]any{"ok": ok, "checks": checks}, nil }
	if detect := s.opts.DetectBrowser; detect != nil {
		var failure *Failure
		if err := detect(); err != nil {
			failure = failureOf(err)
		}
		if !add("browser_detected", failure) {
			return done()
		}
	}
	probe := &session{options: sessionOptions{isolation: isolationOwn, attach: "never"}}
	if !add("page_opens", s.sessions.make(ctx, probe)) {
		return done()
	}
	defer probe.closeWorkspace(context.WithoutCancel(ctx), s)
	r.session = probe
	var failure *Failure
	r.page, failure = probe.page(s, "")
	if failure == nil {
		if _, err := r.do(ctx, "page.snapshot", map[string]any{"format": "json"}, nil); err != nil {
			failure = failureOf(err)
		}
	}
	add("page_is_read", failure)
	if failure == nil {
		var shot map[string]any
		if _, err := r.do(ctx, "browser.screenshot", map[string]any{}, &shot); err != nil {
			failure = failureOf(err)
		}
		add("page_is_drawn", failure)
	}
	return done()
}
