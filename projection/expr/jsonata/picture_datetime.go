package jsonata

import (
	"math"
	"strings"
	"unicode/utf8"
)

var (
	monthNames = strings.Fields("January February March April May June July August September October November December")
	dayNames   = strings.Fields("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
)

// defaultPresentation has the presentation of the components that may be
// written without one.
var defaultPresentation = map[rune]string{
	'Y': "1", 'M': "1", 'D': "1", 'd': "1", 'F': "n", 'W': "1", 'w': "1", 'X': "1", 'x': "1", 'H': "1", 'h': "1",
	'P': "n", 'm': "01", 's': "01", 'f': "1", 'Z': "01:01", 'z': "01:01", 'C': "n", 'E': "n",
}

type nameCase uint8

const (
	notNamed nameCase = iota
	namedLower
	namedUpper
	namedTitle
)

// datePart is one piece of a date picture of XPath's fn:format-dateTime: text
// to be copied, or a component.
type datePart struct {
	literal   string
	component rune // 0 for literal text
	known     bool // whether it is one of the components there are

	names   nameCase
	integer *integerPicture // when not named
	zoneZ   bool            // a zone of zero is written Z

	hasWidth, hasMax, hasModulus bool
	max                          float64 // greatest width, NaN when written badly
	modulus                      float64 // of a year: digits to keep
}

// parseDatePicture takes a picture apart.
func parseDatePicture(m meter, picture string) ([]datePart, error) {
	if err := m.step(1 + len(picture)/4); err != nil {
		return nil, err
	}
	if err := m.alloc(64 * len(picture)); err != nil {
		return nil, err
	}
	var parts []datePart
	literal := func(s string) {
		if s != "" {
			parts = append(parts, datePart{literal: strings.ReplaceAll(s, "]]", "]")})
		}
	}
	start := 0
	for i := 0; i < len(picture); {
		if picture[i] != '[' {
			i++
			continue
		}
		if strings.HasPrefix(picture[i:], "[[") {
			literal(picture[start:i])
			literal("[")
			i += 2
			start = i
			continue
		}
		literal(picture[start:i])
		end := strings.IndexByte(picture[i:], ']')
		if end < 0 {
			return nil, newError("D3135", "a component of the date picture has no closing bracket")
		}
		part, err := parseDateMarker(m, picture[i+1:i+end])
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		i += end + 1
		start = i
	}
	literal(picture[start:])
	return parts, nil
}

// parseDateMarker reads what stands between brackets: a component letter, its
// presentation and, after a comma, its width.
func parseDateMarker(m meter, text string) (datePart, error) {
	text = strings.Map(func(r rune) rune {
		if r <= 0xffff && inRanges(reSpace, uint16(r)) {
			return -1
		}
		return r
	}, text)
	var p datePart
	first, size := utf8.DecodeRuneInString(text)
	presentation, known := defaultPresentation[first]
	p.component, p.known = first, known
	least := math.NaN()
	body := text[size:]
	if comma := strings.LastIndexByte(body, ','); comma >= 0 {
		p.hasWidth = true
		lo, hi, ranged := strings.Cut(body[comma+1:], "-")
		if lo != "*" && lo != "" {
			least = leadingInteger(lo)
		}
		if ranged && hi != "*" {
			p.hasMax, p.max = true, leadingInteger(hi)
		}
		body = body[:comma]
	}
	if body == "" && !known {
		return p, newError("D3132", "unknown component in a date picture")
	}
	modifier := ""
	if body != "" {
		presentation = body
		if last := len(body) - 1; last > 0 && strings.IndexByte("atco", body[last]) >= 0 {
			presentation, modifier = body[:last], ";"+body[last:]
		}
	}
	switch {
	case presentation[0] == 'n':
		p.names = namedLower
	case presentation[0] == 'N' && len(presentation) > 1 && presentation[1] == 'n':
		p.names = namedTitle
	case presentation[0] == 'N':
		p.names = namedUpper
	}
	switch {
	case p.component == 'Z' || p.component == 'z':
		p.names = notNamed
		p.zoneZ = modifier == ";t"
		modifier = ""
		least = math.NaN()
	case p.names != notNamed:
		return p, nil
	}
	picture, err := parseIntegerPicture(m, presentation+modifier)
	if err != nil {
		return p, err
	}
	p.integer = picture
	if least > float64(picture.mandatory) {
		if least > 1<<30 {
			least = 1 << 30
		}
		picture.mandatory = int(least)
	}
	if p.component == 'Y' {
		switch digits := picture.mandatory + picture.optional; {
		case p.hasMax:
			p.modulus, p.hasModulus = p.max, true
			picture.mandatory = 0
			if p.max > 0 {
				picture.mandatory = int(min(p.max, 1<<30))
			}
		case picture.kind == integerDecimal && digits >= 2:
			p.modulus, p.hasModulus = float64(digits), true
		}
	}
	return p, nil
}

func (p *datePart) noNames() error {
	return newError("D3133", "component %c of a date picture has no names", p.component)
}
