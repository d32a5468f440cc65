package tools

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode"
)

// outlineRow is one row of a snapshot in JSON.
type outlineRow struct {
	Depth     int    `json:"depth"`
	Role      string `json:"role"`
	Name      string `json:"name"`
	Ref       string `json:"ref"`
	Text      string `json:"text"`
	Value     string `json:"value"`
	Checked   any    `json:"checked"`
	Disabled  bool   `json:"disabled"`
	Clickable bool   `json:"clickable"`
	Draggable bool   `json:"draggable"`
	HasPopup  string `json:"haspopup"`
}

// actionableRoles are the roles that a click, a key or text is meant for.
var actionableRoles = map[string]bool{
	"button": true, "link": true, "textbox": true, "searchbox": true, "combobox": true,
	"listbox": true, "option": true, "checkbox": true, "radio": true, "switch": true,
	"slider": true, "spinbutton": true, "menuitem": true, "menuitemcheckbox": true,
	"menuitemradio": true, "tab": true, "treeitem": true, "input": true, "gridcell": true,
}

func (r outlineRow) actionable() bool {
	return r.Ref != "" && (r.Clickable || r.Draggable || actionableRoles[r.Role])
}

// line is a row as a snapshot shows it.
func (r outlineRow) line() string {
	out := r.Role
	if r.Name != "" {
		out += " " + quote(r.Name, 80)
	}
	if r.Ref != "" {
		out += " [ref=" + r.Ref + "]"
	}
	if r.Checked == true {
		out += " [checked]"
	}
	if r.Disabled {
		out += " [disabled]"
	}
	if text := cmp.Or(r.Value, r.Text); text != "" {
		out += ": " + quote(text, 80)
	}
	return out
}

// synonyms are words that say the same on many pages. Each stands for the first of its
// group.
var synonyms = func() map[string]string {
	out := map[string]string{}
	for _, group := range []string{
		"login signin logon signon", "logout signout logoff", "register signup join",
		"search find look query", "delete remove trash discard", "add new create plus insert",
		"edit change modify update rename", "save store apply", "send submit post",
		"cart basket bag", "buy purchase order checkout", "next continue forward proceed",
		"previous back", "close dismiss cancel", "settings preferences options configuration",
		"user username account", "mail email", "download export", "upload import attach",
	} {
		words := strings.Fields(group)
		for _, w := range words {
			out[w] = words[0]
		}
	}
	return out
}()

// pairs are two words that are written as one elsewhere.
var pairs = map[string]string{
	"log in":    "login",
	"sign in":   "login",
	"log on":    "login",
	"log out":   "logout",
	"sign out":  "logout",
	"sign up":   "register",
	"e mail":    "mail",
	"check out": "buy",
}

// wordsOf are the words of a text in one form: lower case, no plural, and one word of
// those that say the same.
func wordsOf(text string) []string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	})
	out := make([]string, 0, len(fields))
	for i := 0; i < len(fields); i++ {
		w := fields[i]
		if i+1 < len(fields) {
			if joined, ok := pairs[w+" "+fields[i+1]]; ok {
				w = joined
				i++
			}
		}
		if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			w = w[:len(w)-1]
		}
		out = append(out, cmp.Or(synonyms[w], w))
	}
	return out
}

// found is a row with the place that it stands in.
type found struct {
	row   outlineRow
	place string
	score float64
}

// rank orders rows by how well they fit words, best first, by BM25 over role, name and
// text; the names of the rows around count a little. Rows that fit no word are left out.
func rank(query string, rows []outlineRow, most int) []found {
	terms := wordsOf(query)
	slices.Sort(terms)
	terms = slices.Compact(terms)
	if len(terms) == 0 || len(rows) == 0 {
		return nil
	}
	const (
		k      = 1.2
		b      = 0.6
		around = 0.3
	)
	own := make([][]string, len(rows))
	total := 0
	in := map[string]int{} // rows that have a term
	for i, r := range rows {
		own[i] = wordsOf(r.Role + " " + r.Name + " " + r.Text + " " + r.Value)
		total += len(own[i])
		for _, t := range terms {
			if frequency(t, own[i]) > 0 {
				in[t]++
			}
		}
	}
	average := float64(total) / float64(len(rows))
	var open []int
	var out []found
	for i, r := range rows {
		for len(open) > 0 && rows[open[len(open)-1]].Depth >= r.Depth {
			open = open[:len(open)-1]
		}
		score, direct := 0.0, false
		for _, t := range terms {
			f := frequency(t, own[i])
			direct = direct || f > 0
			if f == 0 {
				for _, at := range open {
					if rows[at].Name != "" && frequency(t, own[at]) > 0 {
						f = around
					}
				}
			}
			idf := math.Log(1 + (float64(len(rows)-in[t])+0.5)/(float64(in[t])+0.5))
			score += idf * f * (k + 1) / (f + k*(1-b+b*float64(len(own[i]))/average))
		}
		if direct {
			if r.actionable() {
				score *= 1.5
			}
			out = append(out, found{r, placeOf(rows, open), score})
		}
		open = append(open, i)
	}
	slices.SortStableFunc(out, func(a, b found) int { return cmp.Compare(b.score, a.score) })
	return out[:min(most, len(out))]
}

// frequency is how often a term is among words; the beginning of a longer word counts half.
func frequency(term string, words []string) float64 {
	f := 0.0
	for _, w := range words {
		switch {
		case w == term:
			f++
		case len(term) >= 4 && strings.HasPrefix(w, term), len(w) >= 4 && strings.HasPrefix(term, w):
			f += 0.5
		}
	}
	return f
}

// placeOf names the nearest two rows around that have a name.
func placeOf(rows []outlineRow, open []int) string {
	var names []string
	for i := len(open) - 1; i >= 0 && len(names) < 2; i-- {
		if r := rows[open[i]]; r.Name != "" {
			names = append(names, r.Role+" "+quote(r.Name, 40))
		}
	}
	return strings.Join(names, " in ")
}

func rowsIn(value json.RawMessage) []outlineRow {
	var out struct {
		Nodes []outlineRow `json:"nodes"`
	}
	_ = json.Unmarshal(value, &out) // a snapshot of the runtime's own
	return out.Nodes
}
