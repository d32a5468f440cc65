package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/internal/devices"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Matrix are the places and devices that a plan is tried on: a case for each combination.
type Matrix struct {
	Devices      []string `json:"devices,omitempty" doc:"devices by Playwright's names, such as iPhone 15"`
	Locales      []string `json:"locales,omitempty" doc:"language tags, such as de-CH"`
	Timezones    []string `json:"timezones,omitempty" doc:"names of the IANA database, such as Europe/Zurich"`
	ColorSchemes []string `json:"color_schemes,omitempty" doc:"light, dark and no-preference"`
}

// Combination is one of them. A member that the matrix does not have is "".
type Combination struct {
	Device      string `json:"device,omitempty"`
	Locale      string `json:"locale,omitempty"`
	Timezone    string `json:"timezone,omitempty"`
	ColorScheme string `json:"color_scheme,omitempty"`
}

// Clock is what scripts of pages take for the time.
type Clock struct {
	At   string `json:"at,omitempty" doc:"time such as 2026-03-01T09:00:00Z, or a day such as 2026-03-01 in UTC"`
	Mode string `json:"mode,omitempty" enum:"fixed,paused,running" doc:"fixed (default), paused or running"`
	Seed *int   `json:"seed,omitempty" min:"0" max:"4294967295" doc:"gives Math.random the same numbers everywhere"`
}

const (
	// maxCombinations bounds the combinations of a matrix.
	maxCombinations = 100
	// maxCases bounds the cases of a plan.
	maxCases = maxRows
)

var languageTag = lazyregexp.New(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)

// String is the combination in its case's name.
func (m Combination) String() string {
	parts := slices.DeleteFunc([]string{m.Device, m.Locale, m.Timezone, m.ColorScheme}, func(s string) bool {
		return s == ""
	})
	return strings.Join(parts, ", ")
}

// Combinations are those of the matrix, the last member changing first.
func (m *Matrix) Combinations() []Combination {
	out := []Combination{{}}
	each := func(values []string, set func(*Combination, string)) {
		if len(values) == 0 {
			return
		}
		var more []Combination
		for _, one := range out {
			for _, value := range values {
				set(&one, value)
				more = append(more, one)
			}
		}
		out = more
	}
	each(m.Devices, func(c *Combination, v string) { c.Device = v })
	each(m.Locales, func(c *Combination, v string) { c.Locale = v })
	each(m.Timezones, func(c *Combination, v string) { c.Timezone = v })
	each(m.ColorSchemes, func(c *Combination, v string) { c.ColorScheme = v })
	return out
}

// matrix finds what the schema cannot say of a matrix.
func (c *checker) matrix(m *Matrix) {
	if m == nil {
		return
	}
	of := 1
	for member, values := range map[string][]string{
		"devices": m.Devices, "locales": m.Locales, "timezones": m.Timezones, "color_schemes": m.ColorSchemes,
	} {
		at := "/matrix/" + member
		if _, given := c.places.lines[at]; given && len(values) == 0 {
			c.fail(at, "is empty, expected at least one")
		}
		of *= max(1, min(len(values), maxCombinations+1))
		for i, value := range values {
			place := at + "/" + strconv.Itoa(i)
			if slices.Contains(values[:i], value) {
				c.fail(place, "%q is there twice", value)
			}
			if why := oddOf(member, value); why != "" {
				c.fail(place, "%s", why)
			}
		}
	}
	if of > maxCombinations {
		c.fail("/matrix", "there are more than %d combinations", maxCombinations)
	}
	if len(m.Devices)+len(m.Locales)+len(m.Timezones)+len(m.ColorSchemes) == 0 {
		c.fail("/matrix", "is empty, expected one of devices, locales, timezones and color_schemes")
	}
}

// oddOf is what is wrong with a value of a matrix.
func oddOf(member, value string) string {
	switch member {
	case "devices":
		if _, ok := devices.Named(value); ok {
			return ""
		}
		text := fmt.Sprintf("there is no device %q", fault.Clip(value, 80))
		if near := fault.Near(value, devices.Names()); len(near) > 0 {
			text += ": did you mean " + near[0] + "?"
		}
		return text
	case "locales":
		if languageTag().MatchString(value) {
			return ""
		}
		return fmt.Sprintf("%q is no language tag, such as de-CH", fault.Clip(value, 80))
	case "timezones":
		if _, err := time.LoadLocation(value); err == nil && value != "" && value != "Local" {
			return ""
		}
		return fmt.Sprintf("%q is no name of the IANA database, such as Europe/Zurich", fault.Clip(value, 80))
	}
	if slices.Contains([]string{"light", "dark", "no-preference"}, value) {
		return ""
	}
	return fmt.Sprintf("%q is none of light, dark and no-preference", fault.Clip(value, 80))
}

// clock finds what the schema cannot say of a clock.
func (c *checker) clock(k *Clock) {
	switch {
	case k == nil:
	case k.At == "" && k.Mode == "" && k.Seed == nil:
		c.fail("/clock", "is empty, expected one of at, mode and seed")
	case k.At != "" && !reference().MatchString(k.At):
		if _, err := ClockTime(k.At); err != nil {
			c.fail("/clock/at", "%v", err)
		}
	}
}

// ClockTime reads the time of a clock.
func ClockTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf(
		"is %q, expected a time such as 2026-03-01T09:00:00Z, or a day such as 2026-03-01", fault.Clip(text, 60),
	)
}

// combined are the cases of a plan, each once for each combination of its matrix.
func (s Source) combined(p *Plan, cases []*Case) ([]*Case, error) {
	if p.Matrix == nil {
		return cases, nil
	}
	combinations := p.Matrix.Combinations()
	if s.Combination != nil {
		combinations = []Combination{*s.Combination}
	}
	if len(cases)*len(combinations) > maxCases {
		return nil, Problems{{p.places.at("/matrix"), fmt.Sprintf(
			"rows and combinations are %d cases: expected at most %d", len(cases)*len(combinations), maxCases,
		)}}
	}
	var out []*Case
	for _, c := range cases {
		for i := range combinations {
			one := *c
			one.Combination = &combinations[i]
			label := combinations[i].String()
			one.Name = c.Name + " [" + label + "]"
			one.ID = c.ID + "{" + label + "}"
			out = append(out, &one)
		}
	}
	return out, nil
}
