package browser

import (
	"context"
	_ "embed" // the helpers of scripts
	"encoding/json"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
)

//go:embed run_javascript.js
var scriptHelpers string

//go:embed run_javascript_upstream.js
var upstreamHelpers string

const scriptBound = 60 * time.Second

// upstreamCopied copies a value of a script as the extension does, for quirks.ScriptHelpers: a
// function has no members, and what refers to itself cannot be copied.
const upstreamCopied = `if (typeof value === 'function') return {};
const circular = (v, above) => v !== null && typeof v === 'object' && (above.includes(v) || Object.values(v).some((e) => circular(e, [...above, v])));
if (circular(value, [])) throw new Error('the result refers to itself');
return value;
`

type runJavaScriptIn struct {
	Source     *string         `json:"source"`
	JavaScript *string         `json:"javascript"` // another name of source
	Args       json.RawMessage `json:"args"`
}

type runJavaScriptOut struct {
	OK        bool            `json:"ok"`
	Result    json.RawMessage `json:"result"`
	URL       string          `json:"url"`
	Execution scriptExecution `json:"execution"`
}

type scriptExecution struct {
	Adapter         string `json:"adapter"`
	CapabilityClass string `json:"capability_class"`
	Transport       string `json:"transport"`
}

// execution says where a script ran.
func execution(p primitives.Page) scriptExecution {
	adapter, transport := primitives.AdapterOn(p), "cdp"
	if adapter == primitives.UpstreamAdapter {
		transport = "chrome.debugger"
	}
	return scriptExecution{adapter, "debug", transport}
}

// The two names are one primitive: a map may block the first and leave the
// second to authors.
var (
	browserRunJavaScript = primitives.Define("browser.run_javascript", runJavaScript)
	debugRunJavaScript   = primitives.Define("debug.run_javascript", runJavaScript)
)

// runJavaScript runs the body of an async function in the page's own world.
// The page sees it and can change what it does: nothing else here trusts such
// an answer.
func runJavaScript(ctx context.Context, p primitives.Page, in runJavaScriptIn) (runJavaScriptOut, error) {
	source := in.Source
	if source == nil {
		source = in.JavaScript
	}
	helpers, copied := scriptHelpers, "return value;\n"
	if primitives.QuirksOf(p).Has(quirks.ScriptHelpers) {
		helpers, copied = upstreamHelpers, upstreamCopied
		if source != nil && strings.TrimSpace(*source) == "" {
			source = nil
		}
	}
	if source == nil {
		return runJavaScriptOut{}, fault.New(fault.InvalidInput, "source is needed").
			With("missing_required", []string{"source"})
	}
	args := in.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	ctx, cancel := context.WithTimeout(ctx, scriptBound)
	defer cancel()
	// The body ends its last line itself: it may be a comment.
	result, err := p.Evaluate(ctx, "(async (args) => {\n"+helpers+"const value = await (async (args, helpers) => {\n"+
		*source+"\n})(args, helpers);\n"+copied+"})("+string(args)+")")
	if err != nil {
		return runJavaScriptOut{}, err
	}
	if len(result) > primitives.MaxEvaluated { // of characters that are several bytes
		return runJavaScriptOut{}, primitives.TooLarge(len(result))
	}
	return runJavaScriptOut{
		OK: true, Result: result, URL: p.Tab().URL, Execution: execution(p),
	}, nil
}
