package jsonata

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// pictureNow is the time at which the expected values were taken; pictures
// that leave out the date depend on it.
const pictureNow = 1795232790828

// pictureRow is function, value, picture, options or zone, and the result:
// null for undefined, {"err": code}, a string, a number or "NaN".
type pictureRow [5]any

func (r pictureRow) run(m meter) (any, error) {
	picture, hasPicture := r[2].(string)
	switch r[0] {
	case "formatNumber":
		options := map[string]string{}
		given, _ := r[3].(map[string]any)
		for k, v := range given {
			options[k] = v.(string)
		}
		return formatNumber(m, r[1].(float64), picture, options)
	case "formatInteger":
		return formatInteger(m, r[1].(float64), picture)
	case "fromMillis":
		var zone *string
		if text, ok := r[3].(string); ok {
			zone = &text
		}
		return formatMillis(m, r[1].(float64), picture, hasPicture, zone)
	}
	var v float64
	var ok bool
	var err error
	if r[0] == "parseInteger" {
		v, ok, err = parseInteger(m, r[1].(string), picture)
	} else {
		v, ok, err = parseMillis(m, r[1].(string), picture, hasPicture, pictureNow)
	}
	switch {
	case err != nil || !ok:
		return nil, err
	case math.IsNaN(v):
		return "NaN", nil
	}
	return v, nil
}

// TestPictureCases compares with what jsonata-js answered.
func TestPictureCases(t *testing.T) {
	rows := readCases[pictureRow](t, "testdata/picture_cases.json")
	if len(rows) < 1000 {
		t.Fatalf("only %d cases", len(rows))
	}
	for _, row := range rows {
		got, err := row.run(&regexBudget{})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			got = map[string]string{"err": e.Code}
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(row[4])
		if string(a) != string(b) {
			call, _ := json.Marshal(row[:4])
			t.Errorf("%s: got %s, want %s", call, a, b)
		}
	}
}

// TestPictureRoundTrip reads back what was written.
func TestPictureRoundTrip(t *testing.T) {
	m := &regexBudget{}
	for _, picture := range []string{"0", "#,##0", "000;o", "w", "Ww;o", "W", "a", "A", "I", "i", "#,##٠"} {
		for n := 1; n < 5000; n += 7 {
			text, err := formatInteger(m, float64(n), picture)
			if err != nil {
				t.Fatal(err)
			}
			if v, ok, err := parseInteger(m, text, picture); v != float64(n) || !ok || err != nil {
				t.Fatalf("%d with %q is %q, read as %v, %v, %v", n, picture, text, v, ok, err)
			}
		}
	}
	for _, picture := range []string{
		isoFormat[:len(isoFormat)-len("[Z01:01t]")], "[D1o] [MNn] [Y0001] [h]:[m01]:[s01] [P] [f001]",
		"[Y0001][M01][D01][H01][m01][s01][f001]",
		"[Yw], [Mw], [Dwo] [H]:[m]:[s].[f001]", "[Y]-[d] [MNn][D01] [H]:[m]:[s].[f001]",
	} {
		for ms := int64(-62135596800000 + 1950*365*dayMillis); ms < 4e12; ms += 987654321017 / 97 {
			text, err := formatMillis(m, float64(ms), picture, true, nil)
			if err != nil {
				t.Fatal(err)
			}
			v, ok, err := parseMillis(m, text, picture, true, pictureNow)
			if v != float64(ms) || !ok || err != nil {
				t.Fatalf("%d with %q is %q, read as %v, %v, %v", ms, picture, text, v, ok, err)
			}
		}
	}
}

