package page

import "github.com/outrider-run/outrider/runtime/browser/cdp"

// HandleEvent takes an event of one of the page's sessions and reports whether it was
// one of the page's. The reader calls it; an event that it does not name is not decoded.
func (t *Page) HandleEvent(s *cdp.Session, method, params []byte) bool {
	switch string(method) {
	case "Page.frameAttached":
		t.onFrameAttached(s, params)
	case "Page.frameDetached":
		t.onFrameDetached(s, params)
	case "Page.frameNavigated":
		t.onFrameNavigated(s, params)
	case "Page.documentOpened":
		t.onDocumentOpened(params)
	case "Page.navigatedWithinDocument":
		t.onNavigatedWithin(params)
	case "Page.lifecycleEvent":
		t.onLifecycle(s, params)
	case "Page.frameStartedLoading":
		t.onLoading(params, true)
	case "Page.frameStoppedLoading":
		t.onLoading(params, false)
	case "Page.frameRequestedNavigation", "Page.frameScheduledNavigation":
		t.onRequestedNavigation(params)
	case "Page.frameClearedScheduledNavigation":
		t.onClearedNavigation(params)
	case "Page.javascriptDialogOpening":
		t.onDialogOpening(s, params)
	case "Page.javascriptDialogClosed":
		t.onDialogClosed()
	case "Page.fileChooserOpened":
		t.onChooser(s, params)
	case "Runtime.bindingCalled":
		if s.Frame != "" || string(cdp.PlainString(cdp.Member(params, "name"))) != sayBinding {
			return false
		}
		t.onSaid(s, params)
	case "Inspector.targetCrashed":
		if s.Frame == "" {
			t.TargetCrashed()
		} else {
			t.onFrameCrashed(s)
		}
	default:
		return false
	}
	return true
}
