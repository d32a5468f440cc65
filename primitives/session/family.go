// Package session says what a handler may ask of the runtime that owns the tab (Session), keeps the stores that
// outlive a document, and holds the primitives runtime.* and task.*. It does not implement a session: package
// runtime does. Families that need more than a page call it.
package session

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		runtimeConfigurePacing,
		taskAdd,
		taskNext,
		taskComplete,
		taskList,
		taskClear,
		runtimeSessionName,
		runtimeSessionFinalizeTabs,
		runtimeSessionLog,
		runtimeAgentStart,
		runtimeAgentStop,
		runtimeAgentUserMessage,
		runtimeAgentMemoryClear,
		callOutcome,
	}
}
