package browserbridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The thirteen actions.
const (
	actNavigate   = "navigate"
	actClick      = "click"
	actType       = "type"
	actHover      = "hover"
	actPressKey   = "press_key"
	actScroll     = "scroll"
	actScreenshot = "screenshot"
	actExtract    = "extract"
	actEvaluate   = "evaluate"
	actWaitFor    = "wait_for"
	actGetTabs    = "get_tabs"
	actOpenTab    = "open_tab"
	actCloseTab   = "close_tab"
)

// caps is what hello announces: the actions, and words for what not every
// client can do.
var caps = []string{
	actNavigate, actClick, actType, actHover, actPressKey, actScroll, actScreenshot,
	actExtract, actEvaluate, actWaitFor, actGetTabs, actOpenTab, actCloseTab,
	"uid", "obstacle", "full_page",
}

// Limits of the protocol.
const (
	maxText         = 50_000 // UTF-8 bytes of extract's text
	maxMarkdown     = 30_000
	maxElements     = 200
	maxValue        = 8_000 // of a value of evaluate, as JSON
	maxWaitFor      = 60 * time.Second
	defaultWaitFor  = 10 * time.Second
	maxScroll       = 20_000 // CSS pixels
	evaluateLimit   = 10 * time.Second
	navigateLimit   = 30 * time.Second
	screenshotLimit = 28 * time.Second
	extractLimit    = 28 * time.Second
	otherLimit      = 13 * time.Second
)

// action is one validated action.
type action struct {
	kind string
	// tabID is 0 when the request names none.
	tabID    int
	selector string
	uid      string
	url      string
	text     string
	key      string
	up       bool
	amount   float64 // 0 for the default
	fullPage bool
	focus    bool
	script   string
	timeout  time.Duration
}

// fields says which members an action has, and which of them it needs. Members
// that are not listed are ignored: a newer backend may send them.
var fields = map[string]struct {
	target bool // exactly one of selector and uid
	needs  []string
	takes  []string
}{
	actNavigate:   {needs: []string{"url"}},
	actClick:      {target: true},
	actType:       {target: true, needs: []string{"text"}},
	actHover:      {target: true},
	actPressKey:   {needs: []string{"key"}},
	actScroll:     {needs: []string{"direction"}, takes: []string{"amount"}},
	actScreenshot: {takes: []string{"fullPage"}},
	actExtract:    {takes: []string{"selector"}},
	actEvaluate:   {needs: []string{"expression"}},
	actWaitFor:    {target: true, takes: []string{"timeoutMs"}},
	actGetTabs:    {},
	actOpenTab:    {needs: []string{"url"}, takes: []string{"focus"}},
	actCloseTab:   {needs: []string{"tabId"}},
}

// invalidAction is the answer to a request that does not match the schema.
func invalidAction(format string, args ...any) *Error {
	return &Error{Code: codeInvalidAction, Message: fmt.Sprintf(format, args...)}
}

// decodeAction reads an action. The protocol's text does not say what the tag
// inside action is called: type is what we write, action, kind and name are
// read too, and parameters may be nested under params.
func decodeAction(raw json.RawMessage) (action, *Error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return action{}, invalidAction("action is not an object")
	}
	var a action
	for _, tag := range []string{"type", "action", "kind", "name"} {
		var kind string
		if json.Unmarshal(members[tag], &kind) == nil {
			if _, known := fields[kind]; known {
				a.kind = kind
				delete(members, tag)
				break
			}
		}
	}
	if a.kind == "" {
		return a, invalidAction("action has no known type; expected one of %s", strings.Join(caps[:len(fields)], ", "))
	}
	if nested, ok := members["params"]; ok {
		var inner map[string]json.RawMessage
		if json.Unmarshal(nested, &inner) != nil {
			return a, invalidAction("%s: params is not an object", a.kind)
		}
		maps.Copy(members, inner)
	}
	for name, value := range members {
		if string(bytes.TrimSpace(value)) == "null" {
			delete(members, name)
		}
	}
	return a, a.read(members)
}

