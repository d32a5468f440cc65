package page

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Renewed is the element of a document that is what an element of the document before was.
type Renewed struct {
	Ref string `json:"ref"`
	// Certain: both documents have one address and one title, and in both one element alone has this role, name and
	// place. Otherwise it is the only one of its role and name, and whoever asked has to judge.
	Certain bool   `json:"certain"`
	Row     string `json:"row"`
}

const (
	// renewTime bounds the search, and renewLoad the wait for the load of the new document: what is not there yet may
	// be a double of what is.
	renewTime = 4 * time.Second
	renewLoad = 2 * time.Second
	// mostContents bounds the text by which a row without a name is known.
	mostContents = 300
	mostRenewed  = 200
)

// Renew finds what has taken the place of the element of a ref whose document was replaced. It reads the page; nil
// where no element is it, several may be, or no snapshot is kept that has the ref.
func Renew(ctx context.Context, p primitives.Page, ref string) *Renewed {
	old, _ := p.Refs().NewestKept(func(k primitives.Kept) bool {
		s, ok := k.(*keptSnapshot)
		return ok && s.doc != nil && slices.ContainsFunc(s.doc.rows, func(r treeRow) bool { return r.ref() == ref })
	}).(*keptSnapshot)
	if old == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, renewTime)
	defer cancel()
	loaded := map[string]any{
		"conditions": []map[string]string{{"load": "load"}},
		"mode":       "all",
		"timeout_ms": renewLoad.Milliseconds(),
	}
	var there struct {
		Matched bool `json:"matched"`
	}
	if err := p.Call(ctx, "", "page_wait", loaded, &there); err != nil {
		return nil
	}
	in := pageSnapshotIn{}
	if bytes.HasPrefix(old.doc.rows[0].text, []byte("{")) {
		in.Format = "json"
	}
	now, err := readTree(ctx, p, in, nil)
	if err != nil {
		return nil
	}
	was := placesOf(old.doc.rows)
	is := placesOf(now.rows)
	at := slices.IndexFunc(was, func(e placedRow) bool { return e.ref == ref })
	wanted := was[at]
	if wanted.name == "" {
		return nil
	}
	sameKind := func(e placedRow) bool { return e.role == wanted.role && e.name == wanted.name }
	samePlace := func(e placedRow) bool { return sameKind(e) && e.place == wanted.place }
	title := ""
	if now.title != nil {
		title = *now.title
	}
	complete := there.Matched && now.left == 0 && len(now.missed) == 0 && !old.partial
	sameDocument := sameAddress(old.url, p.Tab().URL) && old.title == title && !strings.HasPrefix(ref, "f")
	found := oneOf(is, samePlace)
	if old.whole && found != nil && oneOf(was, samePlace) != nil {
		return &Renewed{Ref: found.ref, Certain: complete && sameDocument, Row: found.line()}
	}
	found = oneOf(is, sameKind)
	if found == nil || oneOf(was, sameKind) == nil {
		return nil
	}
	return &Renewed{Ref: found.ref, Row: found.line()}
}

// sameAddress: both are addresses of one document. What stands behind # is a place in it.
func sameAddress(a, b string) bool {
	first, errA := url.Parse(a)
	second, errB := url.Parse(b)
	if errA != nil || errB != nil {
		return false
	}
	first.Fragment, first.RawFragment = "", ""
	second.Fragment, second.RawFragment = "", ""
	return first.String() == second.String()
}

// oneOf is the one row that fits, nil for none and for several.
func oneOf(rows []placedRow, fits func(placedRow) bool) *placedRow {
	var found *placedRow
	for i := range rows {
		if !fits(rows[i]) {
			continue
		}
		if found != nil {
			return nil
		}
		found = &rows[i]
	}
	return found
}

// placedRow is an element of a snapshot with the names of what it lies in.
type placedRow struct {
	ref, role, name, place string
}

func (r placedRow) line() string {
	return primitives.CutText(r.role+" "+quotedName(r.name)+" [ref="+r.ref+"]", mostRenewed)
}

func quotedName(name string) string {
	b, err := json.Marshal(name)
	if err != nil {
		return ""
	}
	return string(b)
}

// recordRoles are the roles of rows that are known by what they hold.
var recordRoles = map[string]bool{"row": true, "listitem": true, "article": true, "option": true, "treeitem": true}

var rowForm = lazyregexp.New(`^- ([^ :]+)(?: ("(?:[^"\\]|\\.)*"))?(?: ≈("(?:[^"\\]|\\.)*"))?`)

// parts are the role, the name or what stands beside, and the words of a row.
func (r treeRow) parts() (role, name, words string) {
	if bytes.HasPrefix(r.text, []byte("{")) {
		var o struct{ Role, Name, Near, Text, Value string }
		if json.Unmarshal(r.text, &o) != nil {
			return "", "", ""
		}
		if o.Name == "" {
			o.Name = o.Near
		}
		return o.Role, o.Name, o.Text + o.Value
	}
	m := rowForm().FindSubmatch(r.text)
	if m == nil {
		return "", "", ""
	}
	quoted := m[2]
	if len(quoted) == 0 {
		quoted = m[3]
	}
	if len(quoted) > 0 && json.Unmarshal(quoted, &name) != nil {
		return "", "", ""
	}
	rest := r.text[len(m[0]):]
	if i := bytes.Index(rest, []byte(": ")); i >= 0 {
		words = string(rest[i+2:])
	}
	return string(m[1]), name, words
}

// placesOf are the elements of a snapshot that have a ref.
func placesOf(rows []treeRow) []placedRow {
	around := parentsOf(rows)
	roles := make([]string, len(rows))
	names := make([]string, len(rows))
	contents := make([]string, len(rows))
	for i, r := range rows {
		var words string
		roles[i], names[i], words = r.parts()
		said := strings.TrimSpace(names[i] + " " + words)
		for in := around[i]; in >= 0 && said != ""; in = around[in] {
			if recordRoles[roles[in]] && len(contents[in]) < mostContents {
				contents[in] += " " + said
			}
		}
	}
	places := make([]string, len(rows))
	var out []placedRow
	for i, r := range rows {
		if in := around[i]; in >= 0 {
			places[i] = places[in] + "\n" + roles[in] + " " + names[in] + contents[in]
		}
		if ref := r.ref(); ref != "" {
			out = append(out, placedRow{ref, roles[i], names[i], places[i]})
		}
	}
	return out
}

// WithRenewed adds to the failure of a ref whose document was replaced which element is it now. unbroken: no document
// was replaced since the call began, so nothing was done.
func WithRenewed(ctx context.Context, p primitives.Page, err *fault.Error, unbroken bool) *fault.Error {
	reason := err.Evidence["reason"]
	ref, ok := err.Evidence["ref"].(string)
	if err.Code != fault.ElementStale || !ok || reason != "document_replaced" && reason != "frame_removed" {
		return err
	}
	now := Renew(ctx, p, ref)
	if now == nil {
		return err
	}
	now.Certain = now.Certain && unbroken
	return err.With("now", now).Next("if now is the element that you mean, use its ref; otherwise take a new snapshot")
}
