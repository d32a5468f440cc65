package devices

import (
	"strings"
	"testing"
)

// Names are found in any case, an orientation is a device of its own, and what is not listed is not made up.
func TestNamed(t *testing.T) {
	for name, want := range map[string]Device{
		"iPhone 13":           {Width: 390, Height: 664, Scale: 3, Mobile: true, Touch: true},
		"iphone 13 LANDSCAPE": {Width: 750, Height: 342, Scale: 3, Mobile: true, Touch: true},
		"Pixel 7":             {Width: 412, Height: 839, Scale: 2.625, Mobile: true, Touch: true},
		"Desktop Chrome":      {Width: 1280, Height: 720, Scale: 1},
	} {
		d, ok := Named(name)
		if !ok || !strings.EqualFold(d.Name, name) || !strings.HasPrefix(d.UserAgent, "Mozilla/5.0 (") {
			t.Errorf("%s: %v, %+v", name, ok, d)
		}
		d.Name = ""
		d.UserAgent = ""
		if d != want {
			t.Errorf("%s: %+v, expected %+v", name, d, want)
		}
	}
	if d, ok := Named("iPhone 99"); ok {
		t.Errorf("%+v", d)
	}
}

// Every device of the list can be emulated.
func TestListIsWhole(t *testing.T) {
	names := Names()
	if len(names) < 200 {
		t.Errorf("%d devices", len(names))
	}
	for _, n := range names {
		d, ok := Named(n)
		drawn := d.Width >= 100 && d.Height >= 100 && d.Scale >= 0.5
		if !ok || d.Name != n || !drawn || d.UserAgent == "" {
			t.Errorf("%s: %v, %+v", n, ok, d)
		}
	}
	for _, bad := range []string{"device\tx\t1x1\t-\t1\t-\t0", "agent\tx\ndevice\tx\t1\t-\t1\t-\t0", "model\tx"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
