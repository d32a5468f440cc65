// Package replay repeats the calls of a log on a page and says which is the first whose result differs: of a
// recording, of the session log of the Chrome extension, or of a conversation with a bridge. It does not
// record, and types no value that the log does not hold. The verb replay calls it.
package replay