func (a *action) read(members map[string]json.RawMessage) *Error {
	spec := fields[a.kind]
	for _, name := range spec.needs {
		if _, ok := members[name]; !ok {
			return invalidAction("%s: %s is missing", a.kind, name)
		}
	}
	r := reader{kind: a.kind, members: members}
	if a.kind != actGetTabs && a.kind != actOpenTab {
		a.tabID = int(r.integer("tabId", 1, math.MaxInt32))
	}
	if spec.target {
		a.selector, a.uid = r.text("selector"), r.text("uid")
		if _, s := members["selector"]; r.failed == nil {
			if _, u := members["uid"]; s == u {
				return invalidAction("%s: give exactly one of selector and uid", a.kind)
			}
			if a.selector == "" && a.uid == "" {
				return invalidAction("%s: the target is empty", a.kind)
			}
		}
	}
	for _, name := range slices.Concat(spec.needs, spec.takes) {
		switch name {
		case "url":
			a.url = r.text(name)
		case "text":
			a.text = r.text(name)
		case "key":
			a.key = r.text(name)
		case "expression":
			a.script = r.text(name)
		case "selector":
			a.selector = r.text(name)
		case "direction":
			d := r.text(name)
			if r.failed == nil && d != "up" && d != "down" {
				return invalidAction("%s: direction is up or down", a.kind)
			}
			a.up = d == "up"
		case "amount":
			if _, ok := members[name]; ok {
				a.amount = r.number(name)
				if r.failed == nil && !(a.amount > 0 && a.amount <= maxScroll) {
					return invalidAction("%s: amount is above 0 and at most %d", a.kind, maxScroll)
				}
			}
		case "fullPage":
			a.fullPage = r.truth(name)
		case "focus":
			a.focus = r.truth(name)
		case "timeoutMs":
			a.timeout = defaultWaitFor
			if _, ok := members[name]; ok {
				a.timeout = time.Duration(r.integer(name, 1, maxWaitFor.Milliseconds())) * time.Millisecond
			}
		}
	}
	return r.failed
}

// reader reads members of the right type and remembers the first failure.
type reader struct {
	kind    string
	members map[string]json.RawMessage
	failed  *Error
}

func (r *reader) decode(name string, into any, expected string) {
	raw, ok := r.members[name]
	if !ok || r.failed != nil {
		return
	}
	if json.Unmarshal(raw, into) != nil {
		r.failed = invalidAction("%s: %s is not %s", r.kind, name, expected)
	}
}

func (r *reader) text(name string) (s string) { r.decode(name, &s, "a string"); return s }

func (r *reader) truth(name string) (b bool) { r.decode(name, &b, "true or false"); return b }

func (r *reader) number(name string) (n float64) { r.decode(name, &n, "a number"); return n }

func (r *reader) integer(name string, least, most int64) int64 {
	if _, ok := r.members[name]; !ok {
		return 0
	}
	n := r.number(name)
	if r.failed == nil && (n != math.Trunc(n) || n < float64(least) || n > float64(most)) {
		r.failed = invalidAction("%s: %s is an integer from %d to %d", r.kind, name, least, most)
	}
	return int64(n)
}

// incoming is a message of the backend.
type incoming struct {
	Type            string          `json:"type"`
	ID              string          `json:"id"`
	Action          json.RawMessage `json:"action"`
	ProtocolVersion int             `json:"protocolVersion"`
	ServerVersion   string          `json:"serverVersion"`
	RequiredMin     int             `json:"requiredMinProtocolVersion"`
	Error           *Error          `json:"error"`
}

// decodeMessage reads a frame. A frame that is no message but carries an id is
// a request that does not decode: it is answered.
func decodeMessage(frame []byte) (m incoming, err error) {
	if !utf8.Valid(frame) {
		return m, fmt.Errorf("the frame is not UTF-8")
	}
	err = json.Unmarshal(frame, &m)
	if err == nil {
		return m, nil
	}
	var loose map[string]json.RawMessage
	if json.Unmarshal(frame, &loose) == nil {
		_ = json.Unmarshal(loose["id"], &m.ID)
		_ = json.Unmarshal(loose["type"], &m.Type)
	}
	return m, err
}

// cut shortens s to n bytes at a rune boundary.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
