// Package actionsbridge speaks the Actions Bridge Protocol from the side of a runtime:
// one JSON object per message, whose member type says which it is. It keeps no
// connection and runs no call: package bridgeclient does, with the dialect that it gets
// from here. The command and the embedded hub call it.
//
// It covers the six items of the protocol text and what the upstream bridge
// speaks beyond it (probes, site actions and projections that bring their map,
// storage bundles, credentials), so that one runtime serves both.
//
// A call that ran is answered with action_call_output, also when what it ran
// reports a failure in an envelope of its own; a call that did not run, or has
// no such envelope, with action_error. Nothing that arrives is answered with
// silence except items that are answers themselves: an answer to those could go
// round for ever.
package actionsbridge
