package emulate

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type emulateGeolocationIn struct {
	Latitude    *float64 `json:"latitude"`
	Longitude   *float64 `json:"longitude"`
	Accuracy    *float64 `json:"accuracy"`
	Unavailable bool     `json:"unavailable"`
	Origins     []string `json:"origins"`
}

// emulateGeolocation sets where the page finds itself and grants it the
// permission to ask.
var emulateGeolocation = primitives.Define("emulate.geolocation", func(
	ctx context.Context, p primitives.Page, in emulateGeolocationIn,
) (emulateOut, error) {
	g := primitives.GeolocationEmulation{Accuracy: 1, Unavailable: in.Unavailable, Origins: in.Origins}
	if in.Accuracy != nil {
		g.Accuracy = *in.Accuracy
	}
	switch {
	case in.Unavailable:
	case in.Latitude == nil || in.Longitude == nil:
		return emulateOut{}, fault.New(fault.InvalidArguments, "latitude and longitude are needed, or unavailable")
	default:
		g.Latitude, g.Longitude = *in.Latitude, *in.Longitude
	}
	return emulate(ctx, p, primitives.Emulation{Geolocation: &g})
})
