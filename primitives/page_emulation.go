package primitives

import (
	"context"
	"time"
)

// EmulatedPage is a Page that can pretend to be on another device. What is
// emulated lasts until it is changed, reset or the tab ends, over navigations and
// in frames of every process; popups do not inherit it.
type EmulatedPage interface {
	// Emulate takes over the members that are set and leaves the others as they
	// are. It fails with invalid_arguments when the browser refuses a value.
	Emulate(ctx context.Context, e Emulation) error

	// ClearEmulation ends the named kinds, all of them without names.
	ClearEmulation(ctx context.Context, kinds []string) error

	// Emulated returns the current emulation, the options of the browser left out.
	Emulated() Emulation
}

// Emulation selects what to emulate. A nil member is left alone.
type Emulation struct {
	Viewport    *ViewportEmulation    `json:"viewport,omitempty"`
	Locale      *LocaleEmulation      `json:"locale,omitempty"`
	Timezone    *TimezoneEmulation    `json:"timezone,omitempty"`
	Geolocation *GeolocationEmulation `json:"geolocation,omitempty"`
	Media       *MediaEmulation       `json:"media,omitempty"`
	Network     *NetworkEmulation     `json:"network,omitempty"`
	UserAgent   *UserAgentEmulation   `json:"user_agent,omitempty"`
	WebDriver   *WebDriverEmulation   `json:"webdriver,omitempty"`
	Clock       *ClockEmulation       `json:"clock,omitempty"`
}

// ViewportEmulation is the size of the viewport in CSS pixels.
type ViewportEmulation struct {
	Width             int     `json:"width"`
	Height            int     `json:"height"`
	DeviceScaleFactor float64 `json:"device_scale_factor"` // 0 is the screen's
	Mobile            bool    `json:"mobile"`              // meta viewport, overlay scrollbars, text autosizing
	Touch             bool    `json:"touch"`               // touch events and coarse pointer
}

// LocaleEmulation is a language tag such as de-CH.
type LocaleEmulation struct {
	Locale string `json:"locale"`
}

// TimezoneEmulation is an IANA name such as Europe/Zurich.
type TimezoneEmulation struct {
	Timezone string `json:"timezone"`
}

// GeolocationEmulation is a position, or none that can be found. The permission
// is granted to the origin of the page that is shown, and to those named.
type GeolocationEmulation struct {
	Latitude    float64  `json:"latitude"`
	Longitude   float64  `json:"longitude"`
	Accuracy    float64  `json:"accuracy"` // metres
	Unavailable bool     `json:"unavailable"`
	Origins     []string `json:"origins,omitempty"`
}

// MediaEmulation sets the answers of media queries; "" leaves a feature alone.
type MediaEmulation struct {
	Media         string `json:"media,omitempty"` // "screen", "print"
	ColorScheme   string `json:"color_scheme,omitempty"`
	ReducedMotion string `json:"reduced_motion,omitempty"`
	ForcedColors  string `json:"forced_colors,omitempty"`
	Contrast      string `json:"contrast,omitempty"`
}

// NetworkEmulation makes requests slow or fail. Rates are bytes a second, 0 for
// no limit.
type NetworkEmulation struct {
	Offline   bool    `json:"offline"`
	LatencyMS float64 `json:"latency_ms"`
	Download  float64 `json:"download_bytes_per_second"`
	Upload    float64 `json:"upload_bytes_per_second"`
}

// UserAgentEmulation sets the user agent of requests and scripts. Client hints are withheld.
type UserAgentEmulation struct {
	UserAgent string `json:"user_agent"`
	Platform  string `json:"platform,omitempty"` // navigator.platform
}

// WebDriverEmulation sets navigator.webdriver.
type WebDriverEmulation struct {
	Value bool `json:"value"`
}

// ClockEmulation is what scripts of pages take for the time.
type ClockEmulation struct {
	// Mode is fixed: dates stand and timers run; paused: dates, performance.now, timers and animation
	// frames stand; running: dates are others, and go on; "": the real time.
	Mode string `json:"mode,omitempty"`
	// At is the time. Of a clock that runs it is what the time was at Since.
	At time.Time `json:"at,omitzero"`
	// AdvanceMS lets time go by on a clock that is paused: the timers that are due run.
	AdvanceMS float64 `json:"-"`
	// Seed makes Math.random give the same numbers in every document; nil leaves it alone.
	Seed  *int      `json:"seed,omitempty"`
	Since time.Time `json:"-"`
}

// Now is the time that the clock shows.
func (c ClockEmulation) Now() time.Time {
	switch c.Mode {
	case "fixed", "paused":
		return c.At
	case "running":
		return c.At.Add(time.Since(c.Since))
	}
	return time.Now()
}
