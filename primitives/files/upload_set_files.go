package files

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

type uploadSetFilesIn struct {
	Locator   locator.Locator `json:"locator"`
	Paths     []string        `json:"paths"`
	TimeoutMS *int            `json:"timeout_ms"`
	Drop      bool            `json:"drop"`
}

type uploadSetFilesOut struct {
	Count int            `json:"count"`
	Files []uploadedFile `json:"files"`
	// Via is "input" when the input was found at once, "chooser" when a click
	// made the page open its file chooser, "drop" when files were dropped on the element.
	Via    string        `json:"via"`
	Target *uploadTarget `json:"target"`
}

type uploadedFile struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

type uploadTarget struct {
	TagName     string          `json:"tag_name"`
	Role        *string         `json:"role"`
	Name        string          `json:"name"`            // accessible name
	Field       string          `json:"field,omitempty"` // name attribute
	ID          string          `json:"id,omitempty"`
	Multiple    bool            `json:"multiple"`
	BoundingBox json.RawMessage `json:"bounding_box"`
}

// uploadSetFiles makes files the choice of a file input, which need not be
// visible. Any other element is clicked, and the file chooser that the page opens
// for is answered, or files are dropped on it.
var uploadSetFiles = primitives.Define("upload.set_files", func(
	ctx context.Context, p primitives.Page, in uploadSetFilesIn,
) (uploadSetFilesOut, error) {
	files, err := p.UploadFiles(in.Paths)
	if err != nil {
		return uploadSetFilesOut{}, err
	}
	out := uploadSetFilesOut{Count: len(files), Files: []uploadedFile{}}
	for _, f := range files {
		out.Files = append(out.Files, uploadedFile{f.Name, f.Size})
	}
	var at locator.Place
	var found struct {
		Handle    string       `json:"handle"`
		Target    uploadTarget `json:"target"`
		Multiple  bool         `json:"multiple"`
		Disabled  bool         `json:"disabled"`
		Directory bool         `json:"directory"`
		Name      string       `json:"name"`
		ID        string       `json:"id"`
	}
	find := func() error {
		at, err = in.Locator.Enter(ctx, p)
		if err != nil {
			return err
		}
		args := map[string]any{"locator": in.Locator}
		if at.View != nil {
			args["view"] = at.View
		}
		return p.Call(ctx, at.Frame, "file_input", args, &found)
	}
	err = find()
	if code := fault.CodeOf(err); code == fault.TargetNotFound || locator.IsFrameFault(code) {
		// It may still come, or be in a closed shadow root.
		if _, err := actionability.Resolve(
			ctx, p, in.Locator, actionability.Requirements{Until: "attached"},
			actionability.Timeout(ctx, in.TimeoutMS), false,
		); err != nil {
			return uploadSetFilesOut{}, err
		}
		err = find()
	}
	if err != nil {
		return uploadSetFilesOut{}, err
	}
	out.Target = &found.Target
	out.Target.Field = found.Name
	out.Target.ID = found.ID
	out.Target.Multiple = found.Multiple
	if found.Handle == "" && in.Drop {
		out.Via = "drop"
		return out, dropFiles(ctx, p, in, files)
	}
	if found.Handle == "" {
		out.Via = "chooser"
		click := func() error {
			_, err := actionability.Act(
				ctx, p, in.Locator, actionability.ForClick, actionability.Target{TimeoutMS: in.TimeoutMS},
				func(a actionability.ActionPoint) []primitives.MouseEvent {
					return actionability.ClickEvents(a, "left", 1, 0)
				}, 0,
			)
			return err
		}
		return out, p.ChooseFiles(ctx, click, files)
	}
	out.Via = "input"
	switch {
	case found.Disabled:
		return uploadSetFilesOut{}, fault.New(fault.TargetNotActionable, "the file input is disabled").
			With("reason", "disabled").With("locator", in.Locator)
	case len(files) > 1 && !found.Multiple:
		return uploadSetFilesOut{}, fault.New(fault.InvalidArguments, "the file input takes one file").
			With("count", len(files))
	case found.Directory:
		return uploadSetFilesOut{}, fault.New(fault.CapabilityUnavailable, "the input takes a folder, not files").
			With("capability", "upload.folder")
	}
	if err := p.SetFiles(ctx, at.Frame, found.Handle, files); err != nil {
		return uploadSetFilesOut{}, err
	}
	return out, nil
})
