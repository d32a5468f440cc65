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
	FallbackActs         Name = "fallback_acts"
	PlainExtract         Name = "plain_extract"
	IndexedDiff          Name = "indexed_diff"
	PostconditionOnce    Name = "postcondition_once"
	BlankSelector        Name = "blank_selector"
	OverlayMenuThrows    Name = "overlay_menu_throws"
	OverlayInPage        Name = "overlay_in_page"

	SyntheticInput        Name = "synthetic_input"
	FramesUnseen          Name = "frames_unseen"
	ClipByEveryAncestor   Name = "clip_by_every_ancestor"
	TypedInputThrows      Name = "typed_input_throws"
	AppendAtCaret         Name = "append_at_caret"
	PastesOnly            Name = "pastes_only"
	ChangeAtOnce          Name = "change_at_once"
	TargetAtOnce          Name = "target_at_once"
	PasteIntoFocus        Name = "paste_into_focus"
	ControlsSelectNothing Name = "controls_select_nothing"
	WaitMeansVisible      Name = "wait_means_visible"
	FlatBodyFails         Name = "flat_body_fails"
	ScrollsInwardOnly     Name = "scrolls_inward_only"
	DragEndsAsTheyAre     Name = "drag_ends_as_they_are"
	WholeScopeText        Name = "whole_scope_text"
	NewTabActive          Name = "new_tab_active"
	SubsetSchema          Name = "subset_schema"
	SessionRefused        Name = "session_refused"
	DefaultPacing         Name = "default_pacing"
	PartialKeyTable       Name = "partial_key_table"
	BoxlessUnseen         Name = "boxless_unseen"
	AnyKeyName            Name = "any_key_name"
	LenientArguments      Name = "lenient_arguments"
	ScreenshotActivates   Name = "screenshot_activates"
	RetryableByClass      Name = "retryable_by_class"
	RetriesAtOnce         Name = "retries_at_once"
	NavigatesActive       Name = "navigates_active"
	KnownMembersOnly      Name = "known_members_only"
	UnparsedFindsNothing  Name = "unparsed_finds_nothing"
	BlankTextCounts       Name = "blank_text_counts"
	IgnorableCounts       Name = "ignorable_counts"
	ReadsInView           Name = "reads_in_view"
	OwnStyleShows         Name = "own_style_shows"
	MapsAsTheyCome        Name = "maps_as_they_come"
	TextFindsControls     Name = "text_finds_controls"
	SiteActionsBeside     Name = "site_actions_beside"
	UpstreamAnswers       Name = "upstream_answers"
	TypesAnywhere         Name = "types_anywhere"
	TypesVerbatim         Name = "types_verbatim"
	UpstreamVocabulary    Name = "upstream_vocabulary"
	ScriptHelpers         Name = "script_helpers"
	DocumentSession       Name = "document_session"
	PlainHitTest          Name = "plain_hit_test"
	WholeAXTree           Name = "whole_ax_tree"
	GatedByText           Name = "gated_by_text"
	ActsWhileLoading      Name = "acts_while_loading"
)

