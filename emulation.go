package outrider

import (
	"context"
	"fmt"
	"time"

	"github.com/outrider-run/outrider/client"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Emulation is what a tab shows itself as. What is zero stays as it is.
type Emulation struct {
	// Width and Height are the viewport in CSS pixels, Scale is how many pixels of the screen one has. Mobile, Touch
	// and Scale come with a viewport.
	Width, Height int
	Scale         float64
	Mobile, Touch bool

	UserAgent string
	// Locale is a language tag such as de-CH, Timezone an IANA name such as Europe/Zurich.
	Locale, Timezone string
	// Position is where the pages find themselves. The origin of the page that is shown may ask for it.
	Position *Position
	// ColorScheme is light or dark, Media screen or print.
	ColorScheme, Media string
	// ReducedMotion asks pages for less motion.
	ReducedMotion bool
	// Offline makes requests fail; Latency is added to each.
	Offline bool
	Latency time.Duration
}

// Position is a place on the earth. Accuracy is in metres, 1 by default.
type Position struct{ Latitude, Longitude, Accuracy float64 }

// Agents of phones and tablets.
const (
	appleAgent = "Mozilla/5.0 (%s OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 " +
		"Mobile/15E148 Safari/604.1"
	androidAgent = "Mozilla/5.0 (Linux; Android 14; %s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 " +
		"%sSafari/537.36"
)

// touched is the emulation of what is held in a hand.
func touched(width, height int, scale float64, agent string) Emulation {
	return Emulation{
		Width:     width,
		Height:    height,
		Scale:     scale,
		Mobile:    true,
		Touch:     true,
		UserAgent: agent,
	}
}

// Device is the emulation of a phone or a tablet: iPhone 15, iPhone SE, iPad Mini, Pixel 7 or Galaxy Tab S9. The zero
// value is that of a name that is none of these.
func Device(name string) Emulation {
	switch name {
	case "iPhone 15":
		return touched(393, 659, 3, fmt.Sprintf(appleAgent, "iPhone; CPU iPhone"))
	case "iPhone SE":
		return touched(320, 568, 2, fmt.Sprintf(appleAgent, "iPhone; CPU iPhone"))
	case "iPad Mini":
		return touched(768, 1024, 2, fmt.Sprintf(appleAgent, "iPad; CPU"))
	case "Pixel 7":
		return touched(412, 839, 2.625, fmt.Sprintf(androidAgent, "Pixel 7", "Mobile "))
	case "Galaxy Tab S9":
		return touched(640, 1024, 2.5, fmt.Sprintf(androidAgent, "SM-X710", ""))
	}
	return Emulation{}
}

// Emulate makes the tab show itself as something else, from here on, until ResetEmulation.
func (t *Tab) Emulate(ctx context.Context, e Emulation) error {
	var steps []func() error
	step := func(do func() error) { steps = append(steps, do) }
	switch {
	case e.Width > 0 && e.Height > 0:
		step(func() error {
			_, err := client.EmulateViewport(ctx, t, client.EmulateViewportArgs{
				Width: e.Width, Height: e.Height, DeviceScaleFactor: &e.Scale, Mobile: e.Mobile, Touch: e.Touch,
			})
			return err
		})
	case e.Width != 0 || e.Height != 0 || e.Scale != 0 || e.Mobile || e.Touch:
		return fromFault(fault.New(fault.InvalidInput, "a viewport has Width and Height"))
	}
	if e.UserAgent != "" {
		step(func() error {
			_, err := client.EmulateUserAgent(ctx, t, client.EmulateUserAgentArgs{UserAgent: e.UserAgent})
			return err
		})
	}
	if e.Locale != "" {
		step(func() error {
			_, err := client.EmulateLocale(ctx, t, client.EmulateLocaleArgs{Locale: e.Locale})
			return err
		})
	}
	if e.Timezone != "" {
		step(func() error {
			_, err := client.EmulateTimezone(ctx, t, client.EmulateTimezoneArgs{Timezone: e.Timezone})
			return err
		})
	}
	if p := e.Position; p != nil {
		step(func() error {
			where := client.EmulateGeolocationArgs{Latitude: &p.Latitude, Longitude: &p.Longitude}
			if p.Accuracy > 0 {
				where.Accuracy = &p.Accuracy
			}
			_, err := client.EmulateGeolocation(ctx, t, where)
			return err
		})
	}
	if e.ColorScheme != "" || e.Media != "" || e.ReducedMotion {
		media := client.EmulateMediaArgs{ColorScheme: e.ColorScheme, Media: e.Media}
		if e.ReducedMotion {
			media.ReducedMotion = "reduce"
		}
		step(func() error {
			_, err := client.EmulateMedia(ctx, t, media)
			return err
		})
	}
	if e.Offline || e.Latency > 0 {
		step(func() error {
			_, err := client.EmulateNetwork(ctx, t, client.EmulateNetworkArgs{
				Offline: e.Offline, LatencyMS: new(float64(e.Latency.Milliseconds())),
			})
			return err
		})
	}
	for _, do := range steps {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// ResetEmulation ends all emulation: what the options of the browser ask for is there again.
func (t *Tab) ResetEmulation(ctx context.Context) error {
	_, err := client.EmulateReset(ctx, t, client.EmulateResetArgs{})
	return err
}
