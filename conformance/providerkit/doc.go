// Package providerkit tests any provider of the browser provider protocol 0.1 that
// speaks newline-delimited JSON, and reports which tier it meets. It knows nothing of
// this project's runtime. The verb provider of cmd/outrider calls it for --conformance.
//
// What a provider reports is checked against what happened: the fixture pages report
// clicks, texts and submits to the suite's own server, pictures are decoded and
// looked at, and every answer is counted. The scenarios are listed in
// docs/reference/provider-conformance.md.
package providerkit
