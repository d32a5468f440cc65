package locator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Locator describes elements to the page library. It is passed on as it came, since
// results repeat it; only the frame, and the frame of a ref, is ours to resolve.
type Locator struct {
	Raw   json.RawMessage
	Frame FrameSelectors
	Ref   string // its own, or that of the innermost locator it searches within
	// AnyFrame: where the document that it names shows no match, every frame of the page
	// is searched.
	AnyFrame bool

	narrows bool // known to name an element when it was decoded
}

// maxWithin bounds how deep locators are nested by within.
const maxWithin = 8

// locatorFields are the members of a locator, for what a schema cannot check:
// locators nest.
type locatorFields struct {
	Selector     *string         `json:"selector"`
	Text         *string         `json:"text"`
	TextContains *string         `json:"text_contains"`
	TextEquals   *string         `json:"text_equals"`
	Frame        FrameSelectors  `json:"frame"`
	Retarget     json.RawMessage `json:"retarget"`
	Pierce       *bool           `json:"pierce"`
	Ref          *string         `json:"ref"`
	XPath        *string         `json:"xpath"`
	Role         *string         `json:"role"`
	Name         *textMatch      `json:"name"`
	Label        *textMatch      `json:"label"`
	Near         *textMatch      `json:"near"`
	Placeholder  *textMatch      `json:"placeholder"`
	TestID       *textMatch      `json:"test_id"`
	HasText      *textMatch      `json:"has_text"`
	Exact        *bool           `json:"exact"`
	Within       *locatorFields  `json:"within"`
	Has          *locatorFields  `json:"has"`
	NearestTo    *locatorFields  `json:"nearest_to"`
	Nth          *int            `json:"nth"`
	Fallback     []string        `json:"fallback"`
	Strict       *bool           `json:"strict"`
	AnyFrame     *bool           `json:"any_frame"`
}

// textMatch is a text, a part of one, or a regular expression of ECMAScript.
type textMatch struct {
	text string // of a string or of contains
	form string // "text", "contains" or "regex"
}

func (m *textMatch) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		m.form = "text"
		return json.Unmarshal(b, &m.text)
	}
	var in struct {
		Regex    *string `json:"regex"`
		Flags    *string `json:"flags"`
		Contains *string `json:"contains"`
	}
	if err := arguments.DecodeStrict(b, &in); err != nil {
		return err
	}
	switch {
	case (in.Regex == nil) == (in.Contains == nil), in.Flags != nil && in.Regex == nil:
		return errors.New("a text is a string, {contains}, or {regex, flags}")
	case in.Regex != nil:
		m.form, m.text = "regex", *in.Regex
	default:
		m.form, m.text = "contains", *in.Contains
	}
	if len(m.text) > 2000 {
		return errors.New("the text to look for is too long")
	}
	return nil
}

func (l *Locator) UnmarshalJSON(b []byte) error {
	*l = Locator{Raw: slices.Clone(b)}
	// Upstream's members need no second check; what is refused below names its
	// reason, which a schema's message would not.
	if !extendedLocator(b) {
		if !bytes.Contains(b, []byte(`frame"`)) && !escapedLetters(b) {
			return nil
		}
		var in struct {
			Frame    FrameSelectors `json:"frame"`
			AnyFrame bool           `json:"any_frame"`
		}
		err := json.Unmarshal(b, &in)
		l.Frame, l.AnyFrame = in.Frame, in.AnyFrame
		return err
	}
	var in locatorFields
	if err := json.Unmarshal(b, &in); err != nil {
		return badLocator(err.Error(), nil)
	}
	l.AnyFrame = in.AnyFrame != nil && *in.AnyFrame
	l.narrows = in.Selector != nil && *in.Selector != "" || in.Role != nil || in.Name != nil || in.Ref != nil
	if in.Within != nil || in.Has != nil || in.NearestTo != nil {
		if err := checkNested(b); err != nil {
			return err
		}
	}
	return in.check(l)
}

// checkNested refuses members that the locators inside of a locator do not have.
func checkNested(b []byte) error {
	var nested struct {
		Within    json.RawMessage `json:"within"`
		Has       json.RawMessage `json:"has"`
		NearestTo json.RawMessage `json:"nearest_to"`
	}
	if err := json.Unmarshal(b, &nested); err != nil {
		return err
	}
	for i, raw := range []json.RawMessage{nested.Within, nested.Has, nested.NearestTo} {
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		if err := arguments.DecodeStrict(raw, new(locatorFields)); err != nil {
			name := []string{"within", "has", "nearest_to"}[i]
			return badLocator(name+" is no locator: "+strings.TrimPrefix(err.Error(), "json: "), nil)
		}
	}
	return nil
}

