package jsonata

import (
	"math"
	"time"
)

const (
	dayMillis = 24 * 60 * 60 * 1000
	maxMillis = 8.64e15 // the range of JavaScript's Date
)

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
		year:    year,
		month:   int(month),
		day:     day,
		hour:    t.Hour(),
		minute:  t.Minute(),
		sec:     t.Second(),
		milli:   t.Nanosecond() / 1e6,
		weekday: (int(t.Weekday())+6)%7 + 1,
		day0:    int(day0),
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
