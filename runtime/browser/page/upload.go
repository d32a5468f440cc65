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
func (p *Page) SetFiles(
	ctx context.Context, frame primitives.FrameID, handle string, files []primitives.UploadFile,
) error {
	at, err := p.resolveFrame(ctx, frame)
	if err != nil {
		return cdp.Explain(err, "choosing files")
	}
	remote, err := p.Run(ctx, at.id, func(token string) world.Invocation {
		return world.Invocation{Function: elementFunction, Args: []string{token, handle}}
	})
	if err != nil {
		return cdp.Explain(err, "choosing files")
	}
	object := string(cdp.PlainString(cdp.Member(remote, "objectId")))
	if object == "" {
		return fault.New(fault.TargetNotFound, "the file input is detached")
	}
	var out struct{}
	err = p.doPage(ctx, at, "DOM.setFileInputFiles", map[string]any{"files": pathsOf(files), "objectId": object}, &out)
	p.client.Post(cdp.Command{Session: at.session.ID, Method: "Runtime.releaseObject", Params: objectParam(object)})
	return cdp.Explain(err, "choosing files")
}

// chooser is a file chooser that a page requested.
type chooser struct {
	session *cdp.Session
	mode    string
	backend int
}

// chooserTimeout is how long a click may take to open a file chooser.
const chooserTimeout = 5 * time.Second

// ChooseFiles implements primitives.FilePage.
func (p *Page) ChooseFiles(ctx context.Context, click func() error, files []primitives.UploadFile) error {
	requested := make(chan chooser, 1)
	p.mu.Lock()
	if p.chooser != nil {
		p.mu.Unlock()
		return fault.New(fault.UnsafeState, "another call is choosing files on this tab")
	}
	p.chooser = requested
	sessions := p.sessionsLocked()
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.chooser = nil
		sessions := p.sessionsLocked()
		p.mu.Unlock()
		for _, s := range sessions {
			p.client.Post(cdp.Command{
				Session: s.ID,
				Method:  "Page.setInterceptFileChooserDialog",
				Params:  []byte(`{"enabled":false}`),
			})
		}
	}()
	if err := p.client.Broadcast(ctx, p.Lifetime(), sessions, cdp.Command{
		Method: "Page.setInterceptFileChooserDialog",
		Params: []byte(`{"enabled":true}`),
	}); err != nil {
		return cdp.Explain(err, "choosing files")
	}
	if err := click(); err != nil {
		return err
	}
	timer := time.NewTimer(chooserTimeout)
	defer timer.Stop()
	l := p.Lifetime()
	select {
	case c := <-requested:
		if c.mode == "selectSingle" && len(files) > 1 {
			return fault.New(fault.InvalidArguments, "the page asks for one file").With("count", len(files))
		}
		if c.backend == 0 {
			return fault.New(fault.CapabilityUnavailable, "the page asks for files in a way that has no file input").
				With("capability", "upload.picker")
		}
		err := p.doIn(
			ctx, c.session, "DOM.setFileInputFiles",
			map[string]any{"files": pathsOf(files), "backendNodeId": c.backend}, nil,
		)
		return cdp.Explain(err, "choosing files")
	case <-timer.C:
		return fault.New(fault.TargetNotActionable, "the click opened no file chooser").
			With("reason", "no_file_chooser").
			Next("name the page's file input, which need not be visible, or drop the files on the element: drop")
	case <-l.Done():
		return l.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// anyOperation is what a drag of files allows: copy, link and move.
const anyOperation = 1 | 2 | 16

// DragFiles implements primitives.FilePage.
func (p *Page) DragFiles(
	ctx context.Context, at primitives.Point, files []primitives.UploadFile, taken func() error,
) error {
	// A drop counts as a press where it falls.
	press := primitives.MouseEvent{Type: primitives.MousePressed, X: at.X, Y: at.Y}
	if err := p.admitPointer(ctx, []primitives.MouseEvent{press}); err != nil {
		return err
	}
	send := func(kinds ...string) error {
		commands := make([]cdp.Command, len(kinds))
		for i, kind := range kinds {
			params, err := json.Marshal(map[string]any{
				"type": kind,
				"x":    at.X,
				"y":    at.Y,
				"data": map[string]any{"items": []any{}, "files": pathsOf(files), "dragOperationsMask": anyOperation},
			})
			if err != nil {
				return fault.From(err)
			}
			commands[i] = cdp.Command{Session: p.session.ID, Method: "Input.dispatchDragEvent", Params: params}
		}
		return cdp.Explain(p.dispatch(ctx, commands, nil), "dragging files")
	}
	// What comes over something new enters it first, and moves over it with the next.
	err := send("dragEnter", "dragOver", "dragOver")
	if err == nil {
		err = taken()
	}
	if err == nil {
		// A page may lay something over the place for the drag: that has to take the files then.
		err = send("dragOver")
	}
	if err == nil {
		err = taken()
	}
	if err != nil {
		_ = send("dragCancel")
		return err
	}
	return send("drop")
}

// onChooser is the reader's.
func (p *Page) onChooser(s *cdp.Session, params []byte) {
	var e struct {
		Mode    string `json:"mode"`
		Backend int    `json:"backendNodeId"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.chooser == nil {
		return
	}
	select {
	case p.chooser <- chooser{s, e.Mode, e.Backend}:
	default: // the first one is answered
	}
}
