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
//   - [Session.Tab] and [Session.NewTab] give a [Tab], and that a [Locator]:
//     tab.ByRole("button", "Save").Click(ctx).
//   - [Session.Action] runs a site action that a map (actions.json) declares,
//     [Session.State] reads the page as data, [Session.Check] says whether the
//     page still is as its maps say.
//   - [Evaluate], [Extract], [StateAs] and [ActionAs] give values of types of
//     the program; [Expose] lets the page call it.
//   - The Wait methods of a tab wait for what an act sets off, and iterators
//     such as [Tab.Requests] give all of it.
//   - Package client has every primitive as a function.
//   - [Session.NewSession] makes an isolated session in the same browser.
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
// The program needs no call in main. When it is killed, a watchdog process ends
// the browser and removes its profile. Without one, [Options.Logger] gets a
// warning and the session an event of kind [WatchdogLost].
//
// # Compatibility
//
// This package follows semantic versioning from version 1 on. The other packages
// of the module are not covered.
package outrider
