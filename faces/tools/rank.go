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
	Near      string `json:"near"` // what it is called without a name
	Of        string `json:"of"`   // what tells it from others of its name
	Ref       string `json:"ref"`
	Text      string `json:"text"`
	Value     string `json:"value"`
	Checked   any    `json:"checked"`
	Disabled  bool   `json:"disabled"`
	Readonly  bool   `json:"readonly"`
	Clickable bool   `json:"clickable"`
	Draggable bool   `json:"draggable"`
	HasPopup  string `json:"haspopup"`

	around bool // its text is that of what is in it
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
	if r.Near != "" {
		out += " ≈" + quote(r.Near, 80)
	}
	if r.Of != "" {
		out += " — " + quote(r.Of, 80)
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

	"search box": "searchbox", "search field": "searchbox", "text box": "textbox", "text field": "textbox",
	"check box": "checkbox", "radio button": "radio", "combo box": "combobox", "drop down": "combobox",
}

// roleWords are words that people have for roles.
var roleWords = map[string]string{
	"textbox": "field input box", "searchbox": "search field input box textbox", "combobox": "dropdown select field",
	"spinbutton": "number field input", "listbox": "list select", "img": "image picture icon", "checkbox": "tick",
	"menuitem": "menu", "columnheader": "column header", "rowheader": "row header",
}

// smallWords say nothing of what is looked for.
var smallWords = map[string]bool{
	"a": true, "an": true, "and": true, "at": true, "by": true, "for": true, "from": true, "in": true, "into": true,
	"is": true, "of": true, "on": true, "or": true, "the": true, "to": true, "with": true,
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
	// has are the words of the query that the row itself has, a bit for each; whole: it has all of them, or its
	// surroundings have.
	has   uint64
	whole bool
	exact bool // its name is the query
}

// queryWords are the words of a query without those that say nothing, at most so many as a found has bits.
func queryWords(query string) []string {
	all := wordsOf(query)
	slices.Sort(all)
	all = slices.Compact(all)
	terms := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return smallWords[w] })
	if len(terms) == 0 {
		terms = all
	}
	return terms[:min(len(terms), 64)]
}

// phraseOf is a text in which another is looked for as a phrase.
func phraseOf(text string) string { return " " + strings.Join(wordsOf(text), " ") + " " }

// asked reports how well the name of a row fits a query as a phrase: exact, or that one is in the other.
func (r outlineRow) asked(query string) (exact, within bool) {
	for _, name := range []string{r.Name, r.Near, r.Text} {
		phrase := phraseOf(name)
		if len(phrase) < 3 {
			continue
		}
		exact = exact || phrase == query || phraseOf(r.Role+" "+name) == query || phraseOf(name+" "+r.Role) == query
		several := strings.Count(phrase, " ") > 2
		within = within || strings.Contains(phrase, query) || several && strings.Contains(query, phrase)
	}
	return exact, within
}

// fitting leaves of ranked rows those that fit: the ones whose name is the query, else those that have all of its
// words, else the best and those near to it, and the best for each word that none of them has.
func fitting(hits []found) []found {
	some := func(test func(found) bool) []found {
		return slices.DeleteFunc(slices.Clone(hits), func(h found) bool { return !test(h) })
	}
	if exact := some(func(h found) bool { return h.exact }); len(exact) > 0 {
		if acting := some(func(h found) bool { return h.exact && h.row.actionable() }); len(acting) > 0 {
			return acting
		}
		return exact
	}
	if whole := some(func(h found) bool { return h.whole && !h.row.around }); len(whole) > 0 {
		return whole
	}
	if whole := some(func(h found) bool { return h.whole }); len(whole) > 0 {
		return whole
	}
	var out []found
	covered := uint64(0)
	for _, h := range hits {
		near := h.score >= nearBest*hits[0].score && h.has&^covered == 0 && h.has == hits[0].has
		if near || h.has&^covered != 0 {
			out = append(out, h)
			covered |= h.has
		}
	}
	return out
}

// nearBest is the share of the best score that a row needs to be shown beside it.
const nearBest = 0.7

