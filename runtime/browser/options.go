package browser

import (
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/outrider-run/outrider/primitives"

	"github.com/outrider-run/outrider/runtime/browser/launch"
	"github.com/outrider-run/outrider/runtime/browser/listen"
	"github.com/outrider-run/outrider/runtime/browser/network"
)

// TemporaryDownloads is a download folder that goes with the browser.
const TemporaryDownloads = "temporary"

// Options says which browser to run and how. The zero value launches the browser
// that Find finds, headless, with a profile that is removed at the end.
type Options struct {
	// Path is the browser's executable, launch.Shell or launch.Chromium; empty means that Find decides.
	Path string
	// Full says what the headless shell lacks of what is to be done, for people; empty for nothing. What other options
	// need of Chromium they say themselves.
	Full string
	// Headed shows windows. The default is --headless=new.
	Headed bool
	// Attach is the address of a running browser, http://host:port or a
	// WebSocket URL. Nothing is launched then, and Close leaves the browser
	// and the tabs that we did not open alone.
	Attach string
	// AttachHeader goes with the requests that attach to that browser.
	AttachHeader http.Header
	// Admits: the receiver of a tab that a page opened decides whether it stays, by Tab.Admit or Tab.Refuse.
	Admits bool
	// AdoptTabs makes the tabs that an attached browser already has tabs of
	// ours too. Without it they are left alone.
	AdoptTabs bool
	// OwnContext has the tabs of an attached browser opened in a browser context of ours, with cookies and storage
	// that begin empty and end with Close. What happens in other contexts is not seen.
	OwnContext bool
	// UserDataDir is a profile to use and to keep. Empty means a fresh one in
	// the temporary directory that is removed when the browser ends.
	UserDataDir string
	// Viewport is emulated in every tab. Zero means no emulation: pages see
	// the window, whose size is WindowWidth x WindowHeight.
	Viewport struct{ Width, Height int }
	// Locale is a language tag such as de-CH; empty means the system's.
	Locale string
	// Timezone is an IANA name such as Europe/Zurich; empty means the system's.
	Timezone string
	// OneWindow puts all tabs into one window, as with Headed. Without it each
	// tab of a headless browser has a window of its own. A tab behind another
	// draws one frame a second: animation frames, resize and intersection
	// observers of its page wait for that, while its input is not aligned to
	// frames and so is handled faster.
	OneWindow bool
	// UploadDirs are the folders whose files may be uploaded. None means that
	// uploads are refused.
	UploadDirs []string
	// DownloadDir is the folder that downloads go to; it is made when it is not
	// there. Empty means that downloads are refused, TemporaryDownloads a folder that goes with the browser.
	DownloadDir string
	// DownloadLimit bounds one download, in bytes; default 1 GiB.
	DownloadLimit int64
	// AllowOrigins and BlockOrigins say which hosts the browser may send requests
	// to: see network.CheckOrigins for the patterns. Both empty is every host, at no cost.
	// They need a browser that is launched.
	AllowOrigins, BlockOrigins []string
	// InsecureOrigins are origins whose certificates are not checked, by the same
	// patterns. They need a browser that is launched.
	InsecureOrigins []string
	// Proxy is passed as --proxy-server. It needs a browser that is launched.
	Proxy string
	// NoSandbox turns Chromium's sandbox off. It is implied where Chromium
	// refuses to start with it: for root on Linux. See launch.NeedsNoSandbox.
	NoSandbox bool
	// PageTools has pages declare tools for agents (WebMCP, a feature that Chromium has and the headless shell lacks),
	// and knows those of every tab. Pages can see that it is on.
	PageTools bool
	// NoSpareRenderer is for tabs that show few documents: see launch.Options.
	NoSpareRenderer bool
	// ExtraArgs are appended to the command line, so they win over ours.
	ExtraArgs []string
	// HTTPCredentials are names and passwords for servers that ask for them, each for one origin.
	HTTPCredentials []Credentials
	// Secrets are texts that no variable of a launched browser's environment may hold.
	Secrets []string
	// StartTimeout bounds the time until the browser answers; default 30 s.
	StartTimeout time.Duration
	// Patience says how long a page may take to answer for which it has d, before it counts as stuck. nil is d
	// on every machine. Tests give one, since a page that waits for a processor does not differ from one that is stuck.
	Patience func(d time.Duration) time.Duration
	// OnWatchdogLost hears, at most once for each browser, why no process ends the
	// browser and removes its profile when this one is killed.
	OnWatchdogLost func(error)
	// Logger gets names and sizes, never text of pages. nil discards.
	Logger *slog.Logger
	// CDPLog gets one JSON object per line for each command, answer and event of the
	// protocol: time, name, size, no body. See cdp.Traffic.
	CDPLog io.Writer
	// OnEvent gets what happens to the browser and its tabs, in order, from
	// one goroutine of its own, so it may call back into this package, but
	// while it does later events wait.
	OnEvent func(Event)
	// Listen is the script of Browser.Listen from the start; empty for none.
	Listen ListenScript
	// OnSignal gets what that script reports. The reader of the connection
	// calls it, so it must not wait for anything. Without it no document gets the script.
	OnSignal func(t *Tab, report []byte)
	// Follow is a script for every document that listens for a person's input, and OnPerson gets what
	// it reports, under the rules of OnSignal. Without OnPerson no document gets it.
	Follow   string
	OnPerson func(t *Tab, report []byte)
	// OnFrames is called when a child frame of a tab was attached, detached, or shows another
	// document or address. The reader of the connection calls it, so it must not
	// wait for anything.
	OnFrames func(t *Tab)
	// Watch receives the traffic, the console and the pictures of every tab from its first document on.
	// Nil costs nothing.
	Watch *Watch
	// RecordNetwork records the requests of every tab from its first document on. Without it a tab begins when
	// somebody asks for them, and what its document sent before is unknown.
	RecordNetwork bool
	// Answer, when set, answers every request of every tab in place of the network, one at a time. What a tab
	// does not ask its page's process for, such as a WebSocket, has no network at all.
	Answer func(Request) Answer
	// Script runs in every document before its own scripts; nil for none. It is asked for once for each session of
	// a tab, by the reader of the connection, so it must not wait for anything.
	Script func() string
	// Peer answers Tab.Peer. Without it a tab has no peers.
	Peer func(from *Tab, tabID int) (primitives.Page, error)
}

