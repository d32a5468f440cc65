package launch

import (
	"os"
	"runtime"
	"strconv"
)

// WindowWidth and WindowHeight are the size of a window in CSS pixels when no
// viewport is given.
const (
	WindowWidth  = 1280
	WindowHeight = 800
)

// commandLine composes the flags of a launched browser. Each is there for a
// reason given here. Those that others add and we do not: nothing that turns off
// site isolation, nothing that changes what pages can find out (no automation
// banner flags, no hidden scrollbars, no color profile), nothing that lifts the
// bound on how often a page may change its address. Without that bound, one page
// that floods its history keeps the browser from answering for every other.
func commandLine(o *Options, dir string) []string {
	args := []string{
		"--user-data-dir=" + dir,

		// Quiet: no dialogs of its own, no traffic of its own.
		"--no-first-run",
		"--no-startup-window", // tabs are opened by command only
		"--no-default-browser-check",
		"--disable-default-apps",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-component-extensions-with-background-pages",
		"--disable-domain-reliability",
		"--disable-client-side-phishing-detection",
		"--disable-sync",
		"--disable-breakpad",
		"--disable-crash-reporter",
		"--disable-search-engine-choice-screen",
		"--disable-field-trial-config",
		"--metrics-recording-only",
		"--no-pings",
		"--no-service-autorun",
		"--password-store=basic",
		"--use-mock-keychain",

		// Tabs in the background work like the one in front.
		"--disable-background-timer-throttling",
		"--disable-backgrounding-occluded-windows",
		"--disable-renderer-backgrounding",

		// A page that hangs is ours to deal with, not a dialog's.
		"--disable-hang-monitor",
		"--disable-prompt-on-repost",
		// Popups become tabs; the runtime's policy decides about them.
		"--disable-popup-blocking",
		// Input that arrives before the first paint of a new document is kept.
		"--allow-pre-commit-input",
		// A page that is restored from that cache is neither a new document nor
		// the same one; load it again.
		"--disable-back-forward-cache",

		"--disable-features=" + disabledFeatures(o),
		"--window-size=" + strconv.Itoa(WindowWidth) + "," + strconv.Itoa(WindowHeight),
	}
	if !o.Headed {
		// A page that calls print() would have a preview that nobody sees and nobody closes, and could not be saved.
		args = append(args, "--mute-audio", "--disable-print-preview", mousePresence)
	}
	switch {
	case o.Shell:
		// It is built without windows, and without the isolation of sites that desktops have: frames of other
		// sites would share the process of the page.
		args = append(args, "--headless", "--site-per-process")
	case !o.Headed:
		args = append(args, "--headless=new")
	}
	if o.NoSandbox {
		args = append(args, "--no-sandbox")
	}
	if smallSharedMemory() {
		args = append(args, "--disable-dev-shm-usage")
	}
	if o.Locale != "" {
		args = append(args, "--lang="+o.Locale, "--accept-lang="+o.Locale)
	}
	if o.PageTools {
		args = append(args, "--enable-features=WebMCP")
	}
	if o.Proxy != "" {
		args = append(args, "--proxy-server="+o.Proxy)
	}
	return append(args, o.ExtraArgs...)
}

// DisabledFeatures are what no browser of ours has: translation bar, hints and models fetched in the
// background, casting, the interstitial that replaces http by https, the
// pages that are rendered before anybody opened them, painting that waits for
// a heuristic after a navigation, and the address bar's lists that are pages: two
// are loaded for each window, for half a second of a processor and 30 MB.
const DisabledFeatures = "Translate,OptimizationHints,OptimizationGuideModelDownloading,MediaRouter," +
	"DialMediaRouteProvider,GlobalMediaControls,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,Prerender2," +
	"PaintHolding,LensOverlay,DestroyProfileOnBrowserClose,WebUIOmniboxPopup,WebUIOmniboxAimPopup"

func disabledFeatures(o *Options) string {
	if o.NoSpareRenderer {
		return DisabledFeatures + ",SpareRendererForSitePerProcess"
	}
	return DisabledFeatures
}

// mousePresence makes (hover: hover) and (pointer: fine) match, as they do where a
// mouse is on the desk: our input is a mouse's. A machine without one says that
// there is none, and pages then show what they have for fingers: no menus that
// open under the pointer, pickers of dates that cannot be typed into. The
// numbers are Chromium's: hover is 2, a fine pointer 4.
const mousePresence = "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4," +
	"availablePointerTypes=4"

// NeedsNoSandbox reports whether Chromium refuses to start with its sandbox.
func NeedsNoSandbox() bool {
	return runtime.GOOS == "linux" && os.Geteuid() == 0
}
