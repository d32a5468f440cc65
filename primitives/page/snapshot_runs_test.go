package page

import (
	"slices"
	"strings"
	"testing"
)

// An answer that names rows of an earlier one becomes the rows that it stands for; one that names rows that nobody has
// comes short of the number that it announced.
func TestRowsByThoseOfAnEarlierAnswer(t *testing.T) {
	base := documentRows{Token: "1", Count: 4}
	base.TakeText([]byte("- main [ref=e1]\n - button \"A\" [ref=e2]\n - button \"B\" [ref=e3]\n - text: end"))
	for _, c := range []struct {
		name, text, want string
		runs             []int
	}{
		{"all", "", "main button button text", []int{0, 4}},
		{"one between", " - link \"L\" [ref=e4]", "main link button text", []int{0, 1, -1, 1, 2, 2}},
		{"new at both ends", "- h\n- i\n- j", "h i button j", []int{-1, 2, 1, 1, -1, 1}},
		{"twice", "", "main main", []int{0, 1, 0, 1}},
		{"beyond the last", "", "main", []int{0, 1, 3, 2}},
		{"a count below none", "", "main", []int{0, 1, 2, -1}},
		{"a count beyond all", "", "", []int{1, int(^uint(0) >> 1)}},
	} {
		d := documentRows{Token: "2", Count: 4, Runs: c.runs, base: base.rows}
		d.TakeText([]byte(c.text))
		var got []string
		for _, row := range d.rows {
			got = append(got, strings.TrimRight(strings.Fields(string(row.text))[1], ":"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
	keys := []string{base.rows[0].key, base.rows[1].key, base.rows[3].key}
	if !slices.Equal(keys, []string{"e1", "e2", ""}) {
		t.Errorf("refs of the rows are %v", keys)
	}
}