// Find looks for the browser that Launch starts: the headless shell where it is installed and enough, else Chrome or
// Chromium. See launch.Find.
func (o Options) Find() (launch.Found, error) {
	needs := o.Full
	switch {
	case o.Headed:
		needs = "windows (--headed)"
	case o.UserDataDir != "":
		needs = "the lock of a profile that is kept (--user-data-dir)"
	case o.PageTools:
		needs = "tools that pages declare (--webmcp)"
	case o.OnPerson != nil:
		needs = "reports of what a person does in frames and other tabs (record)"
	}
	return launch.Find(o.Path, needs)
}

// ListenScript is a script that listens for page events: see Browser.Listen.
type ListenScript = listen.Script

// Watch receives what a recording keeps of tabs. The reader of the connection calls it, so it must not
// wait for anything, nor call back. What is nil is not recorded.
type Watch struct {
	// Request gets each request that has ended.
	Request func(t *Tab, r primitives.NetworkRequest)
	// Console gets each message. It needs the Runtime domain, which a page can notice.
	Console func(t *Tab, m primitives.ConsoleMessage)
	// Picture gets pictures while the page changes.
	Picture func(t *Tab, p ScreencastFrame)
	// Dialog gets each dialog when it opens, and when it was closed.
	Dialog func(t *Tab, d primitives.Dialog, open bool)
}

// CheckOrigins says what is wrong with the patterns of Options.AllowOrigins and
// Options.BlockOrigins, and of Options.InsecureOrigins.
func CheckOrigins(patterns ...string) error { return network.CheckOrigins(patterns...) }

// ProxyHasCredentials reports whether the address of a proxy holds a name and a password.
func ProxyHasCredentials(proxy string) bool { return network.HasCredentials(proxy) }

// CheckProxy says what is wrong with the address of a proxy that holds credentials.
func CheckProxy(proxy string) error { return network.CheckProxy(proxy) }

// TabOptions says how to open a tab.
type TabOptions struct {
	// Background keeps the tab that is in front there.
	Background bool
	// Context is a browser context made by NewContext; empty is the profile
	// itself.
	Context string
	// LoadTimeout bounds the wait for the load event; default 15 s.
	LoadTimeout time.Duration
}

// Event is something that happened to the browser or to a tab.
type Event struct {
	Kind EventKind
	Tab  *Tab // nil for BrowserLost
	// Opener is the tab whose page opened Tab, when there is one (TabOpened).
	Opener *Tab
	// Requested means that NewTab opened the tab (TabOpened).
	Requested bool
	// Err is the cause of BrowserLost.
	Err error
}

// EventKind says what an Event is about.
type EventKind string

const (
	TabOpened    EventKind = "tab_opened"    // also for popups
	TabNavigated EventKind = "tab_navigated" // a new document is there
	TabChanged   EventKind = "tab_changed"   // address or title changed, or it answers at last
	ToolsChanged EventKind = "tools_changed" // of Options.PageTools
	TabCrashed   EventKind = "tab_crashed"
	TabClosed    EventKind = "tab_closed"
	DialogOpened EventKind = "dialog_opened"
	DialogClosed EventKind = "dialog_closed"
	BrowserLost  EventKind = "browser_lost"
)
