// Package console records what a tab writes to its console: messages, exceptions and
// what the browser itself has to say. It interprets nothing and records nothing before
// it is enabled. Package browser calls it and hands it the events of the Runtime and
// Log domains.
package console
