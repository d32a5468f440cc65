// Package devices is the table of devices that a page can be shown on: size, scale, kind of input and
// user agent, by the names that Playwright gives them. It emulates nothing. The table devices.json is
// that of Playwright 1.58.2 (Apache License 2.0), with {version} for the version of Chromium.
package devices

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// Device is what is emulated for one.
type Device struct {
	Name string `json:"name"`
	// UserAgent has Version where that of Chromium stands.
	UserAgent         string  `json:"user_agent"`
	Width             int     `json:"width"`
	Height            int     `json:"height"`
	DeviceScaleFactor float64 `json:"device_scale_factor"`
	Mobile            bool    `json:"mobile"`
	Touch             bool    `json:"touch"`
}

// Version stands in a user agent for the version of the browser that shows the page.
const Version = "{version}"

//go:embed devices.json
var table []byte

var all = sync.OnceValue(func() []Device {
	var out []Device
	if err := json.Unmarshal(table, &out); err != nil {
		panic(err) // it is embedded
	}
	return out
})

// Named is the device of a name.
func Named(name string) (Device, bool) {
	for _, d := range all() {
		if d.Name == name {
			return d, true
		}
	}
	return Device{}, false
}

// Names are the names of all devices.
func Names() []string {
	out := make([]string, 0, len(all()))
	for _, d := range all() {
		out = append(out, d.Name)
	}
	return out
}
