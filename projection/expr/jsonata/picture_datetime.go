package jsonata

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	dayMillis = 24 * 60 * 60 * 1000
	maxMillis = 8.64e15 // the range of JavaScript's Date
	isoFormat = "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]"
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

// civil is a point in time as its parts, in some zone. With bad set it is
// JavaScript's invalid date.
type civil struct {
	bad                  bool
	year, month, day     int
	hour, minute, sec    int
	milli, weekday, day0 int // weekday from Monday = 1; day0 counts days from 1970
}

func civilOf(millis float64) civil {
	if math.IsNaN(millis) || math.Abs(millis) > maxMillis {
		return civil{bad: true}
	}
	ms := int64(math.Trunc(millis))
	t := time.UnixMilli(ms).UTC()
	day0 := floorDiv(ms, dayMillis)
	year, month, day := t.Date()
	return civil{
		year: year, month: int(month), day: day, hour: t.Hour(), minute: t.Minute(), sec: t.Second(),
		milli: t.Nanosecond() / 1e6, weekday: (int(t.Weekday())+6)%7 + 1, day0: int(day0),
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// daysFromCivil counts the days from 1970 to a date whose month and day may be
// out of range.
func daysFromCivil(year, month, day float64) float64 {
	year += math.Floor((month - 1) / 12)
	month = math.Mod(math.Mod(month-1, 12)+12, 12) + 1
	if math.IsNaN(year) || math.Abs(year) > 400000 {
		return math.NaN()
	}
	first := time.Date(int(year), time.Month(int(month)), 1, 0, 0, 0, 0, time.UTC)
	return float64(floorDiv(first.UnixMilli(), dayMillis)) + day - 1
}

// thursday is the day that says which year or month the week belongs to.
func (c civil) thursday() civil {
	return civilOf(float64(c.day0-c.weekday+4) * dayMillis)
}

func (c civil) dayOfYear() int {
	return c.day0 - int(daysFromCivil(float64(c.year), 1, 1)) + 1
}

// number returns the value of a numeric component.
func (c civil) number(component rune) float64 {
	if c.bad {
		return math.NaN()
	}
	v := 0
	switch component {
	case 'Y':
		v = c.year
	case 'M':
		v = c.month
	case 'D':
		v = c.day
	case 'd':
		v = c.dayOfYear()
	case 'F':
		v = c.weekday
	case 'W':
		v = (c.thursday().dayOfYear()-1)/7 + 1
	case 'w':
		v = (c.thursday().day-1)/7 + 1
	case 'X':
		v = c.thursday().year
	case 'x':
		v = c.thursday().month
	case 'H':
		v = c.hour
	case 'h':
		v = (c.hour+11)%12 + 1
	case 'm':
		v = c.minute
	case 's':
		v = c.sec
	case 'f':
		v = c.milli
	}
	return float64(v)
}

// formatMillis writes a time, milliseconds from 1970, with a date picture, or
// as ISO 8601 without one. The zone is text like "-0500"; "" stands for none.
func formatMillis(m meter, millis float64, picture string, hasPicture bool, timezone string) (string, error) {
	hours, minutes := 0.0, 0.0
	if timezone != "" {
		// The hours are rounded down, so "-0530" is six and a half: jsonata-js.
		zone := leadingInteger(timezone)
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
			if text, err = p.format(m, c, hours, minutes); err != nil {
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
		if text, err = p.integer.format(m, hours); err == nil && minutes != 0 {
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
		if values[p.component], err = p.parse(m, in.slice(spans[2*group], spans[2*group+1])); err != nil {
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

func (p *datePart) noNames() error {
	return newError("D3133", "component %c of a date picture has no names", p.component)
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
	if y = math.Trunc(y); y >= 0 && y <= 99 {
		return 1900 + y
	}
	return y
}

// parseISO reads the forms of ISO 8601 that jsonata-js lets through to
// JavaScript's Date.parse, and gives NaN where that does.
func parseISO(s string) (float64, bool) {
	at := 0
	// digits reads one digit in '0'..top and n-1 more.
	digits := func(n int, top byte) (float64, bool) {
		v := 0
		for i := range n {
			if at+i >= len(s) || s[at+i] < '0' || s[at+i] > '9' || i == 0 && s[at] > top {
				return 0, false
			}
			v = v*10 + int(s[at+i]-'0')
		}
		at += n
		return float64(v), true
	}
	part := func(sep, top byte) (float64, bool) {
		if at < len(s) && s[at] == sep {
			start := at
			at++
			if v, ok := digits(2, top); ok {
				return v, true
			}
			at = start
		}
		return 0, false
	}
	year, ok := digits(4, '9')
	if !ok {
		return 0, false
	}
	// What follows may be a month, a day or a zone like -0100; all optional.
	rest := at
	for _, form := range []string{"MD", "M", "D", ""} {
		at = rest
		month, day := 1.0, 1.0
		hasMonth, hasDay := strings.Contains(form, "M"), strings.Contains(form, "D")
		if hasMonth {
			if month, ok = part('-', '1'); !ok {
				continue
			}
		}
		if hasDay {
			if day, ok = part('-', '3'); !ok {
				continue
			}
		}
		var hour, minute, sec float64
		hasTime := false
		start := at
		if hour, ok = part('T', '2'); ok {
			if minute, ok = part(':', '5'); ok {
				if sec, ok = part(':', '5'); ok {
					hasTime = true
				}
			}
		}
		if !hasTime {
			at, hour, minute, sec = start, 0, 0, 0
		}
		fraction := ""
		if at+1 < len(s) && s[at] == '.' && s[at+1] >= '0' && s[at+1] <= '9' {
			end := at + 1
			for end < len(s) && s[end] >= '0' && s[end] <= '9' {
				end++
			}
			fraction = s[at+1 : end]
			at = end
		}
		zone, hasZone, utc := 0.0, false, false
		if at < len(s) {
			switch s[at] {
			case 'Z':
				at++
				utc = true
			case '+', '-':
				sign := 1.0
				if s[at] == '-' {
					sign = -1
				}
				at++
				zh, ok := digits(2, '2')
				if !ok {
					continue
				}
				if at < len(s) && s[at] == ':' {
					at++
				}
				zm, ok := digits(2, '5')
				if !ok {
					continue
				}
				hasZone, zone = true, sign*(60*zh+zm)
				if zh > 23 {
					zone = math.NaN()
				}
			}
		}
		if at != len(s) {
			continue
		}
		if !hasTime {
			if hasZone || fraction != "" && hasDay {
				return math.NaN(), true
			}
			if fraction != "" {
				// The legacy reading of "2018.5" and "2018-02.5".
				next := leadingInteger(fraction)
				if hasMonth {
					day = next
				} else {
					month = next
				}
				fraction = ""
			}
			if utc && year < 100 {
				year += 1900
				if year < 1950 {
					year += 100
				}
			}
		}
		if hasDay && !hasMonth {
			month = math.NaN()
		}
		milli := leadingInteger((fraction + "000")[:3])
		if !(month >= 1 && month <= 12 && day >= 1 && day <= 31) || hour > 24 ||
			hour == 24 && (minute > 0 || sec > 0 || milli > 0) {
			return math.NaN(), true
		}
		return daysFromCivil(year, month, day)*dayMillis + hour*3600000 + minute*60000 + sec*1000 + milli - zone*60000, true
	}
	return 0, false
}
