package browser

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/internal/devices"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// What a tab can do besides its page, each by the room that does it.

// Network implements primitives.ObservedPage.
func (t *Tab) Network(ctx context.Context) (primitives.NetworkLog, error) {
	if err := t.recordTraffic(ctx); err != nil {
		return primitives.NetworkLog{}, cdp.Explain(err, "recording requests")
	}
	return t.traffic.Network(ctx)
}

// NetworkBody implements primitives.ObservedPage.
func (t *Tab) NetworkBody(
	ctx context.Context, id string, part primitives.BodyPart, limit int,
) (primitives.NetworkBody, error) {
	return t.traffic.NetworkBody(ctx, id, part, limit)
}

// NetworkQuiet implements primitives.ObservedPage.
func (t *Tab) NetworkQuiet(ctx context.Context, idle time.Duration, maxInflight int) error {
	if err := t.recordTraffic(ctx); err != nil {
		return cdp.Explain(err, "recording requests")
	}
	return t.traffic.NetworkQuiet(ctx, idle, maxInflight)
}

// recordTraffic begins the record of requests, once.
func (t *Tab) recordTraffic(ctx context.Context) error {
	if t.traffic.Recording() {
		return nil
	}
	return t.unlessDialog(ctx, t.traffic.Record)
}

// Console implements primitives.ObservedPage. The first call begins the record.
func (t *Tab) Console(ctx context.Context) (primitives.ConsoleLog, error) {
	if l := t.Lifetime(); l.Over() && fault.CodeOf(l.Err()) == fault.TabClosed { // known before the tab is dropped
		return primitives.ConsoleLog{}, l.Err()
	}
	if t.console.Recording() {
		return t.console.Console(ctx)
	}
	var log primitives.ConsoleLog
	err := t.unlessDialog(ctx, func(ctx context.Context) (err error) {
		log, err = t.console.Console(ctx)
		return err
	})
	return log, err
}

// unlessDialog does what a page has to answer, which it does not behind a dialog. When one
// is open, or opens, it returns dialog_open.
func (t *Tab) unlessDialog(ctx context.Context, do func(context.Context) error) error {
	if _, open := t.Dialog(); open {
		return t.DialogFault()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			changed := t.Page.Changed()
			if _, open := t.Dialog(); open {
				cancel(t.DialogFault())
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	})
	err := do(ctx)
	if cause := context.Cause(ctx); err != nil && fault.CodeOf(cause) == fault.DialogOpen {
		err = cause
	}
	cancel(context.Canceled)
	watching.Wait()
	return err
}

// Cookies implements primitives.StoredPage.
func (t *Tab) Cookies(ctx context.Context, urls []string) ([]primitives.Cookie, error) {
	return t.store.Cookies(ctx, urls)
}

// SetCookies implements primitives.StoredPage.
func (t *Tab) SetCookies(ctx context.Context, cookies []primitives.Cookie) error {
	return t.store.SetCookies(ctx, cookies)
}

// DeleteCookies implements primitives.StoredPage.
func (t *Tab) DeleteCookies(ctx context.Context, cookies []primitives.Cookie) error {
	return t.store.DeleteCookies(ctx, cookies)
}

// LocalStorage implements primitives.StoredPage.
func (t *Tab) LocalStorage(ctx context.Context, origins []string) ([]primitives.OriginStorage, error) {
	return t.store.LocalStorage(ctx, origins)
}

// CallAtOrigin implements primitives.StoredPage.
func (t *Tab) CallAtOrigin(ctx context.Context, origin, fn string, args, out any) error {
	return t.store.CallAtOrigin(ctx, origin, fn, args, out)
}

// SetLocalStorage implements primitives.StoredPage.
func (t *Tab) SetLocalStorage(ctx context.Context, origins []primitives.OriginStorage, replace bool) error {
	return t.store.SetLocalStorage(ctx, origins, replace)
}

// Emulated implements primitives.EmulatedPage.
func (t *Tab) Emulated() primitives.Emulation { return t.emulator.Emulated() }

// Emulate implements primitives.EmulatedPage.
func (t *Tab) Emulate(ctx context.Context, want primitives.Emulation) error {
	if u := want.UserAgent; u != nil && strings.Contains(u.UserAgent, devices.Version) {
		var err error
		want, err = t.browser.withVersion(ctx, want)
		if err != nil {
			return err
		}
	}
	return t.unlessDialog(ctx, func(ctx context.Context) error { return t.emulator.Emulate(ctx, want) })
}

// ClearEmulation implements primitives.EmulatedPage.
func (t *Tab) ClearEmulation(ctx context.Context, kinds []string) error {
	return t.unlessDialog(ctx, func(ctx context.Context) error { return t.emulator.ClearEmulation(ctx, kinds) })
}

// UploadFiles implements primitives.FilePage.
func (t *Tab) UploadFiles(paths []string) ([]primitives.UploadFile, error) {
	return t.browser.transfers.UploadFiles(paths)
}

// Downloads implements primitives.FilePage.
func (t *Tab) Downloads() ([]primitives.Download, error) {
	return t.browser.transfers.Downloads(t.browser.ownContext(t.context))
}

// DownloadsChanged returns a channel that the next change of a download closes.
func (t *Tab) DownloadsChanged() <-chan struct{} { return t.browser.transfers.Changed() }

// OwnUploads is a folder for files that the program itself uploads. It goes with the browser.
func (t *Tab) OwnUploads() (string, error) {
	return t.browser.transfers.OwnUploads(t.browser.ProfileDir())
}

// SetPermission says what pages of an origin may do without being asked: granted, denied or prompt, for a name of the
// Permissions API. It holds for the browser context of the tab.
func (t *Tab) SetPermission(ctx context.Context, origin, name, setting string) error {
	params := map[string]any{
		"permission": map[string]string{"name": name}, "setting": setting, "origin": origin,
	}
	return cdp.Explain(t.own.Do(ctx, "Browser.setPermission", params, nil), "setting a permission")
}

// AwaitDownload implements primitives.FilePage.
func (t *Tab) AwaitDownload(ctx context.Context, id string) (primitives.Download, error) {
	return t.browser.transfers.AwaitDownload(ctx, t.browser.ownContext(t.context), id)
}

// SaveFile implements primitives.FilePage.
func (t *Tab) SaveFile(name string, data []byte) (string, error) {
	return t.browser.transfers.SaveFile(name, data)
}