// check refuses what cannot be meant and takes over frame and ref.
func (in *locatorFields) check(l *Locator) error {
	if err := in.checkOthers(0); err != nil {
		return err
	}
	ref := ""
	depth := 0
	for at := in; at != nil; at = at.Within {
		if depth++; depth > maxWithin {
			return badLocator("locators look within each other more than 8 deep", nil)
		}
		for name, text := range map[string]*string{"xpath": at.XPath, "role": at.Role, "ref": at.Ref} {
			if text != nil && strings.TrimSpace(*text) == "" {
				return badLocator(name+" is blank", []string{name})
			}
		}
		for name, m := range map[string]*textMatch{
			"name":        at.Name,
			"label":       at.Label,
			"near":        at.Near,
			"placeholder": at.Placeholder,
			"test_id":     at.TestID,
			"has_text":    at.HasText,
		} {
			if m != nil && strings.TrimSpace(m.text) == "" {
				return badLocator(name+" is blank", []string{name})
			}
		}
		if at.Ref != nil {
			named := at.Role != nil || at.Name != nil || at.Label != nil || at.Near != nil
			attributed := at.Placeholder != nil || at.TestID != nil
			placed := at.Selector != nil || at.XPath != nil || at.Within != nil || at.Nth != nil
			if named || attributed || placed {
				return badLocator("ref names one element and stands alone", []string{"ref"})
			}
			ref = *at.Ref
		}
		if len(at.Frame) > 0 {
			if at != in && len(in.Frame) > 0 && !slices.Equal(at.Frame, in.Frame) {
				return badLocator("within names another frame", []string{"frame", "within"})
			}
			l.Frame = at.Frame
		}
	}
	if ref != "" && len(l.Frame) > 0 {
		return badLocator("a ref knows its frame; give one of frame and ref", []string{"frame", "ref"})
	}
	l.Ref = ref
	return nil
}

// checkOthers refuses has and nearest_to that name a frame or a ref: they are searched in the document of the locator.
func (in *locatorFields) checkOthers(depth int) error {
	if in == nil {
		return nil
	}
	if depth > maxWithin {
		return badLocator("locators are nested more than 8 deep", nil)
	}
	for i, other := range []*locatorFields{in.Has, in.NearestTo} {
		if other == nil {
			continue
		}
		name := []string{"has", "nearest_to"}[i]
		for at := other; at != nil; at = at.Within {
			if at.Ref != nil || len(at.Frame) > 0 || at.AnyFrame != nil {
				why := " is searched in the document of its locator: it has no frame and no ref"
				return badLocator(name+why, []string{name})
			}
		}
		if err := other.checkOthers(depth + 1); err != nil {
			return err
		}
	}
	return in.Within.checkOthers(depth + 1)
}

func badLocator(message string, fields []string) error {
	e := fault.New(fault.InvalidInput, "locator: %s", message)
	if fields != nil {
		e.With("fields", fields)
	}
	return e
}

// extensionMembers are the members that upstream's locators do not have.
var extensionMembers = []string{
	"ref", "xpath", "role", "name", "label", "near", "placeholder", "test_id", "has_text", "within", "has",
	"nearest_to", "nth", "fallback",
}

// extendedLocator reports whether a locator may have one of them. It is a cheap
// look that can be wrong on the careful side only.
func extendedLocator(b []byte) bool {
	if escapedLetters(b) {
		return hasExtension(b)
	}
	for _, name := range extensionMembers {
		if bytes.Contains(b, []byte(`"`+name+`"`)) {
			return true
		}
	}
	return false
}

// escapedLetters reports whether letters may be written as escapes, in names too.
func escapedLetters(b []byte) bool { return bytes.Contains(b, []byte(`\u`)) }

// hasExtension is extendedLocator by full decoding.
func hasExtension(b []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(b, &members) != nil {
		return false
	}
	return slices.ContainsFunc(extensionMembers, func(name string) bool {
		v, there := members[name]
		return there && string(v) != "null"
	})
}

func (l Locator) MarshalJSON() ([]byte, error) {
	if len(l.Raw) == 0 {
		return []byte("null"), nil
	}
	return l.Raw, nil
}

// Given reports whether there is a locator at all.
func (l Locator) Given() bool { return len(l.Raw) > 0 && string(l.Raw) != "null" }

// RefLocator is the locator of a ref.
func RefLocator(ref string) Locator {
	raw, _ := json.Marshal(map[string]string{"ref": ref}) // a string
	return Locator{Raw: raw, Ref: ref}
}

// NamesElement reports whether a locator narrows anything. One that does not stands for
// every control of the page, which an expression that gave nothing must not
// mean.
func (l Locator) NamesElement() bool {
	if l.narrows {
		return true
	}
	var in map[string]any
	if json.Unmarshal(l.Raw, &in) != nil {
		return false
	}
	for _, k := range []string{"selector", "text", "text_contains", "text_equals"} {
		if s, ok := in[k].(string); ok && s != "" {
			return true
		}
	}
	for _, k := range extensionMembers {
		if in[k] != nil && k != "nth" {
			return true
		}
	}
	return false
}

