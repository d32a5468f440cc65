package primitives

import "context"

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
