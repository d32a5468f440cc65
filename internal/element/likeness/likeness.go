// Package likeness says what an element looks like, and how much two such descriptions have in common. It does not
// touch pages and does not decide what a map should say. Repair calls it; recording, learning and element pickers may.
package likeness

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// Seen is an element as the page library describes it, with its text.
type Seen struct {
	Handle     string            `json:"handle,omitempty"`
	Tag        string            `json:"tag"`
	Role       string            `json:"role"`
	Name       string            `json:"name"`
	Text       string            `json:"text"`
	Attributes map[string]string `json:"attributes"`
	Path       []Ancestor        `json:"path"` // the parent first
	Nth        int               `json:"nth"`  // among siblings with the same tag, from 1
	Siblings   int               `json:"siblings"`
	Near       string            `json:"near"`             // text beside the element
	Shadow     bool              `json:"shadow,omitempty"` // it is in a shadow root
}

// Ancestor is one element above another.
type Ancestor struct {
	Tag    string `json:"tag"`
	Nth    int    `json:"nth"`
	ID     string `json:"id,omitempty"`
	TestID string `json:"testid,omitempty"`
	Role   string `json:"role,omitempty"`
}

// Element is what is remembered of an element. Text of the page is not in it: each
// of its words is a hash of 24 bits, which is enough to compare and not to read.
// The name of a control is an exception: it is the label that the site gave it.
type Element struct {
	Tag        string              `json:"tag"`
	Role       string              `json:"role,omitempty"`
	Name       string              `json:"name,omitempty"`
	Attributes map[string]string   `json:"attributes,omitempty"`
	Hashed     map[string][]string `json:"hashed,omitempty"` // name, text, near, and attributes that show text
	Path       []string            `json:"path,omitempty"`   // the parent first: form#login, ul, li
	Nth        int                 `json:"nth"`
	Siblings   int                 `json:"siblings"`
	// Others are hashes of what stood on the page beside it, and was alike: an element
	// that is one of these is not the one that is searched.
	Others []string `json:"others,omitempty"`
	// Namesakes is how many others of its page had its name in a role of its kind. With fewer on the page than
	// there were, a name does not say which of them is left.
	Namesakes int `json:"namesakes,omitempty"`
}

// controls are roles whose name is a label and seldom content.
var controls = strings.Fields("button checkbox combobox listbox menuitemcheckbox menuitemradio radio searchbox " +
	"slider spinbutton switch tab textbox")

// plainAttributes are remembered as they are; those in hashedAttributes as hashes.
var (
	plainAttributes  = append(slices.Clone(TestIDs), "id", "name", "type", "autocomplete", "for")
	hashedAttributes = []string{"placeholder", "title", "alt", "href", "src", "value"}
)

// TestIDs are the attributes that exist for tests, the usual first.
var TestIDs = []string{"data-testid", "data-test-id", "data-test", "data-qa", "data-cy", "data-automation-id"}

// Describe is what is remembered of an element. withNames keeps the names of
// controls readable.
func (s Seen) Describe(withNames bool) Element {
	e := Element{
		Tag:        s.Tag,
		Role:       s.Role,
		Nth:        s.Nth,
		Siblings:   s.Siblings,
		Attributes: map[string]string{},
		Hashed:     map[string][]string{},
	}
	hash := func(name, text string) {
		if w := hashes(text); len(w) > 0 {
			e.Hashed[name] = w
		}
	}
	if withNames && slices.Contains(controls, s.Role) {
		e.Name = s.Name
	} else {
		hash("name", s.Name)
	}
	if s.Text != s.Name {
		hash("text", s.Text)
	}
	hash("near", s.Near)
	for _, name := range plainAttributes {
		if v := s.Attributes[name]; v != "" && !Generated(v) {
			e.Attributes[name] = v
		}
	}
	if c := StableClasses(s.Attributes["class"]); len(c) > 0 {
		e.Attributes["class"] = strings.Join(c, " ")
	}
	for _, name := range hashedAttributes {
		v := s.Attributes[name]
		if u, err := url.Parse(v); (name == "href" || name == "src") && err == nil {
			v = u.Path + " " + u.Fragment // queries contain sessions and numbers of records
		}
		hash(name, v)
	}
	for i, a := range s.Path {
		if i == maxPath {
			break
		}
		e.Path = append(e.Path, a.String())
	}
	return e
}

const (
	maxPath   = 8
	maxOthers = 40
)