// rank orders rows by how well they fit words, best first, by BM25 over role, name and
// text; the names of the rows around count a little. Rows that fit no word are left out.
func rank(query string, rows []outlineRow, most int) []found {
	terms := queryWords(query)
	phrase := phraseOf(query)
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
		own[i] = wordsOf(strings.Join(
			[]string{r.Role, roleWords[r.Role], r.Name, r.Near, r.Of, r.Text, r.Value}, " ",
		))
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
	placed := 0
	for i, r := range rows {
		for len(open) > 0 && rows[open[len(open)-1]].Depth >= r.Depth {
			open = open[:len(open)-1]
		}
		score, whole := 0.0, true
		has := uint64(0)
		for n, t := range terms {
			if frequency(t, own[i]) > 0 {
				has |= 1 << n
			}
		}
		place := ""
		if has != 0 && placed < mostPlaced && cellRoles[r.Role] {
			place = cellPlace(rows, open, i)
			placed++
		}
		beside := wordsOf(place)
		for _, t := range terms {
			f := frequency(t, own[i])
			if f == 0 && frequency(t, beside) > 0 {
				f = around
			}
			if f == 0 {
				for _, at := range open {
					if rows[at].Name != "" && frequency(t, own[at]) > 0 {
						f = around
					}
				}
			}
			whole = whole && f > 0
			idf := math.Log(1 + (float64(len(rows)-in[t])+0.5)/(float64(in[t])+0.5))
			score += idf * f * (k + 1) / (f + k*(1-b+b*float64(len(own[i]))/average))
		}
		if has != 0 {
			if r.actionable() {
				score *= 1.5
			}
			exact, within := r.asked(phrase)
			if within {
				score *= 1.5
			}
			if place == "" {
				place = placeOf(rows, open)
			}
			out = append(out, found{r, place, score, has, whole, exact})
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

// mostPlaced bounds the cells of which row and column are found.
const mostPlaced = 300

// surroundingRoles are the roles of what is read as one with what is in it.
var surroundingRoles = map[string]bool{"row": true, "listitem": true, "article": true, "gridcell": true, "cell": true}

// contents gives rows of tables and items of lists that have no words of their own those of what is in them.
func contents(rows []outlineRow) {
	for i, r := range rows {
		if r.Name != "" || r.Text != "" || r.Value != "" || !surroundingRoles[r.Role] {
			continue
		}
		var words []string
		size := 0
		for j := i + 1; j < len(rows) && rows[j].Depth > r.Depth && size < mostContents; j++ {
			text := cmp.Or(rows[j].Value, rows[j].Text, rows[j].Name)
			if text != "" && (len(words) == 0 || words[len(words)-1] != text) {
				words = append(words, text)
				size += len(text)
			}
		}
		rows[i].around = len(words) > 1
		rows[i].Text = strings.Join(words, map[bool]string{true: " | ", false: " "}[r.Role == "row"])
	}
}

// mostContents are the bytes of what is in a row that stand for it.
const mostContents = 160

// cellRoles are the roles of cells of tables.
var cellRoles = map[string]bool{"cell": true, "gridcell": true, "rowheader": true}

// cellsOf are the places of the cells of the row of a table at a place.
func cellsOf(rows []outlineRow, at int) []int {
	var out []int
	for i := at + 1; i < len(rows) && rows[i].Depth > rows[at].Depth; i++ {
		if rows[i].Depth == rows[at].Depth+1 && (cellRoles[rows[i].Role] || rows[i].Role == "columnheader") {
			out = append(out, i)
		}
	}
	return out
}

// cellPlace names the row and the column of a cell; "" for what is none.
func cellPlace(rows []outlineRow, open []int, at int) string {
	if !cellRoles[rows[at].Role] || len(open) < 2 || rows[open[len(open)-1]].Role != "row" {
		return ""
	}
	row := open[len(open)-1]
	cells := cellsOf(rows, row)
	column := slices.Index(cells, at)
	if column < 0 {
		return ""
	}
	said := func(i int) string { return cmp.Or(rows[i].Name, rows[i].Text) }
	var parts []string
	for _, i := range cells {
		if i != at && said(i) != "" && said(i) != said(at) {
			parts = append(parts, "row "+quote(said(i), 40))
			break
		}
	}
	for i := row - 1; i >= 0 && rows[i].Depth >= rows[row].Depth-1; i-- { // upwards to the row of heads
		if rows[i].Role != "row" {
			continue
		}
		heads := cellsOf(rows, i)
		if column < len(heads) && rows[heads[column]].Role == "columnheader" {
			parts = append(parts, "column "+quote(said(heads[column]), 40))
			break
		}
	}
	return strings.Join(parts, ", ")
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
