// Package record is the format of recordings: events as JSON lines, and the resources that they name,
// in one file or in a ring of the last minutes. It does not know pages and does not decide what is
// recorded. Package evidence/capture writes recordings; traces, replay and learning read them.
//
// # The file
//
// A recording is a sequence of entries. An event is one line of JSON:
//
//	{"seq":7,"t":1240.5,"kind":"call_end","tab":1,"data":{...}}
//
// seq counts from 1, t is milliseconds since the beginning on a monotonic clock, tab is the number of
// the tab, data is the struct of this package that belongs to the kind. A resource is a line, its
// bytes, and a line end:
//
//	{"resource":"<name>","type":"text/css","size":812,"stored":301,"coding":"gzip"}
//
// Its name is made of its content, so it is there once. It comes before the first event that names it.
// A reader skips resources by their size, kinds that it does not know, and members that it does not
// know. The first event has the kind recording and the version. A recording that was cut, because the
// process was killed, ends with the last entry that is whole; one that was closed ends with the kind end.
//
// # Calls
//
// Who wants to know what was done reads Calls, of a recording or of a Ring:
//
//	for _, c := range record.Calls(ring.Events()) {
//		for _, step := range c.Steps { use(step.Primitive, step.Arguments, step.Target) }
//	}
//
// A call has the name, the arguments and the result that its caller saw; its steps are the primitives
// that ran for it, with the arguments as they were evaluated and the element that each was about.
package record
