// Package outrider runs declared site actions and primitives on real pages in
// Chromium, inside a Go program.
//
// A [Session] is a browser with its tabs. It starts a Chromium of its own, or
// attaches to one that runs already:
//
//	s, err := outrider.Open(ctx, outrider.Options{
//		Open: []string{"https://shop.example/"},
//		Maps: []string{"sites/"},
//	})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	out, err := s.Action(ctx, "shop.list", map[string]any{"page": 2})
//
// # What a session can do
//
//   - [Session.Action] runs a site action that a map (actions.json) declares.
//   - [Session.State] reads a state projection: the page as data.
//   - [Session.Check] says whether the page still is as its maps say.
//   - [Session.Events] iterates over the events that answer no call.
//   - [Session.Tab] and [Session.NewTab] give a [Tab], which has the same
//     methods, and locators: tab.ByRole("button", "Save").Click(ctx). See
//     [Locator].
//   - [Evaluate], [Extract], [StateAs] and [ActionAs] give values of types of
//     the program.
//   - Package client has every primitive as a function; [Session.Call] and
//     [Tab.Call] run one by its name.
//   - [Session.NewSession] makes an isolated session in the same browser:
//     cookies, storage and tabs of its own.
//
// Calls on one tab run in order, calls on different tabs run in parallel. All
// types are safe for concurrent use.
//
// # Time and failure
//
// Each call ends within the deadline of its context, and within
// [Options.CallTimeout] in any case. A failure is an [*Error] with a stable
// [Code]:
//
//	var e *outrider.Error
//	if errors.As(err, &e) && e.Code == "target_not_found" { ... }
//
// errors.Is(err, outrider.Code("target_not_found")) says the same.
//
// # Processes
//
// The program needs no call in main. A watchdog process ends the browser and
// removes its profile when the program is killed: a shell, or the installed
// outrider binary where there is no shell. When neither can be started, or the
// watchdog ends early, [Options.Logger] gets a warning and the session an event
// of kind [WatchdogLost].
//
// # Compatibility
//
// This package is the stable surface of the module: it follows semantic
// versioning from version 1 on. The other packages of the module are not
// covered; they may change in any release.
package outrider