// TestPictureHostile has inputs that hung or killed other implementations.
func TestPictureHostile(t *testing.T) {
	long := strings.Repeat("0,", 50_000) + "0"
	rows := []pictureRow{
		{"formatNumber", 0.0, "0e0", nil},
		{"formatNumber", math.Inf(1), "0e0", nil},
		{"formatNumber", math.NaN(), "0e0", nil},
		{"formatNumber", 5e-324, "0e0", nil},
		{"formatNumber", math.MaxFloat64, "%0", nil},
		{"formatNumber", 1.5, long, nil},
		{"formatNumber", 1.5, "0." + long, nil},
		{"formatNumber", 1.5, strings.Repeat("#,", 50_000) + "0." + strings.Repeat("0,", 50_000) + "0", nil},
		{"formatNumber", 1.5, strings.Repeat("0", 400) + "e0", nil},
		{"formatNumber", 1.5, "0", map[string]any{"percent": strings.Repeat("0", 100_000)}},
		{"formatNumber", 1.5, "0", map[string]any{"pattern-separator": ""}},
		{"formatInteger", 1e300, "w", nil},
		{"formatInteger", math.MaxFloat64, "Ww;o", nil},
		{"formatInteger", math.MaxFloat64, "I", nil},
		{"formatInteger", math.MaxFloat64, "a", nil},
		{"formatInteger", math.Inf(1), "w", nil},
		{"formatInteger", math.Inf(-1), "a", nil},
		{"formatInteger", math.NaN(), "w", nil},
		{"formatInteger", math.NaN(), "I", nil},
		{"formatInteger", math.NaN(), "0;o", nil},
		{"formatInteger", 1.0, long, nil},
		{"formatInteger", 1.0, strings.Repeat("0,0.", 50_000), nil},
		{"parseInteger", strings.Repeat("one ", 100_000), "w", nil},
		{"parseInteger", strings.Repeat("trillion ", 100_000), "w", nil},
		{"parseInteger", strings.Repeat("1.", 50_000), strings.Repeat("0,0.", 20_000), nil},
		{"fromMillis", 0.0, "[Y,999999999]", nil},
		{"fromMillis", 0.0, "[MNn,-5]", nil},
		{"fromMillis", 0.0, "[Y,99999999999999999999-99999999999999999999]", nil},
		{"fromMillis", math.NaN(), "[Y][M][D][d][F1][W][w][X][x][H][h][P][m][s][f][Z][z][C][E][FNn][YI][Yw][Ya]", "x"},
		{"fromMillis", math.Inf(1), "[FNn] [MNn] [d] [W]", nil},
		{"fromMillis", 8.64e15, "[X] [W] [w] [x] [d]", nil},
		{"fromMillis", -8.64e15, "[X] [W] [w] [x] [d]", nil},
		{"fromMillis", 0.0, strings.Repeat("[Yw]", 50_000), nil},
		{"toMillis", strings.Repeat("a", 5_000), strings.Repeat("[MNn][FNn]", 20) + "!", nil},
		{"toMillis", strings.Repeat("one ", 1_000), strings.Repeat("[Yw][Mw]", 10) + "!", nil},
		{"toMillis", "1", strings.Repeat("[Yw]", 50_000), nil},
		{"toMillis", "1", "[Y,9999999999][M]", nil},
		{"toMillis", strings.Repeat("9", 100_000), "[Y]", nil},
		{"toMillis", "+1(1", "[Z01(01]", nil},
		{"toMillis", "+1*1", "[Z01*01]", nil},
		{"toMillis", strings.Repeat("9", 100_000), nil, nil},
	}
	for _, row := range rows {
		m := &regexBudget{limit: 2_000_000}
		start := time.Now()
		_, _ = row.run(m) // an answer, an error or the budget: all but a hang or a panic
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%.40v took %v", row, d)
		}
	}
}

func FuzzPictures(f *testing.F) {
	for i, row := range readCases[pictureRow](f, "testdata/picture_cases.json") {
		if i%5 > 0 {
			continue
		}
		text, _ := row[1].(string)
		number, _ := row[1].(float64)
		picture, _ := row[2].(string)
		f.Add(number, text, picture, "-", "+0130")
	}
	f.Fuzz(func(t *testing.T, number float64, text, picture, option, zone string) {
		m := &regexBudget{limit: 300_000}
		for _, row := range []pictureRow{
			{
				"formatNumber", number, picture,
				map[string]any{"minus-sign": option, "percent": option, "grouping-separator": text},
			},
			{"formatNumber", number, picture, nil},
			{"formatInteger", number, picture, nil},
			{"parseInteger", text, picture, nil},
			{"fromMillis", number, picture, zone},
			{"toMillis", text, picture, nil},
			{"toMillis", text, nil, nil},
		} {
			m.used = 0
			_, err := row.run(m)
			var e *Error
			if err != nil && !errors.As(err, &e) && !errors.Is(err, errBudget) {
				t.Fatalf("%v: %v", row, err)
			}
		}
	})
}
