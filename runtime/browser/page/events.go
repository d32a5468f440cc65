package page

import "github.com/outrider-run/outrider/runtime/browser/cdp"

// HandleEvent takes an event of one of the page's sessions and reports whether it was
// one of the page's. The reader calls it; an event that it does not name is not decoded.
func (p *Page) HandleEvent(s *cdp.Session, method, params []byte) bool {
	switch string(method) {
	case "Page.frameAttached":
		p.onFrameAttached(s, params)
	case "Page.frameDetached":
		p.onFrameDetached(s, params)
	case "Page.frameNavigated":
		p.onFrameNavigated(s, params)
	case "Page.documentOpened":
		p.onDocumentOpened(params)
	case "Page.navigatedWithinDocument":
		p.onNavigatedWithin(params)
	case "Page.lifecycleEvent":
		p.onLifecycle(s, params)
	case "Page.frameStartedLoading":
		p.onLoading(params, true)
	case "Page.frameStartedNavigating":
		p.onStartedNavigating(params)
	case "Page.frameStoppedLoading":
		p.onLoading(params, false)
	case "Page.frameRequestedNavigation", "Page.frameScheduledNavigation":
		p.onRequestedNavigation(params)
	case "Page.frameClearedScheduledNavigation":
		p.onClearedNavigation(params)
	case "Page.windowOpen":
		p.onWindowOpen()
	case "Page.javascriptDialogOpening":
		p.onDialogOpening(s, params)
	case "Page.javascriptDialogClosed":
		p.onDialogClosed(params)
	case "Page.fileChooserOpened":
		p.onChooser(s, params)
	case "Runtime.bindingCalled":
		if s.Frame != "" || string(cdp.PlainString(cdp.Member(params, "name"))) != loadReportBinding {
			return false
		}
		p.onLoadReport(s, params)
	case "Inspector.targetCrashed":
		if s.Frame == "" {
			p.TargetCrashed()
		} else {
			p.onFrameCrashed(s)
		}
	default:
		return false
	}
	return true
}
