// Package inject holds the page library: the scripts that decide, inside a document,
// what an element is, where it is and whether a click reaches it. It sends nothing to a
// page. Package runtime/browser/world calls the library, and handlers of primitives
// name its queries.
//
// # Shape
//
// Library is one script. It is evaluated once per document in an isolated
// world, when the document is called first, and defines there
//
//	outrider(fn, argsJSON)   -> answer as JSON text, or a promise of it
//	outrider.keep(element)   -> handle (string)
//	outrider.element(handle) -> element or null
//	outrider.runDueTimers()         runs the library's timers that are due
//
// An answer is {"ok":true,"value":...} or
// {"ok":false,"code","message","evidence"}, with the codes of package fault.
// The library leaves nothing in the page: no nodes, no attributes, no
// listeners or observers that outlive a call, but for what was asked to stay:
// the overlay and its launchers, the attachments of maps, and the observers of
// announcements and messages. A handle holds its element weakly; only the newest 2,000 are known.
//
// # Files
//
// Each file answers one query. Each folder holds the files of one family of
// primitives, under the family's name, or what several families share: base,
// geometry, accname (roles and accessible names), actionability, changes, maps, record.
// All files share one scope: they are joined
// with here.js, base.js and dom.js first and wrapped in one strict function, so a name
// declared at the top of one file is visible in all and must be unique (a test
// checks that). A file makes a function callable from Go by writing
//
//	queries.element_info = (args) => value
//
// and fails by throwing new Fault(code, message, evidence). A value may be a
// promise, or new Raw(jsonText) when the text has been made already, with lines for
// what would stand in it several times.
//
// # The page is not on our side
//
// The isolated world has its own built-ins, so what the page did to prototypes
// is not seen. Named properties are: a control named "parentNode" hides that
// property of its form, and <img name="querySelector"> hides that method of
// the document. So DOM members are reached through the functions of dom.js
// (parentOf, matches, queryIn, rectOf, ...) or protoGet, never through a dot on
// a node that may be a form or the document.
//
// # Shared functions
//
//	base/here.js       document, memory: of the document that is read; readWithin(window, read)
//	base/base.js       Fault, Raw, queries, quirk(name), keep, element, elementOf
//	base/dom.js        parentOf, parentElementOf, flatParent, textOf, attributeOf, matches, closest, queryIn,
//	                   rectOf, styleOf, tagOf, contains, bodyOf, activeElement, protoGet, protoSet, utf8Length
//	base/words.js      norm, contains words: hasText, cut
//	locator/selectors.js  splitSelector, queryParts, queryList
//	locator/locate.js     locate(locator, view), locateVisible(locator, view), notFound(...)
//	locator/extended.js   what locators of this host say beyond those: oneOf(...), severalTargets(...)
//	locator/recycled.js   refuseRecycled(element, ref): a ref whose element shows another record
//	locator/scope.js      resolveScope(scope, itemSelector, view)
//	accname/role.js       roleOf(element); name.js: nameOf(element), unexposed(element)
//	accname/semantics.js  what components say of themselves; name_mismatch.js: which name an element cannot have
//	actionability/acted.js           actedTarget(element, view): what an action says of its target
//	actionability/document_read.js   readTime, documentRead: whether the scripts of the document have run
//	actionability/actionable.js      act_target: resolve an element and wait until it can be acted on
//	actionability/hit_test_guard.js  what a click hits
//	pointer/pointer_arrived.js       whether a movement of the pointer came to a document
//	geometry/geometry.js  rendered, visibleRect, isVisible, measure, deepHit, receives, label, box,
//	                      publicVisibility, viewOf
//	geometry/reveal.js    scrollOperation, performScroll, reveal(element, ...)
//	geometry/frame.js     time to the next frame: nextFrame(); frame boxes
//	page/snapshot_blocks.js  parts of a document that look as in an earlier snapshot
package inject

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

//go:embed a11y accname actionability base browser changes clipboard dom files geometry keyboard locator maps overlay page
//go:embed pointer person prove record storage text
var files embed.FS

// first are the files whose declarations the others use while they load.
var first = []string{"base/here.js", "base/base.js", "base/dom.js"}

// Files returns the names of the library's files, folder/file.js, in the order
// in which they are joined: by the name of the file.
func Files() []string {
	names, err := fs.Glob(files, "*/*.js")
	if err != nil {
		panic(err) // the pattern is right
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return slices.Contains(first, name) || strings.HasPrefix(name, "person/")
	})
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(path.Base(a), path.Base(b)) })
	return append(slices.Clone(first), names...)
}

// Source returns the text of one file.
func Source(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err) // embedded
	}
	return string(b)
}

// Library returns the script that installs the page library. Evaluating it
// again in the same world does nothing.
//
// It goes to every document that is called, so it is minified and in ASCII: the
// browser reads it in less than half of the time and keeps half of the garbage.
func Library() string { return library() }

var library = sync.OnceValue(func() string {
	if text, ok := strings.CutPrefix(minified, madeFrom(Files())); ok {
		return text
	}
	return readable() // a file was edited since make generate
})

// minified is readable as esbuild minifies it. Its first line is madeFrom.
//
//go:embed library.min.js
var minified string

// madeFrom names the state of the files that a minified library was made from.
func madeFrom(names []string) string {
	h := sha256.New()
	for _, name := range names {
		_, _ = io.WriteString(h, Source(name))
	}
	return fmt.Sprintf("// Made by make generate from files with the SHA-256 %x.\n", h.Sum(nil))
}

// readable is the library as it is written, without comments and indents.
func readable() string { return joined("outrider-library.js", Files()) }

// PersonFiles are the files that follow a person, in the order in which they are joined.
func PersonFiles() []string { return []string{"person/follow.js", "person/record_bar.js"} }

// Person returns the script that follows a person: a library of its own, for a world of
// its own, that reports through the binding outriderPerson.
func Person() string { return person() }

var person = sync.OnceValue(func() string { return joined("outrider-person.js", append(Files(), PersonFiles()...)) })

func joined(called string, names []string) string {
	var b strings.Builder
	b.WriteString("(() => {\n'use strict';\nif (Object.hasOwn(globalThis, 'outrider')) return;\n")
	for _, name := range names {
		b.WriteString("// --- " + name + "\n")
		lean(&b, Source(name))
	}
	b.WriteString(
		"Object.defineProperty(globalThis, 'outrider', { value: outrider });\n})();\n//# sourceURL=" + called + "\n",
	)
	return b.String()
}

// lean copies a file without lines that are only a comment, without indents, and
// with escapes for what is not ASCII. Nothing of it is for text that goes over
// several lines, which the files do not have (a test looks).
func lean(b *strings.Builder, source string) {
	comment := false
	for line := range strings.Lines(source) {
		line = strings.TrimLeft(line, " ")
		switch {
		case comment || strings.HasPrefix(line, "/**"):
			comment = !strings.HasSuffix(line, "*/\n")
		case line == "\n" || strings.HasPrefix(line, "//"):
		default:
			for _, r := range line {
				if r < utf8.RuneSelf {
					b.WriteRune(r)
					continue
				}
				for _, unit := range utf16.Encode([]rune{r}) {
					fmt.Fprintf(b, `\u%04x`, unit)
				}
			}
		}
	}
}