// Remember is what is remembered of an element among those of its page.
func (s Seen) Remember(live []Seen, withNames bool) Element {
	e := s.Describe(withNames)
	own := s.keys("")
	for _, other := range live {
		if other.Handle != s.Handle && e.namesake(other) {
			e.Namesakes++
		}
	}
	for _, other := range live {
		if other.Handle == s.Handle || Of(e, other.Describe(false)) < Least/2 {
			continue
		}
		for _, k := range other.keys(s.Name) {
			if !slices.Contains(own, k) {
				e.Others = append(e.Others, k)
			}
		}
		if len(e.Others) >= maxOthers {
			break
		}
	}
	slices.Sort(e.Others)
	e.Others = slices.Compact(e.Others)
	return e
}

// namesake reports whether an element has the words of the name that is remembered, in a role of its kind.
func (e Element) namesake(s Seen) bool {
	name := e.nameWords()
	return len(name) > 0 && slices.Equal(name, hashes(s.Name)) && related(e.Role, s.Role)
}

// related reports whether an element may change between two roles.
func related(a, b string) bool {
	return a == b || slices.ContainsFunc(kin, func(group []string) bool {
		return slices.Contains(group, a) && slices.Contains(group, b)
	})
}

// keys are hashes of what distinguishes an element from others. A name that the
// remembered one has too distinguishes nothing by itself.
func (s Seen) keys(notName string) []string {
	id := s.Attributes["id"]
	if Generated(id) {
		id = ""
	}
	out := []string{digest(strings.Join([]string{
		s.Tag, s.Attributes["type"], id, s.Attributes["name"],
		s.Name, s.Text, s.Attributes["href"], s.Attributes["value"],
	}, "\x00"))}
	if s.Name != "" && s.Name != notName {
		out = append(out, digest(s.Role+"\x00"+s.Name))
	}
	return out
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:3])
}

func (a Ancestor) String() string {
	switch {
	case a.TestID != "" && !Generated(a.TestID):
		return a.Tag + "[" + a.TestID + "]"
	case a.ID != "" && !Generated(a.ID):
		return a.Tag + "#" + a.ID
	}
	return a.Tag
}