// Enter goes to the document that a locator is about: that of its ref, or that
// of its frame. Frame errors carry the locator.
func (l Locator) Enter(ctx context.Context, p primitives.Page) (Place, error) {
	if l.Ref != "" {
		return PlaceOfRef(ctx, p, l.Ref)
	}
	at, err := Enter(ctx, p, l.Frame)
	if err == nil && l.AnyFrame && len(l.Frame) == 0 {
		return l.search(ctx, p, at)
	}
	return at, aboutLocator(err, l)
}

// searchFrame bounds the search in one document: a frame that is stuck must not cost the
// others.
const searchFrame = 500 * time.Millisecond

// search finds the first document in which the locator shows something: the main one,
// then its frames in document order. Where none does, the place is the main document and
// Searching is set.
func (l Locator) search(ctx context.Context, p primitives.Page, main Place) (Place, error) {
	frames := p.Frames()
	if len(frames) < 2 || l.shownIn(ctx, p, main.Frame) {
		return main, nil
	}
	for _, f := range frames[1:min(len(frames), maxSearched)] {
		if !l.shownIn(ctx, p, f.ID) {
			continue
		}
		if at, err := PlaceOfFrame(ctx, p, f.ID); err == nil {
			return at, nil
		}
	}
	main.Searching = true
	return main, ctx.Err()
}

// maxSearched bounds the documents that are searched.
const maxSearched = 64

// shownIn reports whether something that the locator names is drawn in a document.
func (l Locator) shownIn(ctx context.Context, p primitives.Page, frame primitives.FrameID) bool {
	ctx, cancel := context.WithTimeout(ctx, searchFrame)
	defer cancel()
	args := map[string]any{"locator": l, "state": "rendered", "timeout_ms": 0}
	for rounds := range OpenRounds {
		args["searched"] = rounds == OpenRounds-1
		var out struct {
			Matched bool     `json:"matched"`
			Hosts   []string `json:"hosts"`
		}
		if err := p.Call(ctx, frame, "wait_for", args, &out); err != nil || len(out.Hosts) == 0 {
			return err == nil && out.Matched
		}
		if _, err := p.OpenShadows(ctx, frame, out.Hosts); err != nil {
			return false
		}
	}
	return false
}

// Evaluate calls fn about what the locator names, with the view that its frame needs.
// args gets the members locator and view.
func (l Locator) Evaluate(ctx context.Context, p primitives.Page, fn string, args map[string]any, out any) error {
	at, err := l.Enter(ctx, p)
	if err != nil {
		return err
	}
	if args == nil {
		args = map[string]any{}
	}
	args["locator"] = l
	if at.View != nil {
		args["view"] = at.View
	}
	return l.EvaluateIn(ctx, p, at.Frame, fn, args, out)
}

// EvaluateIn calls fn in a frame. What a locator that searches shadow roots does not
// find may be in a closed one. Those are opened, and the call is repeated.
func (l Locator) EvaluateIn(
	ctx context.Context, p primitives.Page, frame primitives.FrameID, fn string, args map[string]any, out any,
) error {
	var payload any = args
	if own, ok := args["locator"].(Locator); ok && len(args) == 1 { // what most page calls take: not encoded again
		raw, _ := own.MarshalJSON()
		payload = json.RawMessage(slices.Concat([]byte(`{"locator":`), raw, []byte(`}`)))
	}
	err := p.Call(ctx, frame, fn, payload, out)
	if IsMiss(err) && l.pierces() && openHidden(ctx, p, frame) {
		err = p.Call(ctx, frame, fn, payload, out)
	}
	return err
}

// IsMiss reports whether nothing was found: a fallback that is only a guess is nothing for what acts.
func IsMiss(err error) bool {
	var f *fault.Error
	if !errors.As(err, &f) || f == nil {
		return false
	}
	return f.Code == fault.TargetNotFound || f.Code == fault.DriftDetected ||
		f.Code == fault.TargetNotEditable && f.Evidence["reason"] == "not_found"
}

// pierces reports whether the locator searches shadow roots.
func (l Locator) pierces() bool {
	var in struct {
		Pierce *bool `json:"pierce"`
	}
	if json.Unmarshal(l.Raw, &in) != nil {
		return false
	}
	if in.Pierce != nil {
		return *in.Pierce
	}
	return hasExtension(l.Raw)
}

// openHidden opens closed shadow roots that were not searched yet, and says
// whether there were some. It costs a page call where there are none.
func openHidden(ctx context.Context, p primitives.Page, frame primitives.FrameID) bool {
	var found struct {
		Hosts []string `json:"hosts"`
	}
	if err := p.Call(ctx, frame, "unopened_hosts", nil, &found); err != nil || len(found.Hosts) == 0 {
		return false
	}
	opened, err := p.OpenShadows(ctx, frame, found.Hosts)
	return err == nil && opened > 0
}
