package jsonata

import (
	"math"
	"strings"
)

// parseMillis reads a time written with a date picture, or in ISO 8601 without
// one, as milliseconds from 1970. The second result is false, undefined, when
// the text does not fit the picture. A date that fits but does not exist may be
// NaN, as in jsonata-js. Components larger than those in the picture are taken
// from now, smaller ones are the first there are.
func parseMillis(m meter, timestamp string, picture string, hasPicture bool, nowMillis int64) (float64, bool, error) {
	if err := m.step(1 + len(timestamp)/4); err != nil {
		return 0, false, err
	}
	if !hasPicture {
		v, ok := parseISO(timestamp)
		if !ok {
			return 0, false, newError("D3110", "the timestamp is not in ISO 8601 format")
		}
		return v, true, nil
	}
	parts, err := parseDatePicture(m, picture)
	if err != nil {
		return 0, false, err
	}
	pattern, err := datePattern(parts)
	if err != nil {
		return 0, false, err
	}
	if err := m.step(len(pattern)); err != nil {
		return 0, false, err
	}
	if err := m.alloc(128 * len(pattern)); err != nil {
		return 0, false, err
	}
	re, err := compileRegex(pattern, "i")
	if err != nil {
		return 0, false, err
	}
	in := newRegexInput(timestamp)
	spans, err := re.match(patternMeter{m}, in, 0)
	if err != nil || spans == nil {
		return 0, false, err
	}
	values := dateValues{}
	group := 0
	for i := range parts {
		p := &parts[i]
		if p.component == 0 {
			continue
		}
		group++
		if 2*group+1 >= len(spans) || spans[2*group] < 0 {
			continue
		}
		values[p.component], err = p.parse(m, in.slice(spans[2*group], spans[2*group+1]))
		if err != nil {
			return 0, false, err
		}
	}
	if len(values) == 0 {
		return 0, false, nil
	}
	v, err := values.resolve(nowMillis)
	return v, err == nil, err
}

// patternMeter charges matching of a date pattern to the evaluator's budget.
type patternMeter struct{ m meter }

func (p patternMeter) regexStep(n int) error { return p.m.step(n/4 + 1) }

// datePattern returns a regular expression with a group for each component.
func datePattern(parts []datePart) (string, error) {
	var b strings.Builder
	b.WriteByte('^')
	for i := range parts {
		p := &parts[i]
		if p.component == 0 {
			for _, r := range p.literal {
				if strings.ContainsRune(`.*+?^${}()|[]\/`, r) {
					b.WriteByte('\\')
				}
				b.WriteRune(r)
			}
			continue
		}
		adjacent := i+1 < len(parts) && parts[i+1].numeric()
		text, err := p.pattern(adjacent)
		if err != nil {
			return "", err
		}
		b.WriteString("(" + text + ")")
	}
	b.WriteByte('$')
	return b.String(), nil
}

// numeric reports whether a component is written as a number.
func (p *datePart) numeric() bool {
	return p.integer != nil && !strings.ContainsRune("PZz", p.component)
}

var wordPattern = `(?:` + strings.Join(wordOrder, "|") + `|and|[\-, ])+`

// pattern returns the regular expression for a component. A number directly
// before another component has exactly as many digits as its picture.
func (p *datePart) pattern(adjacent bool) (string, error) {
	switch {
	case p.component == 'C' || p.component == 'E' || !p.known:
		return "", newError("D3133", "component %c of a date picture cannot be parsed", p.component)
	case p.component == 'Z' || p.component == 'z':
		text := "[-+][0-9]+"
		if p.integer.kind == integerDecimal && p.integer.regular > 0 {
			text += string(p.integer.separators[0].char) + "[0-9]+"
		}
		if p.component == 'z' {
			text = "GMT" + text
		}
		return text, nil
	case p.component == 'P' || p.names != notNamed && strings.ContainsRune("MxF", p.component):
		return "[a-zA-Z]+", nil
	case p.component == 'f':
	case p.names != notNamed:
		return "", p.noNames()
	case p.integer.kind == integerUnknown:
		return "", unknownPicture()
	case p.integer.kind == integerLetters:
		if p.integer.letters == upperCase {
			return "[A-Z]+", nil
		}
		return "[a-z]+", nil
	case p.integer.kind == integerRoman:
		return "[MDCLXVI]+", nil
	case p.integer.kind == integerWords:
		return wordPattern, nil
	}
	text := "[0-9]+"
	if p.component != 'f' && p.integer.mandatory > 0 && adjacent {
		text = "[0-9]{" + numberText(float64(p.integer.mandatory)) + "}"
	}
	if p.component != 'f' && p.integer.ordinal {
		text += "(?:th|st|nd|rd)"
	}
	return text, nil
}

