package provider

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

func listDownloads(ctx context.Context, r *request) (any, *Failure) {
	var list map[string]any
	reply, err := r.do(ctx, "download.list", map[string]any{}, &list)
	if err != nil {
		return nil, r.failed(err)
	}
	return r.about(reply, list), nil
}

// waitDownload waits until a download has ended: the named one, or the first
// that was not answered yet.
func waitDownload(ctx context.Context, r *request) (any, *Failure) {
	args := r.only("download_id", "timeout_ms")
	limit := r.ownTimeout()
	if limit == 0 {
		limit = 30 * time.Second
	}
	var entry map[string]any
	reply, err := r.doWithin(ctx, limit+5*time.Second, "download.wait", args, &entry)
	if err != nil {
		f := r.failed(err)
		if err.Code == fault.Timeout || err.Code == fault.HandlerTimeout {
			f.Code, f.Retryable = NotReady, true
			f.Message = "no download ended in time"
		}
		if err.Code == fault.TargetNotFound {
			f.Code, f.Details["path"] = InvalidRequest, "/download_id"
		}
		return nil, f
	}
	out := r.about(reply, entry)
	if u, ok := entry["url"]; ok {
		out["url"] = u // of the download, not of the page
	}
	return out, nil
}

func setFiles(ctx context.Context, r *request) (any, *Failure) {
	var in struct {
		targetIn
		Paths []string `json:"paths"`
	}
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	if !in.given() {
		return nil, invalidRequest("", "name a target: element_ref or selector")
	}
	locator := map[string]any{"selector": in.Selector}
	if in.Ref != "" {
		locator = map[string]any{"ref": in.Ref}
	}
	args := map[string]any{"locator": locator, "paths": in.Paths}
	if own := r.ownTimeout(); own > 0 {
		args["timeout_ms"] = own.Milliseconds()
	}
	var set map[string]any
	reply, err := r.do(ctx, "upload.set_files", args, &set)
	if err != nil {
		return nil, r.failed(err)
	}
	return r.about(reply, map[string]any{"count": set["count"], "files": set["files"]}), nil
}
