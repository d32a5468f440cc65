package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/internal/idempotency"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// request is one request on its way.
type request struct {
	server     *Server
	connection *connection
	id         string
	method     *method
	params     json.RawMessage
	warnings   []Warning
	key        string // of idempotency, "" without one
	parts      int    // calls of the runtime
	acted      bool   // one of them that acts began to run

	session *session          // of methods that name one
	page    runtime.TabStatus // of methods on a page
	done    func()
}

// bind finds the session and the page that the request names.
func (r *request) bind() *Failure {
	if r.method.scope == onProvider {
		return nil
	}
	var in struct {
		SessionID string `json:"session_id"`
		PageID    string `json:"page_id"`
	}
	if failure := r.decode(&in); failure != nil {
		return failure
	}
	session, release, failure := r.server.sessions.use(in.SessionID)
	if failure != nil {
		return failure
	}
	r.session, r.done = session, release
	if r.method.scope == onPage {
		r.page, failure = session.page(r.server, in.PageID)
		if failure != nil {
			release()
			r.done = nil
			return r.orNotRunning(failure)
		}
	}
	return nil
}

func (r *request) release() {
	if r.done != nil {
		r.done()
	}
}

func (r *request) decode(v any) *Failure {
	if err := json.Unmarshal(r.params, v); err != nil {
		return invalidRequest("/params", "the params do not have the form of %s", r.method.name)
	}
	return nil
}

func (r *request) warn(code, message string) {
	r.warnings = append(r.warnings, Warning{code, message})
}

// orNotRunning explains a page that is missing because the browser is.
func (r *request) orNotRunning(failure *Failure) *Failure {
	if f := r.server.notRunning(""); f != nil && f.Code != InternalError {
		return f
	}
	return failure
}

// do runs one primitive on the request's page and decodes its value into out,
// which may be nil.
func (r *request) do(ctx context.Context, name string, args map[string]any, out any) (runtime.Reply, *fault.Error) {
	return r.doWithin(ctx, r.timeout(), name, args, out)
}

func (r *request) doWithin(
	ctx context.Context, timeout time.Duration, name string, args any, out any,
) (runtime.Reply, *fault.Error) {
	encoded, err := json.Marshal(args)
	if err != nil {
		return runtime.Reply{}, fault.Wrap(fault.InvalidInput, err, "encoding the arguments")
	}
	r.parts++
	reply := r.server.opts.Host.Do(ctx, runtime.Call{
		ID:             r.server.opts.NewID(),
		Name:           name,
		Arguments:      encoded,
		Timeout:        timeout,
		OwnWords:       true,
		Target:         runtime.Target{Workspace: r.page.Workspace, TabID: r.page.TabID},
		IdempotencyKey: idempotency.Part(r.key, r.parts),
	})
	r.acted = r.acted || reply.Started && r.server.primitives[name].Acts
	if reply.Err != nil {
		return reply, reply.Err
	}
	if out != nil {
		d := json.NewDecoder(bytes.NewReader(reply.Value()))
		d.UseNumber()
		if err := d.Decode(out); err != nil {
			return reply, fault.Wrap(fault.InvalidResult, err, "reading the result of %s", name)
		}
	}
	return reply, nil
}

// timeout is the request's own, or the provider's.
func (r *request) timeout() time.Duration {
	if own := r.ownTimeout(); own > 0 {
		return own + time.Second // the primitive ends first and says what it waited for
	}
	return r.server.opts.CallTimeout
}

func (r *request) ownTimeout() time.Duration {
	var in struct {
		TimeoutMS float64 `json:"timeout_ms"`
	}
	_ = json.Unmarshal(r.params, &in)
	return time.Duration(in.TimeoutMS * float64(time.Millisecond))
}

// failed reports an error of the runtime, for this request's page.
func (r *request) failed(err *fault.Error) *Failure {
	f := failureOf(err)
	if r.page.TabID != 0 {
		f.Details["page_id"] = pageID(r.page)
	}
	if f.Code == PageNotFound || f.Code == NotReady {
		return r.orNotRunning(f)
	}
	return f
}

// about is a result that names the page and its current address.
func (r *request) about(reply runtime.Reply, members map[string]any) map[string]any {
	members["page_id"] = pageID(r.page)
	delete(members, "rate_limit_wait_ms") // of the runtime's envelope
	if reply.URL != "" {
		members["url"] = reply.URL
	}
	return members
}
