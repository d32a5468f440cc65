package manifest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// MaxProblems bounds the errors, and likewise the warnings, of one report.
const MaxProblems = 500

// Problem is one thing that is wrong with a map.
type Problem struct {
	// Pointer is the JSON pointer (RFC 6901) of the value, "" for the whole
	// document. A missing member is reported at its own pointer.
	Pointer string     `json:"pointer"`
	Code    fault.Code `json:"code"`
	// Message is one sentence for people. It may quote names of the map, cut
	// and escaped.
	Message string `json:"message"`
	// Line counts from 1; 0 means unknown.
	Line int `json:"line,omitempty"`
	// Remedy is how such a map can be read all the same, "" where it cannot.
	Remedy string `json:"remedy,omitempty"`
}

// acceptDrafts is the remedy of what only drafts do.
const acceptDrafts = "--accept-drafts reads it"

func (p Problem) String() string {
	at := p.Pointer
	if at == "" {
		at = "(document)"
	}
	return fmt.Sprintf("%s: %s: %s", at, p.Code, p.Message)
}

// Report is everything that is wrong with a map, in document order.
type Report struct {
	Errors   []Problem
	Warnings []Problem
	// Left are the errors of declarations that cannot be used (Options.Parts).
	Left []Problem
	// Dropped counts errors and warnings beyond MaxProblems.
	Dropped int
}

// OK reports whether the map may be used: it has no errors.
func (r Report) OK() bool { return len(r.Errors) == 0 }

// Err returns nil, or one invalid_manifest fault whose evidence holds the
// first errors.
func (r Report) Err() *fault.Error {
	if r.OK() {
		return nil
	}
	first, n := r.Errors[0], len(r.Errors)
	message := fmt.Sprintf("the map is invalid at %s: %s", strconv.Quote(first.Pointer), first.Message)
	if n > 1 {
		message = fmt.Sprintf(
			"the map has %d errors; the first is at %s: %s", n, strconv.Quote(first.Pointer), first.Message,
		)
	}
	err := fault.New(fault.InvalidManifest, "%s", message).With("errors", r.Errors[:min(n, 8)]).With("error_count", n)
	if !slices.ContainsFunc(r.Errors, func(p Problem) bool { return p.Remedy == "" }) {
		err.Next("start the runtime with --accept-drafts, or bring the map to version 1")
	}
	return err
}

// path is the place of a value, from the inside out. It becomes a pointer only
// when there is something to report.
type path struct {
	parent *path
	key    string
	index  int
	item   bool
}

func (p *path) String() string {
	if p == nil {
		return ""
	}
	var parts []string
	for q := p; q != nil; q = q.parent {
		if q.item {
			parts = append(parts, strconv.Itoa(q.index))
		} else {
			parts = append(parts, escapeToken.Replace(q.key))
		}
	}
	slices.Reverse(parts)
	return "/" + strings.Join(parts, "/")
}

func (p *path) member(name string) *path { return &path{parent: p, key: name} }
func (p *path) at(i int) *path           { return &path{parent: p, index: i, item: true} }

var (
	escapeToken   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapeToken = strings.NewReplacer("~1", "/", "~0", "~")
)

type found struct {
	Problem
	offset int
}

// collector gathers problems under the bound, in the order they are met, which
// is the same for the same text.
type collector struct {
	errors, warnings, left []found
	dropped                int
}

func (c *collector) error(pointer string, offset int, code fault.Code, message string) {
	c.errors = c.add(c.errors, pointer, offset, code, message)
}

func (c *collector) warn(pointer string, offset int, code fault.Code, message string) {
	c.warnings = c.add(c.warnings, pointer, offset, code, message)
}

// remedy says how to read the map in spite of the last error.
func (c *collector) remedy(how string) {
	if n := len(c.errors); n > 0 && c.dropped == 0 {
		c.errors[n-1].Remedy = how
	}
}

func (c *collector) add(list []found, pointer string, offset int, code fault.Code, message string) []found {
	if len(list) >= MaxProblems {
		c.dropped++
		return list
	}
	return append(list, found{Problem{Pointer: pointer, Code: code, Message: message}, offset})
}

func (c *collector) report(src []byte) Report {
	return Report{
		Errors:   finish(c.errors, src),
		Warnings: finish(c.warnings, src),
		Left:     finish(c.left, src),
		Dropped:  c.dropped,
	}
}

func finish(list []found, src []byte) []Problem {
	slices.SortStableFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Code, b.Code))
	})
	out := make([]Problem, 0, len(list))
	line, counted := 1, 0
	for _, f := range list {
		if f.offset >= 0 && f.offset <= len(src) {
			line += bytes.Count(src[counted:f.offset], []byte{'\n'})
			counted = f.offset
			f.Line = line
		}
		out = append(out, f.Problem)
	}
	return out
}
