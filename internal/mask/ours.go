package mask

import "github.com/outrider-run/outrider/primitives/fault"

// names are those of members of results that an ordinary word could be. A secret that is
// such a word is not told by the name: every result has it.
var names = set(
	"action",
	"actions", "args",
	"arguments", "attempt",
	"body", "call",
	"calls", "case",
	"cases", "check",
	"checks", "class",
	"code", "count",
	"data", "data_url",
	"description", "error",
	"evidence", "expect",
	"expected", "failed",
	"file", "files",
	"found", "frame",
	"hash", "href",
	"index",
	"input", "items",
	"kind", "label",
	"level", "line",
	"list", "message",
	"method", "mode",
	"name", "names",
	"operation", "output",
	"page", "path",
	"phase", "place",
	"plan", "pointer",
	"primitive", "report",
	"result", "role",
	"root", "rows",
	"runtime", "runtime_id",
	"selector", "session",
	"severity", "site",
	"size", "state",
	"states", "status",
	"step", "steps",
	"suites", "summary",
	"tags", "target",
	"targets",
	"test", "test_id",
	"tests", "text",
	"texts", "time",
	"title", "token",
	"tool", "totals",
	"type", "user",
	"value", "values",
	"version", "visible", "warning",
)

// words are values of members that say how something ended, or what it is.
var words = set(
	"passed",
	"drifted", "flaky",
	"failed", "broken",
	"skipped", "healed",
	"not_run", "unknown",
	"current", "critical",
	"major", "minor",
	"info",
	"debug", "error",
	"warn", "warning",
	"note", "setup",
	"teardown", "plan",
	"page", "case",
	"call_result", "method",
)

func set(words ...string) map[string]bool {
	out := make(map[string]bool, len(words))
	for _, w := range words {
		out[w] = true
	}
	return out
}

func ourName(name string) bool { return names[name] || words[name] }

func ourWord(text string) bool {
	if words[text] {
		return true
	}
	_, ok := fault.Lookup(fault.Code(text))
	return ok
}
