package page

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

func pathsOf(files []primitives.UploadFile) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.Path
	}
	return out
}

// SetFiles implements primitives.FilePage.
func (t *Page) SetFiles(ctx context.Context, frame primitives.FrameID, handle string, files []primitives.UploadFile) error {
	p, err := t.locate(ctx, frame)
	if err != nil {
		return cdp.Explain(err, "choosing files")
	}
	remote, err := t.Run(ctx, p.id, func(token string) world.Invocation {
		return world.Invocation{Function: elementFunction, Args: []string{token, handle}}
	})
	if err != nil {
		return cdp.Explain(err, "choosing files")
	}
	object := string(cdp.PlainString(cdp.Member(remote, "objectId")))
	if object == "" {
		return fault.New(fault.TargetNotFound, "the file input is not there any more")
	}
	var out struct{}
	err = t.askPage(ctx, p, "DOM.setFileInputFiles", map[string]any{"files": pathsOf(files), "objectId": object}, &out)
	t.client.Post(cdp.Command{Session: p.s.ID, Method: "Runtime.releaseObject", Params: objectParam(object)})
	return cdp.Explain(err, "choosing files")
}

// chooser is a file chooser that a page asked for.
type chooser struct {
	s       *cdp.Session
	mode    string
	backend int
}

// chooserCap is how long a press may take to make the page ask for files.
const chooserCap = 5 * time.Second

// ChooseFiles implements primitives.FilePage.
func (t *Page) ChooseFiles(ctx context.Context, press func() error, files []primitives.UploadFile) error {
	asked := make(chan chooser, 1)
	t.mu.Lock()
	if t.chooser != nil {
		t.mu.Unlock()
		return fault.New(fault.UnsafeState, "another call is choosing files on this tab")
	}
	t.chooser = asked
	sessions := t.sessionsLocked()
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		t.chooser = nil
		sessions := t.sessionsLocked()
		t.mu.Unlock()
		for _, s := range sessions {
			t.client.Post(cdp.Command{Session: s.ID, Method: "Page.setInterceptFileChooserDialog", Params: []byte(`{"enabled":false}`)})
		}
	}()
	if err := t.client.Broadcast(ctx, t.Lifetime(), sessions, cdp.Command{Method: "Page.setInterceptFileChooserDialog", Params: []byte(`{"enabled":true}`)}); err != nil {
		return cdp.Explain(err, "choosing files")
	}
	if err := press(); err != nil {
		return err
	}
	timer := time.NewTimer(chooserCap)
	defer timer.Stop()
	l := t.Lifetime()
	select {
	case c := <-asked:
		if c.mode == "selectSingle" && len(files) > 1 {
			return fault.New(fault.InvalidArguments, "the page asks for one file").With("count", len(files))
		}
		if c.backend == 0 {
			return fault.New(fault.CapabilityUnavailable, "the page asks for files in a way that has no file input").With("capability", "upload.picker")
		}
		err := t.askIn(ctx, c.s, "DOM.setFileInputFiles", map[string]any{"files": pathsOf(files), "backendNodeId": c.backend}, nil)
		return cdp.Explain(err, "choosing files")
	case <-timer.C:
		return fault.New(fault.TargetNotActionable, "the press did not make the page ask for files").With("reason", "no_file_chooser")
	case <-l.Done():
		return l.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// onChooser is the reader's.
func (t *Page) onChooser(s *cdp.Session, params []byte) {
	var e struct {
		Mode    string `json:"mode"`
		Backend int    `json:"backendNodeId"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.chooser == nil {
		return
	}
	select {
	case t.chooser <- chooser{s, e.Mode, e.Backend}:
	default: // the first one is answered
	}
}
