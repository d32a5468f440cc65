// Package locator finds the document that a locator, a ref or a chain of frames is about, and holds the
// primitives locator.*. It does not decide which element matches: that is the page library's locate.js and
// extended.js. Every family that takes a locator calls it.
package locator

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		locatorElementInfo,
		locatorRead,
		locatorTextContent,
		locatorValue,
		locatorWaitFor,
	}
}
