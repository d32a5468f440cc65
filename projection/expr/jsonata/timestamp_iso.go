package jsonata

import (
	"math"
	"strings"
)

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
			month, ok = part('-', '1')
			if !ok {
				continue
			}
		}
		if hasDay {
			day, ok = part('-', '3')
			if !ok {
				continue
			}
		}
		var hour, minute, sec float64
		hasTime := false
		start := at
		hour, ok = part('T', '2')
		if ok {
			minute, ok = part(':', '5')
			if ok {
				sec, ok = part(':', '5')
				if ok {
					hasTime = true
				}
			}
		}
		if !hasTime {
			at = start
			hour = 0
			minute = 0
			sec = 0
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
		zone := 0.0
		hasZone := false
		utc := false
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
		beyond := hour > 24 || hour == 24 && (minute > 0 || sec > 0 || milli > 0)
		if !(month >= 1 && month <= 12 && day >= 1 && day <= 31) || beyond {
			return math.NaN(), true
		}
		return daysFromCivil(year, month, day)*dayMillis + hour*3600000 + minute*60000 + sec*1000 + milli - zone*60000,
			true
	}
	return 0, false
}
