package jsonata

import (
	"math"
	"strings"
)

const isoFormat = "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]"

// formatMillis writes a time, milliseconds from 1970, with a date picture, or
// as ISO 8601 without one. The zone is text like "-0500", nil for none.
func formatMillis(m meter, millis float64, picture string, hasPicture bool, timezone *string) (string, error) {
	hours, minutes := 0.0, 0.0
	if timezone != nil {
		// The hours are rounded down, so "-0530" is six and a half: jsonata-js.
		zone := leadingInteger(*timezone)
		hours, minutes = math.Floor(zone/100), math.Mod(zone, 100)
	}
	if !hasPicture {
		picture = isoFormat
	}
	parts, err := parseDatePicture(m, picture)
	if err != nil {
		return "", err
	}
	c := civilOf(millis + (60*hours+minutes)*60000)
	var b strings.Builder
	for i := range parts {
		p := &parts[i]
		text := p.literal
		if p.component != 0 {
			text, err = p.format(m, c, hours, minutes)
			if err != nil {
				return "", err
			}
		}
		if err := m.alloc(len(text)); err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func (p *datePart) format(m meter, c civil, hours, minutes float64) (string, error) {
	if err := m.step(1); err != nil {
		return "", err
	}
	if !p.known {
		return "undefined", nil
	}
	switch p.component {
	case 'Z', 'z':
		return p.formatZone(m, hours, minutes)
	case 'C', 'E':
		return "ISO", nil
	case 'P':
		text := "am"
		if c.hour >= 12 {
			text = "pm"
		}
		if p.names == namedUpper {
			text = strings.ToUpper(text)
		}
		return text, nil
	}
	v := c.number(p.component)
	if p.names != notNamed {
		if !strings.ContainsRune("MxF", p.component) {
			return "", p.noNames()
		}
		text := "undefined"
		switch {
		case c.bad:
			if p.names != namedTitle || p.hasWidth {
				return "", noSuchTime()
			}
		case p.component == 'F':
			text = dayNames[int(v)-1]
		default:
			text = monthNames[int(v)-1]
		}
		switch p.names {
		case namedLower:
			text = strings.ToLower(text)
		case namedUpper:
			text = strings.ToUpper(text)
		}
		if p.hasMax && float64(len(text)) > p.max {
			text = text[:max(0, int(p.max))]
		}
		return text, nil
	}
	if c.bad && p.integer.kind == integerWords {
		return "", noSuchTime()
	}
	if p.hasModulus {
		v = math.Mod(v, pow(10, p.modulus))
	}
	return p.integer.format(m, v)
}

// noSuchTime stands for the uncoded failure of jsonata-js where a time that
// does not exist, or has a zone that does not, should show a name or words.
func noSuchTime() error {
	return newError("L0010", "the time does not exist")
}

// formatZone writes the offset from UTC.
func (p *datePart) formatZone(m meter, hours, minutes float64) (string, error) {
	offset := 100*hours + minutes
	var text string
	var err error
	switch digits := p.integer.mandatory; {
	case p.integer.kind != integerDecimal:
		err = newError("D3134", "this zone picture is not supported")
	case p.integer.regular > 0:
		text, err = p.integer.format(m, offset)
	case digits == 1 || digits == 2:
		text, err = p.integer.format(m, hours)
		if err == nil && minutes != 0 {
			var rest string
			rest, err = formatInteger(m, minutes, "00")
			text += ":" + rest
		}
	case digits == 3 || digits == 4:
		text, err = p.integer.format(m, offset)
	default:
		err = newError("D3134", "this zone picture is not supported")
	}
	if err != nil {
		return "", err
	}
	if offset >= 0 {
		text = "+" + text
	}
	if p.component == 'z' {
		text = "GMT" + text
	}
	if offset == 0 && p.zoneZ {
		text = "Z"
	}
	return text, nil
}