var table = []Quirk{
	{
		Name:   CommaSplit,
		Where:  "locators, field rules",
		InPage: true,
		Proof:  "quirks/comma_split.html",
		Upstream: "a selector is cut at every comma, also inside quotes and parentheses, and parts that do not parse " +
			"are ignored",
		Strict: "a selector is cut at the commas of its list; a selector without any part that parses is " +
			"invalid_selector",
	},
	{
		Name:   TextFindsControls,
		Where:  "locators",
		InPage: true,
		Proof:  "quirks/text_finds_controls.html",
		Upstream: "a text without a selector is looked for in buttons, links, fields and elements with a role or a " +
			"label",
		Strict: "where none of those has the text, the innermost elements that have it are found",
	},
	{
		Name:     TypesAnywhere,
		Where:    "text.type",
		InPage:   true,
		Proof:    "text/type_on_a_button.html",
		Upstream: "trusted text is typed whatever has the focus, and a space in it clicks a button",
		Strict: "a button, a link, a checkbox or a switch with the focus is target_not_editable; what opens a list " +
			"by its letters is not",
	},
	{
		Name: TypesVerbatim, Where: "text.type", Proof: "text/type_trusted.html",
		Upstream: "trusted text is one key event per code point with itself as text, also for line breaks, tabs and " +
			"control characters: only \\r breaks a line, \\n and control characters are keys that type nothing",
		Strict: "a line break, \\r\\n included, is one Enter, a tab is Tab, and a control character is " +
			"invalid_input before anything is typed",
	},
	{
		Name:   JoinedTextEquals,
		Where:  "locators",
		InPage: true,
		Proof:  "quirks/text_equals.html",
		Upstream: "text_equals compares with text, aria-label, title and value joined, so an element with text and a " +
			"label never matches",
		Strict: "text_equals is met by the joined text or by any single part of it",
	},
	{
		Name: SwallowedStepFailure, Where: "workflow", Proof: "runtime.TestQuirkSwallowedStepFailure",
		Upstream: "a step whose primitive answers an error envelope counts as ok, with the envelope as its output; " +
			"on_error is not consulted. So does one whose arguments are refused, which there its primitive does",
		Strict: "a step fails when its primitive fails",
	},
	{
		Name: FatalSettle, Where: "workflow", Proof: "workflow.TestQuirks",
		Upstream: "settle_after that is not met fails a plain step, and is also waited for after a failure that " +
			"on_error allows",
		Strict: "settle_after is pacing: a timeout is noted in the summary and nothing else",
	},
	{
		Name: VerbatimSettle, Where: "workflow", Proof: "workflow.TestQuirks",
		Upstream: "expressions in the locator of settle_after are not evaluated: their text is looked for",
		Strict:   "they are evaluated like those of args",
	},
	{
		Name: ToolOnlyNames, Where: "workflow", Proof: "workflow.TestQuirks",
		Upstream: "a step of browser.extract_elements, browser.run_javascript, debug.run_javascript, " +
			"runtime.configure_pacing, runtime.session.log, storage.list, storage.import_bundle or " +
			"runtime.agent.memory_clear is invalid_workflow",
		Strict: "every primitive of the dictionary can be a step",
	},
	{
		Name: PlainExtract, Where: "state projections", Proof: "projection.TestQuirks",
		Upstream: "frame and shadow of an extract plan are ignored: only the main document is read, without shadow " +
			"roots",
		Strict: "they are followed",
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
		Name:   BlankSelector,
		Where:  "workflow, locators, scopes, dom.observe.*, dom.snapshot_text, dom.list_sections",
		InPage: true,
		Proof:  "quirks/blank_selector.html",
		Upstream: "an expression that gives no selector widens the locator to every control of the page; " +
			"elsewhere a blank selector is the default",
		Strict: "it is an error, and so is a blank selector",
	},
	{
		Name: OverlayMenuThrows, Where: "overlay.menu.*", Proof: "overlay/menu.html",
		Upstream: "the menu is the extension's own, which this host does not have, so it is handler_failed, which " +
			"ends an unguarded workflow; an overlay is no menu",
		Strict: "it is about the open overlay; without one it succeeds and changes nothing",
	},
	{
		Name:   OverlayInPage,
		Where:  "overlay.open, overlay.register_launcher",
		InPage: true,
		Proof:  "overlay/launcher.html",
		Upstream: "the overlay opens 72 pixels from the left and 56 from the top, 980 by 760 and at least 420 by " +
			"320; a launcher is a button of the page, which a script can click; a url_matches or a selector that " +
			"does not parse finds no place for it",
		Strict: "the overlay opens in the upper right corner; a launcher is apart from the page and answers to " +
			"people alone; what does not parse is launcher_failed or invalid_selector",
	},
	{
		Name: SyntheticInput, Where: "pointer.*, keyboard.press", Proof: "quirks/synthetic_input.html",
		Upstream: "input is events that the page library dispatches, unless trusted is asked for: no focus moves, no " +
			"hover, Enter submits nothing, a movement is not heard; a click stays on the element that was hit first, " +
			"its modifiers are flags without keys, a drag is one movement for each step and no click, a key has no " +
			"code; frames and shadow roots are not entered, and target names the frame element or the host; " +
			"a coordinate that is no number is point_out_of_viewport",
		Strict: "input is the browser's own; a coordinate that is no number is invalid_input",
	},
	{
		Name:   FramesUnseen,
		Where:  "frame, text.insert, text.type",
		InPage: true,
		Proof:  "quirks/frames_unseen.html",
		Upstream: "nothing in a frame counts as rendered or visible, and a frame of another origin is " +
			"frame_cross_origin; where a target is read, focused, extracted or written to, a frame that does not " +
			"resolve is a target that is not there; text goes into no control of a frame, and not into the frame " +
			"that has the focus",
		Strict: "frames resolve at any depth and origin, in pixels of the tab",
	},
	{
		Name:   ClipByEveryAncestor,
		Where:  "visibility",
		InPage: true,
		Proof:  "quirks/clip_by_every_ancestor.html",
		Upstream: "every ancestor that scrolls or hides clips, also what is placed outside of it, and the body for " +
			"the viewport",
		Strict: "an element is clipped by what contains its box",
	},
	{
		Name:   TypedInputThrows,
		Where:  "text.insert",
		InPage: true,
		Proof:  "quirks/typed_input_throws.html",
		Upstream: "a control without a selection (number, date, email, checkbox, button) gets the value and then " +
			"fails with handler_failed, without input and change; one for files fails so with its old value",
		Strict: "it gets the value and its events, or target_not_editable and keeps the old one",
	},
	{
		Name:     AppendAtCaret,
		Where:    "text.insert",
		InPage:   true,
		Proof:    "quirks/append_at_caret.html",
		Upstream: "append to a control that nobody edited goes to its caret, which is at the beginning",
		Strict:   "it goes to the end",
	},
	{
		Name:   PastesOnly,
		Where:  "text.insert, clipboard.paste",
		InPage: true,
		Proof:  "quirks/pastes_only.html",
		Upstream: "an editor gets one paste event with HTML that loses blanks, over what it has drawn; " +
			"what it does not take, and the text of a control, is written by script, and replacing with nothing " +
			"leaves what it held",
		Strict: "everything is selected and deleted by the editor's own keys; the browser inserts the text of a " +
			"control and of an editor, with events that a page can trust; an editor that refuses it gets a paste, " +
			"without HTML that would change the text; a paste that nobody takes is announced by beforeinput, and " +
			"then goes to the caret",
	},
	{
		Name:     ChangeAtOnce,
		Where:    "text.insert, text.type, clipboard.paste",
		InPage:   true,
		Proof:    "quirks/change_at_once.html",
		Upstream: "change is fired at each insertion, also in an editor and in an empty control that is cleared",
		Strict: "change comes as a person's does: of text when the control is left or Enter is pressed, of dates, " +
			"ranges and colours at once; an editor has none, and neither has an empty control that is cleared",
	},
	{
		Name:     TargetAtOnce,
		Where:    "text.insert, text.select, clipboard.*, transfer.insert",
		Proof:    "quirks/target_at_once.html",
		Upstream: "a target that is not there yet, or takes no text yet, fails at once",
		Strict:   "it is waited for, five seconds or timeout_ms, as a locator is",
	},
	{
		Name: PasteIntoFocus, Where: "clipboard.*, text.select", Proof: "quirks/paste_into_focus.html",
		Upstream: "a target that finds nothing, or whose frame is not there or of another origin, stands for the " +
			"focused element",
		Strict: "it is target_not_found, frame_not_found, or found in its frame",
	},
	{
		Name:     ControlsSelectNothing,
		Where:    "text.select, clipboard.copy",
		InPage:   true,
		Proof:    "quirks/controls_select_nothing.html",
		Upstream: "of a form control nothing is selected and nothing copied; copied is true all the same",
		Strict:   "its value is selected; copied says whether anything was",
	},
	{
		Name:     WaitMeansVisible,
		Where:    "locator.wait_for",
		InPage:   true,
		Proof:    "quirks/wait_means_visible.html",
		Upstream: "any state but attached means visible, so hidden and detached succeed while the element is there",
		Strict:   "hidden and detached are waited for",
	},
	{
		Name:     FlatBodyFails,
		Where:    "browser.extract_elements, viewport.scroll",
		InPage:   true,
		Proof:    "quirks/flat_body_fails.html",
		Upstream: "without a scope the body must be visible, which fails where all content is positioned",
		Strict:   "the body is the scope, whatever its height",
	},
	{
		Name:     ScrollsInwardOnly,
		Where:    "viewport.scroll",
		InPage:   true,
		Proof:    "quirks/scrolls_inward_only.html",
		Upstream: "only the scope and what is in it may scroll, and without a scope only the window",
		Strict:   "what is around the scope may scroll, and without a scope the largest scroller; the result says so",
	},
	{
		Name:   DragEndsAsTheyAre,
		Where:  "pointer.drag",
		InPage: true,
		Proof:  "quirks/drag_ends_as_they_are.html",
		Upstream: "ends are taken as they are: one that is not there yet, covered or outside the viewport fails at " +
			"once, and a disabled one is dragged",
		Strict: "ends are waited for and scrolled in like the target of a click",
	},
	{
		Name:     WholeScopeText,
		Where:    "browser.extract_elements",
		InPage:   true,
		Proof:    "quirks/whole_scope_text.html",
		Upstream: "scope.text is the whole text of the scope",
		Strict:   "it is cut",
	},
	{
		Name: NewTabActive, Where: "browser.open_tab", Proof: "quirks/new_tab_active.html",
		Upstream: "a new tab is the one that calls without tab_id are about, also with active: false, which leaves " +
			"it in the background",
		Strict: "active: false leaves the active tab as it is, and calls are about that",
	},
	{
		Name: NavigatesActive, Where: "browser.navigate, browser.open_tab", Proof: "quirks/navigates_active.html",
		Upstream: "without tab_id the active tab is navigated, whichever tab the call runs on; about:blank is refused",
		Strict:   "without tab_id the tab that the call runs on is navigated; about:blank can be opened",
	},
	{
		Name: SubsetSchema, Where: "state projections", Proof: "runtime.TestQuirkSubsetSchema",
		Upstream: "output_schema is checked for type, required, properties and items only, and integer matches nothing",
		Strict:   "output_schema is a JSON Schema",
	},
	{
		Name: SessionRefused, Where: "runtime.session.name, runtime.session.finalize_tabs", Proof: "session/name.html",
		Upstream: "both are declared and answer capability_unavailable",
		Strict:   "the session has a name in its log; its other tabs are closed",
	},
	{
		Name: DefaultPacing, Where: "primitives that are paced", Proof: "runtime.TestQuirkDefaultPacing",
		Upstream: "human-visible actions begin at least 500 ms apart, until runtime.configure_pacing says otherwise",
		Strict:   "they are not held back, unless --pacing or runtime.configure_pacing says so",
	},
	{
		Name: PartialKeyTable, Where: "keyboard.press", Proof: "quirks/partial_key_table.html",
		Upstream: "PageUp, PageDown, Insert, CapsLock, function, numpad and modifier keys are sent without a key " +
			"code, so that the browser does nothing with them; Shift in a chord is a flag of its key and not pressed " +
			"itself",
		Strict: "every key of the keyboard has its codes, and all modifiers of a chord are pressed around it",
	},
	{
		Name:   BoxlessUnseen,
		Where:  "visibility",
		InPage: true,
		Proof:  "torture/display_contents_text.html",
		Upstream: "what has no box of its own is never rendered: elements with display: contents, areas of an image " +
			"map",
		Strict: "it is where its children are, or where its image shows it",
	},
	{
		Name: AnyKeyName, Where: "keyboard.press, keyboard.press_gated", Proof: "quirks/any_key_name.html",
		Upstream: "a name that no key has is pressed without a code, an unknown modifier is ignored, and a chord is " +
			"cut at every plus without its empty parts, so that Control++ is such a name",
		Strict: "unknown names are invalid_key, and the last part of Control++ is the plus key",
	},
	{
		Name: LenientArguments, Where: "arguments of every primitive", Proof: "quirks/lenient_arguments.html",
		Upstream: "arguments are made what they should be: numbers and flags of text, text of numbers, numbers " +
			"within their bounds; unknown ones are left out, a choice that is none is the default, a list that is " +
			"missing is empty",
		Strict: "what does not match the input schema is invalid_input",
	},
	{
		Name: ScreenshotActivates, Where: "browser.screenshot", Proof: "quirks/screenshot_activates.html",
		Upstream: "the window is focused and the tab becomes the active one, in front of the others, before its " +
			"picture is taken",
		Strict: "the picture of a tab in the background leaves the tabs and the focus as they are",
	},
	{
		Name: RetriesAtOnce, Where: "workflow", Proof: "workflow.TestRetriesWait",
		Upstream: "retry_until runs its attempts, and after_each between them, one right after the other",
		Strict:   "a pause stands between two attempts, growing from 50 ms to 500 ms",
	},
	{
		Name: RetryableByClass, Where: "workflow", Proof: "workflow.TestRefusedArgumentsAreNotRetryable",
		Upstream: "a step refused with invalid_input is retryable as its failure_class says, which goes by texts and " +
			"names of steps; one whose expression failed never is",
		Strict: "it is not: the same arguments are refused again; safe_recovery says to correct them",
	},
	{
		Name:   KnownMembersOnly,
		Where:  "locators of upstream's primitives",
		InPage: true,
		Proof:  "quirks/known_members_only.html",
		Upstream: "ref, role, name, label, near, placeholder, test_id, has_text, xpath, within, has, nearest_to, " +
			"nth, exact, strict and pierce are ignored, so that a locator of nothing else is every control of the page",
		Strict: "they hold",
	},
	{
		Name:   UnparsedFindsNothing,
		Where:  "scopes, browser.extract_elements",
		InPage: true,
		Proof:  "quirks/unparsed_finds_nothing.html",
		Upstream: "an item_selector that does not parse finds no items, a root_selector no root, a scope no element; " +
			"a heading_selector, a frame or closest is handler_failed",
		Strict: "it is invalid_selector",
	},
	{
		Name:     BlankTextCounts,
		Where:    "dom.observe.*, locator.text_content, scopes",
		InPage:   true,
		Proof:    "quirks/blank_text_counts.html",
		Upstream: "the text of an element with nothing but white space is empty, whatever its aria-label",
		Strict:   "it is the aria-label",
	},
	{
		Name:   IgnorableCounts,
		Where:  "locators, waits, scopes, expectations of text",
		InPage: true,
		Proof:  "quirks/ignorable_counts.html",
		Upstream: "soft hyphens, zero-width spaces and other characters that nobody sees are letters where texts are " +
			"compared, and U+FEFF is white space",
		Strict: "they do not count there; what is read keeps them, but for U+FEFF",
	},
	{
		Name:     ReadsInView,
		Where:    "locator.text_content, locator.value, scopes",
		InPage:   true,
		Proof:    "locator/read_outside_view.html",
		Upstream: "only what the viewport shows is read",
		Strict: "rendered is enough; of several the first that the viewport shows is read, or else the first that " +
			"is rendered",
	},
	{
		Name:   OwnStyleShows,
		Where:  "what is visible or rendered",
		InPage: true,
		Proof:  "locator/not_drawn.html",
		Upstream: "an element that has a size is drawn unless its own visibility is hidden: closed sections and " +
			"collapsed ones count",
		Strict: "what Element.checkVisibility denies is not visible",
	},
	{
		Name: MapsAsTheyCome, Where: "maps", Proof: "runtime.TestQuirkMapsAsTheyCome",
		Upstream: "a map is read as far as it can be: its version is not looked at, nor is requires; " +
			"a declaration that breaks a rule costs itself alone, a workflow or projection that cannot run fails " +
			"with its own code when it is asked for, and input_schema and result_schema are not looked at",
		Strict: "a map whose root breaks a rule is refused; a tool or projection that does is invalid_manifest " +
			"when it is called, with every error in it; requires is met before a tool starts, and arguments and " +
			"results fit their schemas",
	},
	{
		Name: SiteActionsBeside, Where: "site actions, state projections", Proof: "runtime.TestQuirkSiteActionsBeside",
		Upstream: "they run beside the tab's queue: a call that comes while one runs does not wait for it, so one " +
			"that its caller gave up on holds nothing up",
		Strict: "calls on a tab run in the order in which they came, because a bridge does not say which it gave " +
			"up on",
	},
	{
		Name: UpstreamAnswers, Where: "answers of primitives", Proof: "runtime.TestQuirkUpstreamAnswers",
		Upstream: "the adapter is extension, a failed expression of a projection has the code of the JSONata engine " +
			"and gives at most 32,000 bytes whatever max_bytes is, a bridge gets the failure of a primitive that ran " +
			"as an output with ok: false, and trusted typing and keys are answered without the envelope",
		Strict: "the adapter is cdp, max_bytes lets the expression of a projection give more, a bridge gets each " +
			"failure as action_error, and trusted typing and keys have the envelope of the others",
	},
	{
		Name: UpstreamVocabulary, Where: "names and arguments of primitives", Proof: "quirks/upstream_vocabulary.html",
		Upstream: "a primitive that only this host has is an unknown action, which is handler_failed, and makes a " +
			"workflow invalid; an argument that this host added is ignored, as are effects and ref. " +
			"What a face of this host asks for in its own words, such as the tools of its MCP server, is not held to " +
			"it",
		Strict: "all primitives of the dictionary can be called, with all of their arguments",
	},
	{
		Name: ScriptHelpers, Where: "browser.run_javascript, debug.run_javascript", Proof: "quirks/script_helpers.html",
		Upstream: "helpers.queryRelative cuts a selector at its commas, leaves out parts that do not parse and what " +
			"is not visible; a blank source fails, and so does a result that refers to itself; a function is {}",
		Strict: "it takes a selector as the browser does, and finds what is not visible too; a blank source does " +
			"nothing; such results are described",
	},
	{
		Name: DocumentSession, Where: "task.*, runtime.configure_pacing", Proof: "runtime.TestQuirkDocumentSession",
		Upstream: "tasks and the pace are of a document and end with it",
		Strict:   "they are of the tab, whatever it loads",
	},
	{
		Name:   PlainHitTest,
		Where:  "locator.element_info, dom.observe.visible, pointer.drag, a11y.query",
		InPage: true,
		Proof:  "quirks/plain_hit_test.html",
		Upstream: "a click is thought at the middle of what is visible, and what lies there is the host of a shadow " +
			"root, not what is in it; clipped_by lists what clips an element outside of the viewport too; " +
			"an element that cannot be brought into view further is scrolled all the same, four times",
		Strict: "each box of the element is tried, through shadow roots; clipped_by lists what hides a part; " +
			"nothing is scrolled that would not move",
	},
	{
		Name:   GatedByText,
		Where:  "keyboard.press_gated",
		InPage: true,
		Proof:  "quirks/gated_by_text.html",
		Upstream: "what is compared is the whole text of the focused element, line breaks and passwords included, " +
			"and aria-activedescendant is not followed",
		Strict: "it is what a screen reader would say of it, in one line, and never a password",
	},
	{
		Name:   WholeAXTree,
		Where:  "a11y.tree, a11y.query",
		InPage: true,
		Proof:  "quirks/whole_ax_tree.html",
		Upstream: "the tree is that of the main document, with the pieces of each line of text; node_count counts " +
			"its ignored nodes too; the hit at the middle of a node does not look into shadow roots, and what is no " +
			"element is not attested",
		Strict: "the documents of frames are part of the tree, pieces of lines and ignored nodes are not; " +
			"the hit looks into shadow roots",
	},
	{
		Name:     ActsWhileLoading,
		Where:    "pointer.click, text.insert and other actions on an element",
		InPage:   true,
		Proof:    "quirks/acts_while_loading.html",
		Upstream: "an action is done as soon as its target is there, also before the scripts of the page have run",
		Strict:   "it waits for DOMContentLoaded, for half of its time and three seconds of each document at most",
	},
	{
		Name: FallbackActs, Where: "steps of actions with fallback_selectors", Proof: "runtime.TestQuirkFallbackActs",
		Upstream: "a step acts on what a fallback of its target finds, whatever it is called",
		Strict: "it acts on that when the name and the texts of the target hold, or when it is the element of the " +
			"lock file; else it is drift_detected",
	},
}
