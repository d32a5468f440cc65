// Package bridgekit tests others at the Actions Bridge Protocol: Bridge plays
// runtimes and an agent against any bridge, Runtime plays a bridge against any
// runtime. It starts neither and judges no page: a check is about what goes over
// the connection. The verbs connect and hub call it with --conformance, and the
// list of checks is docs/reference/bridge-conformance.md.
package bridgekit