// words are those of a text, folded, without punctuation.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// hashes are those of the words of a text, sorted, each once.
func hashes(text string) []string {
	var out []string
	for _, w := range words(text) {
		out = append(out, digest(w))
	}
	if len(out) == 0 && strings.TrimSpace(text) != "" { // signs alone: ×, →
		out = append(out, digest(strings.TrimSpace(text)))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (e Element) nameWords() []string {
	if e.Name != "" {
		return hashes(e.Name)
	}
	return e.Hashed["name"]
}

// Weights of what two elements may have in common. The first group identifies an
// element, the second only supports.
const (
	weightTestID = 4.0
	weightName   = 4.0
	weightID     = 3.0
	weightNamed  = 2.5 // the name attribute
	weightText   = 2.0
	weightShown  = 1.5 // placeholder, title, alt, href, src, value: each

	weightRole     = 1.5
	weightNear     = 1.5
	weightPath     = 1.5
	weightClass    = 1.0
	weightTag      = 0.5
	weightType     = 1.0
	weightPosition = 0.5
	weightOther    = 0.5 // autocomplete, for

	// surplus is how much of its weight a feature counts that only the other has.
	surplus = 0.25
)

// Of is how much b has of what a was remembered by, from 0 to 1. It is 0 when
// nothing that identifies a is in b.
func Of(a, b Element) float64 { return of(a, b, true) }

// of is Of, with a name that identifies or only supports.
func of(a, b Element, named bool) float64 {
	var sum, whole float64
	identified, identifying := false, false
	add := func(weight float64, has, other bool, like float64, identity bool) {
		switch {
		case has:
			whole += weight
			sum += weight * like
			if identity && other {
				identified = identified || like >= 0.5
			}
			identifying = identifying || identity
		case other:
			whole += weight * surplus
		}
	}
	exact := func(weight float64, x, y string, identity bool) {
		add(weight, x != "", y != "", b2f(x == y), identity)
	}
	fuzzy := func(weight float64, x, y []string, identity bool) {
		add(weight, len(x) > 0, len(y) > 0, dice(x, y), identity)
	}
	testA, testB := testID(a), testID(b)
	exact(weightTestID, testA, testB, true)
	fuzzy(weightName, a.nameWords(), b.nameWords(), named)
	fuzzy(weightID, words(a.Attributes["id"]), words(b.Attributes["id"]), true)
	fuzzy(weightNamed, words(a.Attributes["name"]), words(b.Attributes["name"]), true)
	fuzzy(weightText, a.Hashed["text"], b.Hashed["text"], true)
	for _, name := range hashedAttributes {
		fuzzy(weightShown, a.Hashed[name], b.Hashed[name], true)
	}
	exact(weightRole, a.Role, b.Role, false)
	exact(weightTag, a.Tag, b.Tag, false)
	exact(weightType, a.Attributes["type"], b.Attributes["type"], false)
	exact(weightOther, a.Attributes["autocomplete"], b.Attributes["autocomplete"], false)
	exact(weightOther, a.Attributes["for"], b.Attributes["for"], false)
	fuzzy(weightClass, strings.Fields(a.Attributes["class"]), strings.Fields(b.Attributes["class"]), false)
	fuzzy(weightNear, a.Hashed["near"], b.Hashed["near"], false)
	add(weightPath, len(a.Path) > 0, len(b.Path) > 0, common(a.Path, b.Path), false)
	add(weightPosition, true, true, b2f(a.Nth == b.Nth && a.Siblings == b.Siblings), false)
	if whole == 0 || !identifying || !identified {
		return 0
	}
	return sum / whole
}

func testID(e Element) string {
	for _, name := range TestIDs {
		if v := e.Attributes[name]; v != "" {
			return v
		}
	}
	return ""
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// dice is twice what two sets share, over what they have.
func dice(a, b []string) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	shared := 0
	for _, w := range a {
		if slices.Contains(b, w) {
			shared++
		}
	}
	return 2 * float64(shared) / float64(len(a)+len(b))
}

// common is the longest common subsequence over the longer of two paths.
func common(a, b []string) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return float64(row[len(b)]) / float64(max(len(a), len(b)))
}

// What bounds a proposal: how alike the best element must be, how much more than the
// next, and how much more than a next one with the same role and name, as in the rows
// of a list.
const (
	Least      = 0.40
	Margin     = 0.12
	TwinMargin = 0.30
)

// Choice is the outcome of a search.
type Choice struct {
	Index    int     // of the best, -1 when there is none
	Likeness float64 // of the best
	Next     float64 // of the one after it
	Twin     bool    // the one after it has the same role and name
}

// Sure reports whether the best may be proposed.
func (c Choice) Sure() bool {
	margin := Margin
	if c.Twin {
		margin = TwinMargin
	}
	return c.Index >= 0 && c.Likeness >= Least && c.Likeness-c.Next >= margin
}

// Best finds the element that is most like the one remembered.
func Best(remembered Element, live []Seen) Choice {
	c := Choice{Index: -1}
	next := -1
	namesakes := 0
	for _, s := range live {
		if remembered.namesake(s) {
			namesakes++
		}
	}
	named := remembered.Namesakes == 0 || namesakes > remembered.Namesakes
	for i, s := range live {
		if slices.ContainsFunc(s.keys(""), func(k string) bool { return slices.Contains(remembered.Others, k) }) {
			continue
		}
		like := of(remembered, s.Describe(false), named)
		switch {
		case like > c.Likeness:
			c.Next = c.Likeness
			c.Likeness = like
			next = c.Index
			c.Index = i
		case like > c.Next:
			c.Next, next = like, i
		}
	}
	c.Twin = next >= 0 && live[next].Role == live[c.Index].Role && live[next].Name == live[c.Index].Name
	return c
}

// kin are groups of roles that an element may change between.
var kin = [][]string{
	strings.Fields("button link menuitem tab"),
	strings.Fields("textbox searchbox combobox spinbutton"),
	strings.Fields("checkbox switch menuitemcheckbox"),
	strings.Fields("listbox combobox"),
	strings.Fields("radio menuitemradio tab"),
}

// Kin are the tags and roles among which an element that was remembered can be.
func Kin(all []Element) (tags, roles []string) {
	tagSet, roleSet := map[string]bool{}, map[string]bool{}
	for _, e := range all {
		tagSet[e.Tag] = true
		if e.Role == "" {
			continue
		}
		roleSet[e.Role] = true
		for _, group := range kin {
			if slices.Contains(group, e.Role) {
				for _, r := range group {
					roleSet[r] = true
				}
			}
		}
	}
	return slices.SortedFunc(
		maps.Keys(tagSet), cmp.Compare[string],
	), slices.SortedFunc(maps.Keys(roleSet), cmp.Compare[string])
}
