package quirks

// The quirks. Each is asked for somewhere and proved on both sides; tests hold
// that true.
const (
	CommaSplit           Name = "comma_split"
	JoinedTextEquals     Name = "joined_text_equals"
	SwallowedStepFailure Name = "swallowed_step_failure"
	FatalSettle          Name = "fatal_settle"
	VerbatimSettle       Name = "verbatim_settle"
	ToolOnlyNames        Name = "tool_only_names"
	PlainExtract         Name = "plain_extract"
	IndexedDiff          Name = "indexed_diff"
	PostconditionOnce    Name = "postcondition_once"
	BlankSelector        Name = "blank_selector"
	OverlayMenuThrows    Name = "overlay_menu_throws"
	OverlayBlamed        Name = "overlay_blamed"
)

var table = []Quirk{
	{
		Name: CommaSplit, Where: "locators, field rules", InPage: true, Proof: "quirks/comma_split.html",
		Upstream: "a selector is cut at every comma, also inside quotes and parentheses, and parts that do not parse are ignored",
		Strict:   "a selector is cut at the commas of its list; a selector without any part that parses is invalid_selector",
	},
	{
		Name: JoinedTextEquals, Where: "locators", InPage: true, Proof: "quirks/text_equals.html",
		Upstream: "text_equals compares with text, aria-label, title and value joined, so an element with text and a label never matches",
		Strict:   "text_equals is met by the joined text or by any single part of it",
	},
	{
		Name: SwallowedStepFailure, Where: "workflow", Proof: "runtime.TestQuirkSwallowedStepFailure",
		Upstream: "a step whose primitive answers an error envelope counts as ok, with the envelope as its output; on_error is not consulted",
		Strict:   "a step fails when its primitive fails",
	},
	{
		Name: FatalSettle, Where: "workflow", Proof: "workflow.TestQuirks",
		Upstream: "settle_after that is not met fails a plain step, and is also waited for after a failure that on_error allows",
		Strict:   "settle_after is pacing: a timeout is noted in the summary and nothing else",
	},
	{
		Name: VerbatimSettle, Where: "workflow", Proof: "workflow.TestQuirks",
		Upstream: "expressions in the locator of settle_after are not evaluated: their text is looked for",
		Strict:   "they are evaluated like those of args",
	},
	{
		Name: ToolOnlyNames, Where: "workflow", Proof: "workflow.TestQuirks",
		Upstream: "a step of browser.extract_elements, browser.run_javascript, debug.run_javascript, runtime.configure_pacing, runtime.session.log, storage.list, storage.import_bundle or runtime.agent.memory_clear is invalid_workflow",
		Strict:   "every primitive of the dictionary can be a step",
	},
	{
		Name: PlainExtract, Where: "state projections", Proof: "projection.TestQuirks",
		Upstream: "frame and shadow of an extract plan are ignored: only the main document is read, without shadow roots",
		Strict:   "they are followed",
	},
	{
		Name: IndexedDiff, Where: "state_diff", Proof: "runtime.TestQuirkIndexedDiff",
		Upstream: "items of a list are compared index by index: an insertion in front replaces every item",
		Strict:   "items are recognised, by x_identity or by content: an insertion or a move is one operation",
	},
	{
		Name: PostconditionOnce, Where: "postconditions", Proof: "runtime.TestQuirkPostconditionOnce",
		Upstream: "the page is read once, right after the workflow",
		Strict:   "it is read until the postcondition holds or its time is over",
	},
	{
		Name: BlankSelector, Where: "workflow, locators", InPage: true, Proof: "quirks/blank_selector.html",
		Upstream: "an expression that gives no selector widens the locator to every control of the page",
		Strict:   "it is an error, and so is a blank selector",
	},
	{
		Name: OverlayMenuThrows, Where: "overlay.menu.*", Proof: "overlay/menu.html",
		Upstream: "without an open overlay it is handler_failed, which ends an unguarded workflow",
		Strict:   "without an open overlay it succeeds and changes nothing",
	},
	{
		Name: OverlayBlamed, Where: "target_not_found", InPage: true, Proof: "runtime.TestQuirkOverlayBlamed",
		Upstream: "while the overlay is shown the message speaks of it, so that a workflow classes the failure as overlay_interference",
		Strict:   "the evidence says overlay_menu_visible; the message says what was not found",
	},
}