// dateValues are the components of a timestamp. One that is there but makes no
// sense, like an unknown month, has no known value.
type dateValues map[rune]dateValue

type dateValue struct {
	v     float64
	known bool
}

func (p *datePart) parse(m meter, text string) (dateValue, error) {
	switch {
	case p.component == 'Z' || p.component == 'z':
		return dateValue{p.parseZone(text), true}, nil
	case p.component == 'f':
		// Only milliseconds count.
		return dateValue{leadingInteger((text + "000")[:3]), true}, nil
	case p.component == 'P':
		switch text {
		case "am", "AM":
			return dateValue{0, true}, nil
		case "pm", "PM":
			return dateValue{1, true}, nil
		}
		return dateValue{}, nil
	case p.names != notNamed:
		names := monthNames
		if p.component == 'F' {
			names = dayNames
		}
		var found dateValue
		for i, name := range names {
			if p.hasMax && float64(len(name)) > p.max {
				name = name[:max(0, int(p.max))]
			}
			if name == text { // of March and May cut to two letters, May
				found = dateValue{float64(i + 1), true}
			}
		}
		return found, nil
	}
	v, err := p.integer.parse(m, text)
	return dateValue{v, true}, err
}

// parseZone returns minutes from UTC. A minus sign belongs to the hours only,
// as in jsonata-js.
func (p *datePart) parseZone(text string) float64 {
	if p.component == 'z' {
		text = text[len("GMT"):]
	}
	var hours, minutes float64
	if p.integer.kind == integerDecimal && p.integer.regular > 0 {
		h, m, _ := strings.Cut(text, string(p.integer.separators[0].char))
		hours, minutes = leadingInteger(h), leadingInteger(m)
	} else if len(text) <= 3 {
		hours = leadingInteger(text)
	} else {
		hours, minutes = leadingInteger(text[:3]), leadingInteger(text[3:])
	}
	return 60*hours + minutes
}

// counts reports whether a component has a value other than zero: only such
// decide which components belong together.
func (d dateValues) counts(component rune) bool {
	c := d[component]
	return c.known && c.v != 0 && !math.IsNaN(c.v)
}

func (d dateValues) resolve(nowMillis int64) (float64, error) {
	order := "YMD"
	byDay := false
	has := ""
	for _, c := range "YMDdXxwW" {
		if d.counts(c) {
			has += string(c)
		}
	}
	switch has {
	case "d", "Yd":
		order, byDay = "YD", true
	case "X", "x", "w", "Xx", "Xw", "xw", "Xxw", "W", "XW":
		return 0, newError("D3136", "a date by weeks cannot be parsed")
	}
	twelve := !d.counts('H') && (d.counts('h') || d.counts('P'))
	if twelve {
		order += "Phmsf"
	} else {
		order += "Hmsf"
	}
	now := civilOf(float64(nowMillis))
	values := map[rune]float64{}
	started, ended := false, false
	for _, c := range order {
		value := d[c]
		switch {
		case !value.known && started:
			ended = true
			if c == 'M' || c == 'D' {
				values[c] = 1
			}
		case !value.known:
			values[c] = now.number(c)
			if c == 'P' && now.hour >= 12 {
				values[c] = 1
			}
		case ended:
			return 0, newError("D3136", "the date picture has gaps between its components")
		default:
			started = true
			values[c] = value.v
		}
	}
	month, day := values['M'], values['D']
	if byDay {
		date := civilOf((daysFromCivil(fullYear(values['Y']), 1, 1) + d['d'].v - 1) * dayMillis)
		month, day = date.number('M'), date.number('D')
	} else if !(month > 0) {
		month = 1
	}
	hour := values['H']
	if twelve {
		hour = values['h']
		if hour == 12 {
			hour = 0
		}
		if values['P'] == 1 {
			hour += 12
		}
	}
	v := daysFromCivil(fullYear(values['Y']), month, day)*dayMillis +
		hour*3600000 + values['m']*60000 + values['s']*1000 + values['f']
	if math.Abs(v) > maxMillis {
		v = math.NaN()
	}
	for _, zone := range "Zz" {
		if d.counts(zone) {
			v -= d[zone].v * 60000
			break
		}
	}
	return v, nil
}

// fullYear is what JavaScript's Date.UTC makes of a year.
func fullYear(y float64) float64 {
	y = math.Trunc(y)
	if y >= 0 && y <= 99 {
		return 1900 + y
	}
	return y
}
