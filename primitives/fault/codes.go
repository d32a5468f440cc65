package fault

import (
	"slices"
	"sync"
)

// Severity says how bad a failure is for the call that met it.
type Severity string

const (
	Info     Severity = "info"
	Minor    Severity = "minor"
	Major    Severity = "major"
	Critical Severity = "critical"
)

// Retry says what a caller gains by asking again.
type Retry string

const (
	// RetryNever: the same call fails the same way until somebody changes the
	// call, the map or the policy.
	RetryNever Retry = "never"
	// RetryFresh: read the page or the runtime again, then decide.
	RetryFresh Retry = "after a fresh look"
	// RetrySame: nothing happened; the same call can be sent again.
	RetrySame Retry = "same call"
)

// Spec declares one code.
type Spec struct {
	Code        Code
	Group       string // heading in docs/reference/errors.md
	Meaning     string // one sentence fragment, lower case, no full stop
	Severity    Severity
	Recoverable bool
	Retry       Retry
}

// The 16 stable codes of the Actions Bridge Protocol, section "Stable Error
// Codes".
const (
	UnknownAction         Code = "unknown_action"
	InvalidInput          Code = "invalid_input"
	RuntimeNotReady       Code = "runtime_not_ready"
	PermissionDenied      Code = "permission_denied"
	AmbiguousRuntime      Code = "ambiguous_runtime"
	RuntimeNotFound       Code = "runtime_not_found"
	CapabilityUnavailable Code = "capability_unavailable"
	MissingHandler        Code = "missing_handler"
	HandlerFailed         Code = "handler_failed"
	HandlerTimeout        Code = "handler_timeout"
	InvalidResult         Code = "invalid_result"
	TargetNotFound        Code = "target_not_found"
	StateMismatch         Code = "state_mismatch"
	DriftDetected         Code = "drift_detected"
	UnsafeState           Code = "unsafe_state"
	TransportFailed       Code = "transport_failed"
)

// Codes of the host itself.
const (
	Internal         Code = "internal"
	Timeout          Code = "timeout"
	Cancelled        Code = "cancelled"
	SessionLost      Code = "session_lost"
	TabClosed        Code = "tab_closed"
	TabCrashed       Code = "tab_crashed"
	BrowserLost      Code = "browser_lost"
	BrowserNotFound  Code = "browser_not_found"
	BrowserFailed    Code = "browser_failed"
	PageNavigated    Code = "page_navigated"
	PageUnresponsive Code = "page_unresponsive"
	DialogOpen       Code = "dialog_open"
	QueueFull        Code = "queue_full"
	OriginBlocked    Code = "origin_blocked"
	KeyReused        Code = "key_reused"
	AnswerDropped    Code = "answer_dropped"
)

// Codes of a fleet: jobs on many machines.
const (
	WorkerLost    Code = "worker_lost"
	LeaseLost     Code = "lease_lost"
	JobPoisoned   Code = "job_poisoned"
	JobExpired    Code = "job_expired"
	UnknownJob    Code = "unknown_job"
	QuotaExceeded Code = "quota_exceeded"
)

// Codes of sessions of the shell.
const (
	SessionNotFound Code = "session_not_found"
	SessionBusy     Code = "session_busy"
	SessionOwner    Code = "session_owner_unknown"
	SessionVersion  Code = "session_version"
)

// Codes of the frames and items of the bridge protocols.
const (
	InvalidFrame                  Code = "invalid_frame"
	UnknownItemType               Code = "unknown_item_type"
	DispatchTimeout               Code = "dispatch_timeout"
	AmbiguousIntent               Code = "ambiguous_intent"
	ClaimMissing                  Code = "claim_missing"
	OwnerRuntimeRequired          Code = "owner_runtime_required"
	PolicyExceptionReportRequired Code = "policy_exception_report_required"
	RuntimeURLMissing             Code = "runtime_url_missing"
	SiteActionAmbiguous           Code = "site_action_ambiguous"
	SiteActionFailed              Code = "site_action_failed"
	UnsupportedExecutionMode      Code = "unsupported_execution_mode"
	CredentialHydrationFailed     Code = "credential_hydration_failed"
	BackgroundActionFailed        Code = "background_action_failed"
)

// Codes of primitives.
const (
	InvalidSelector         Code = "invalid_selector"
	InvalidArguments        Code = "invalid_arguments"
	FrameNotFound           Code = "frame_not_found"
	FrameCrossOrigin        Code = "frame_cross_origin"
	ElementStale            Code = "element_stale"
	MultipleTargets         Code = "multiple_targets"
	TargetNotActionable     Code = "target_not_actionable"
	TargetObscured          Code = "target_obscured"
	TargetNotFocusable      Code = "target_not_focusable"
	TargetNotEditable       Code = "target_not_editable"
	TargetNotScrollable     Code = "target_not_scrollable"
	ScrollFailed            Code = "scroll_failed"
	MissingCoordinates      Code = "missing_coordinates"
	PointOutOfViewport      Code = "point_out_of_viewport"
	InvalidKey              Code = "invalid_key"
	TrustedKeyFailed        Code = "trusted_key_failed"
	TrustedTextFailed       Code = "trusted_text_failed"
	PayloadTooLarge         Code = "payload_too_large"
	NavigationFailed        Code = "navigation_failed"
	NoDialog                Code = "no_dialog"
	ScreenshotCaptureFailed Code = "screenshot_capture_failed"
	ScreenshotTargetInvalid Code = "screenshot_target_invalid"
	NoPasteTarget           Code = "no_paste_target"
	NoSelectTarget          Code = "no_select_target"
	ClipboardReadDenied     Code = "clipboard_read_denied"
	ClipboardWriteDenied    Code = "clipboard_write_denied"
	PageFetchCrossOrigin    Code = "page_fetch_cross_origin"
	PageFetchFailed         Code = "page_fetch_failed"
	InvalidInterval         Code = "invalid_interval"
	MarkerNotFound          Code = "marker_not_found"
	MarkerTypeMismatch      Code = "marker_type_mismatch"
	MarkerRecipeStepFailed  Code = "marker_recipe_step_failed"
	MarkerPromiseUnkept     Code = "marker_promise_unkept"
	InvalidRecipeStep       Code = "invalid_recipe_step"
	InvalidTask             Code = "invalid_task"
	NoActiveTask            Code = "no_active_task"
	UnknownTask             Code = "unknown_task"

	TransferLabelRequired       Code = "transfer_label_required"
	TransferLabelNotFound       Code = "transfer_label_not_found"
	TransferExpired             Code = "transfer_expired"
	TransferFormatUnsupported   Code = "transfer_format_unsupported"
	TransferPayloadTooLarge     Code = "transfer_payload_too_large"
	TransferAppendIncompatible  Code = "transfer_append_incompatible"
	TransferModeUnsupported     Code = "transfer_mode_unsupported"
	TransferItemSelectorInvalid Code = "transfer_item_selector_invalid"
	TransferFailed              Code = "transfer_failed"
	StorageFileNotFound         Code = "storage_file_not_found"
	StorageFileAmbiguousID      Code = "storage_file_ambiguous_id"
	StorageFileReadFailed       Code = "storage_file_read_failed"
	AssetNotFound               Code = "asset_not_found"
	UnsafePath                  Code = "unsafe_path"
	RenderFailed                Code = "render_failed"
	LauncherFailed              Code = "launcher_failed"
)

// Codes of expressions and of the workflow engine.
const (
	PartialExpressionUnsupported Code = "partial_expression_unsupported"
	DisallowedExpressionFunction Code = "disallowed_expression_function"
	InvalidExpression            Code = "invalid_expression"
	ExpressionEvaluationFailed   Code = "expression_evaluation_failed"
	ExpressionOutputTooLarge     Code = "expression_output_too_large"
	ExpressionLimitExceeded      Code = "expression_limit_exceeded"
	InvalidWorkflow              Code = "invalid_workflow"
	WorkflowStepFailed           Code = "workflow_step_failed"
	WorkflowLoopInputInvalid     Code = "workflow_loop_input_invalid"
	WorkflowRetryExhausted       Code = "workflow_retry_exhausted"
	WorkflowSettleTimeout        Code = "workflow_settle_timeout"
	WorkflowOutputFailed         Code = "workflow_output_failed"
	WorkflowOutputTooLarge       Code = "workflow_output_too_large"
)

// Codes of state projections and postconditions.
const (
	StateProjectionNotFound            Code = "state_projection_not_found"
	StateProjectionAmbiguous           Code = "state_projection_ambiguous"
	InvalidStateProjection             Code = "invalid_state_projection"
	StateDocumentUnavailable           Code = "state_document_unavailable"
	StateProjectionFailed              Code = "state_projection_failed"
	StateExtractLimitExceeded          Code = "state_extract_limit_exceeded"
	StateSchemaValidationFailed        Code = "state_schema_validation_failed"
	InvalidStateMarkers                Code = "invalid_state_markers"
	StateMarkersFailed                 Code = "state_markers_failed"
	StateSummaryNotFound               Code = "state_summary_not_found"
	StateSummaryFailed                 Code = "state_summary_failed"
	StatePayloadTooLarge               Code = "state_payload_too_large"
	StateDiffRequiresFullState         Code = "state_diff_requires_full_state"
	StatePostconditionFailed           Code = "state_postcondition_failed"
	InvalidStatePostcondition          Code = "invalid_state_postcondition"
	StatePostconditionProjectionFailed Code = "state_postcondition_projection_failed"
)

// Codes of map validation: one per rule of schema v1, "Validation Rules" and
// "Safe Identifiers".
const (
	InvalidManifest      Code = "invalid_manifest"
	InvalidJSON          Code = "invalid_json"
	MissingField         Code = "missing_field"
	WrongType            Code = "wrong_type"
	InvalidValue         Code = "invalid_value"
	UnsupportedProtocol  Code = "unsupported_protocol"
	UnsupportedVersion   Code = "unsupported_version"
	UnsafeIdentifier     Code = "unsafe_identifier"
	DuplicateName        Code = "duplicate_name"
	InvalidSchema        Code = "invalid_schema"
	NotExecutable        Code = "not_executable"
	MissingEvent         Code = "missing_event"
	InvalidSelectorField Code = "invalid_selector_field"
	MissingTarget        Code = "missing_target"
	MissingLifecycle     Code = "missing_lifecycle"
	UnknownReference     Code = "unknown_reference"
	PathEscape           Code = "path_escape"
	UnknownField         Code = "unknown_field"
	UnknownPrimitive     Code = "unknown_primitive"
	LimitExceeded        Code = "limit_exceeded"
	ImportUnavailable    Code = "import_unavailable"
	ImportCycle          Code = "import_cycle"
)

const (
	groupProtocol   = "Actions Bridge Protocol"
	groupHost       = "Host"
	groupFleet      = "Fleet"
	groupShell      = "Sessions of the shell"
	groupBridge     = "Bridge items and routing"
	groupPrimitive  = "Primitives"
	groupExpression = "Expressions and workflows"
	groupProjection = "State projections"
	groupMap        = "Map validation"
)

var specs = []Spec{
	{UnknownAction, groupProtocol, "no declared action or primitive has this name", Major, true, RetryNever},
	{InvalidInput, groupProtocol, "the arguments do not match the input schema", Major, true, RetryNever},
	{
		RuntimeNotReady, groupProtocol,
		"the runtime is not connected or has not loaded its tabs and maps yet", Major, true, RetrySame,
	},
	{
		PermissionDenied, groupProtocol,
		"the user's authorization or a trust policy blocks the operation", Major, false, RetryNever,
	},
	{
		AmbiguousRuntime, groupProtocol,
		"the selector matches more than one runtime, so the call was sent nowhere", Major, true, RetryNever,
	},
	{RuntimeNotFound, groupProtocol, "the selector matches no runtime", Major, true, RetryFresh},
	{
		CapabilityUnavailable, groupProtocol,
		"this host cannot provide the capability that the call needs", Major, false, RetryNever,
	},
	{MissingHandler, groupProtocol, "the action's handler is not available", Major, false, RetryNever},
	{HandlerFailed, groupProtocol, "the handler threw or gave an unusable answer", Major, true, RetryFresh},
	{
		HandlerTimeout, groupProtocol,
		"the action did not finish within its time; remaining steps were not started", Major, true, RetryFresh,
	},
	{InvalidResult, groupProtocol, "the output does not match the result schema", Major, true, RetryFresh},
	{
		TargetNotFound, groupProtocol,
		"no element of the live page, recorded request or download matches the target", Major, true, RetryFresh,
	},
	{StateMismatch, groupProtocol, "a required state is not present", Major, true, RetryFresh},
	{
		DriftDetected, groupProtocol,
		"the site differs from its map or locator: a check failed, or only a fallback matched that may not be acted on",
		Major, true, RetryNever,
	},
	{
		UnsafeState, groupProtocol, "the runtime found itself in a prohibited or dangerous context",
		Critical, false, RetryNever,
	},
	{TransportFailed, groupProtocol, "the transport ended or could not deliver the item", Major, true, RetryFresh},

	{
		Internal, groupHost, "an unexpected failure inside the runtime; its log has the cause",
		Critical, false, RetryFresh,
	},
	{Timeout, groupHost, "what was waited for did not happen in time", Major, true, RetryFresh},
	{Cancelled, groupHost, "the caller cancelled the call, or the runtime is shutting down", Minor, true, RetryFresh},
	{
		SessionLost, groupHost,
		"the connection to the page ended during the call; the page may have changed before it did",
		Major, true, RetryFresh,
	},
	{TabClosed, groupHost, "the tab is closed", Major, true, RetryFresh},
	{TabCrashed, groupHost, "the page's renderer process crashed", Major, true, RetryFresh},
	{BrowserLost, groupHost, "the browser process ended; it is being started again", Major, true, RetryFresh},
	{BrowserNotFound, groupHost, "no Chrome or Chromium was found on this machine", Critical, false, RetryNever},
	{BrowserFailed, groupHost, "the browser could not be started or attached to", Critical, false, RetryFresh},
	{PageNavigated, groupHost, "the document was replaced while the call was running", Major, true, RetryFresh},
	{PageUnresponsive, groupHost, "the page's main thread did not answer within the deadline", Major, true, RetryFresh},
	{
		DialogOpen, groupHost, "a JavaScript dialog is open and blocks the page; answer it with browser.dismiss_dialog",
		Major, true, RetryFresh,
	},
	{QueueFull, groupHost, "too many calls are waiting for this tab", Minor, true, RetrySame},
	{OriginBlocked, groupHost, "the origin is not allowed by this runtime's policy", Major, false, RetryNever},
	{
		KeyReused, groupHost,
		"the idempotency key belongs to an earlier call with other arguments; nothing was done",
		Minor, true, RetryNever,
	},
	{
		AnswerDropped, groupHost,
		"the call with this idempotency key has ended, and its answer is not kept; call.outcome has the rest",
		Minor, true, RetryNever,
	},

	{
		WorkerLost, groupFleet,
		"the worker was lost after the job had begun to act; evidence has the last step that was seen",
		Major, true, RetryFresh,
	},
	{
		LeaseLost, groupFleet, "the worker could not keep its hold on the job, which may be another worker's",
		Major, true, RetryNever,
	},
	{JobPoisoned, groupFleet, "as many workers were lost under the job as it has tries", Major, false, RetryNever},
	{JobExpired, groupFleet, "the job's deadline passed before it ended", Major, true, RetryFresh},
	{UnknownJob, groupFleet, "the fleet has no job of this name", Minor, true, RetryNever},
	{QuotaExceeded, groupFleet, "the tenant has used up what it may use", Major, true, RetrySame},

	{SessionNotFound, groupShell, "no session of this name or of this caller is open", Major, true, RetryNever},
	{SessionBusy, groupShell, "another command runs on a session that nobody shares", Minor, true, RetrySame},
	{SessionOwner, groupShell, "no parent process stays that a session could belong to", Major, true, RetryNever},
	{SessionVersion, groupShell, "the session is of another version of the program", Major, true, RetryNever},

	{InvalidFrame, groupBridge, "the message is not a JSON object with a string member type", Minor, true, RetryNever},
	{UnknownItemType, groupBridge, "the item type is not part of the protocol", Minor, true, RetryNever},
	{
		DispatchTimeout, groupBridge,
		"the call was sent to a runtime that did not answer in time", Major, true, RetryFresh,
	},
	{AmbiguousIntent, groupBridge, "the text names more than one runtime", Major, true, RetryNever},
	{ClaimMissing, groupBridge, "the call could not be mapped to a tab this runtime owns", Major, true, RetryFresh},
	{
		OwnerRuntimeRequired, groupBridge,
		"a call with tab_id must name the runtime that owns the tab", Major, true, RetryNever,
	},
	{
		PolicyExceptionReportRequired, groupBridge,
		"a direct primitive call needs a policy_exception_report", Major, true, RetryNever,
	},
	{RuntimeURLMissing, groupBridge, "the selected runtime has not reported a URL", Major, true, RetryFresh},
	{
		SiteActionAmbiguous, groupBridge,
		"more than one map of the same scope declares the action", Major, true, RetryNever,
	},
	{SiteActionFailed, groupBridge, "the site action failed without a more exact code", Major, true, RetryFresh},
	{
		UnsupportedExecutionMode, groupBridge,
		"the action declares no form of execution that this runtime supports", Major, false, RetryNever,
	},
	{
		CredentialHydrationFailed, groupBridge,
		"the runtime has no use for the offered credential and discarded it", Info, true, RetryNever,
	},
	{BackgroundActionFailed, groupBridge, "an action of the browser, not of the page, failed", Major, true, RetryFresh},

	{InvalidSelector, groupPrimitive, "the selector does not parse", Major, true, RetryNever},
	{
		InvalidArguments, groupPrimitive,
		"the arguments are well formed but name nothing usable", Major, true, RetryNever,
	},
	{FrameNotFound, groupPrimitive, "the frame selector matches no frame", Major, true, RetryFresh},
	{FrameCrossOrigin, groupPrimitive, "the frame cannot be reached", Major, true, RetryFresh},
	{
		MultipleTargets, groupPrimitive,
		"several elements match the locator equally well; evidence lists them", Major, true, RetryNever,
	},
	{
		ElementStale, groupPrimitive,
		"the ref names an element that is detached, or that this tab never named; evidence says why",
		Major, true, RetryFresh,
	},
	{TargetNotActionable, groupPrimitive, "the element exists but a click would not reach it", Major, true, RetryFresh},
	{TargetObscured, groupPrimitive, "the point belongs to another element", Major, true, RetryFresh},
	{TargetNotFocusable, groupPrimitive, "the element cannot take the focus", Major, true, RetryNever},
	{TargetNotEditable, groupPrimitive, "the element does not take this text or choice", Major, true, RetryFresh},
	{TargetNotScrollable, groupPrimitive, "nothing in the scope scrolls along that axis", Major, true, RetryFresh},
	{ScrollFailed, groupPrimitive, "the scroll distance is not a finite number", Major, true, RetryNever},
	{MissingCoordinates, groupPrimitive, "x or y is absent or null", Major, true, RetryNever},
	{PointOutOfViewport, groupPrimitive, "the point is not inside the viewport", Major, true, RetryFresh},
	{InvalidKey, groupPrimitive, "the key is empty or has no name this runtime knows", Major, true, RetryNever},
	{TrustedKeyFailed, groupPrimitive, "the browser refused the key event", Major, true, RetryFresh},
	{TrustedTextFailed, groupPrimitive, "the browser refused the text events", Major, true, RetryFresh},
	{PayloadTooLarge, groupPrimitive, "the answer exceeds its byte budget; ask for less", Minor, true, RetryNever},
	{
		NavigationFailed, groupPrimitive,
		"the browser could not load the address, or the history does not go so far", Major, true, RetryFresh,
	},
	{NoDialog, groupPrimitive, "no dialog is open", Minor, true, RetryFresh},
	{ScreenshotCaptureFailed, groupPrimitive, "the browser could not capture the page", Major, true, RetryFresh},
	{ScreenshotTargetInvalid, groupPrimitive, "the tab to capture is not one of this runtime", Major, true, RetryFresh},
	{NoPasteTarget, groupPrimitive, "there is no element to paste into", Major, true, RetryFresh},
	{NoSelectTarget, groupPrimitive, "there is no element whose contents can be selected", Major, true, RetryFresh},
	{ClipboardReadDenied, groupPrimitive, "the clipboard cannot be read", Major, true, RetryNever},
	{ClipboardWriteDenied, groupPrimitive, "the clipboard cannot be written", Major, true, RetryNever},
	{PageFetchCrossOrigin, groupPrimitive, "the address is not of the page's own origin", Major, true, RetryNever},
	{
		PageFetchFailed, groupPrimitive,
		"the request failed or was redirected to another origin", Major, true, RetryFresh,
	},
	{InvalidInterval, groupPrimitive, "the pacing interval is out of bounds", Minor, true, RetryNever},
	{MarkerNotFound, groupPrimitive, "no marker of this id is registered in this document", Major, true, RetryFresh},
	{MarkerTypeMismatch, groupPrimitive, "the marker is of the other type", Major, true, RetryNever},
	{MarkerRecipeStepFailed, groupPrimitive, "a step of the marker's recipe failed", Major, true, RetryFresh},
	{MarkerPromiseUnkept, groupPrimitive, "the marker's recipe ended without a location", Major, true, RetryFresh},
	{InvalidRecipeStep, groupPrimitive, "a recipe names a primitive that recipes may not use", Major, true, RetryNever},
	{InvalidTask, groupPrimitive, "a task needs text", Minor, true, RetryNever},
	{NoActiveTask, groupPrimitive, "no task is in progress", Minor, true, RetryFresh},
	{UnknownTask, groupPrimitive, "no task has this id", Minor, true, RetryNever},
	{TransferLabelRequired, groupPrimitive, "the transfer item needs a label", Major, true, RetryNever},
	{TransferLabelNotFound, groupPrimitive, "no transfer item has this label or id", Major, true, RetryFresh},
	{TransferExpired, groupPrimitive, "the transfer item is older than its time to live", Major, true, RetryNever},
	{TransferFormatUnsupported, groupPrimitive, "the transfer format is not supported", Major, true, RetryNever},
	{TransferPayloadTooLarge, groupPrimitive, "the transfer item exceeds its byte limit", Major, true, RetryNever},
	{TransferAppendIncompatible, groupPrimitive, "the two transfer items cannot be joined", Major, true, RetryNever},
	{TransferModeUnsupported, groupPrimitive, "the transfer mode is not supported", Major, true, RetryNever},
	{TransferItemSelectorInvalid, groupPrimitive, "the item selector names no item", Major, true, RetryNever},
	{TransferFailed, groupPrimitive, "the transfer failed", Major, true, RetryFresh},
	{StorageFileNotFound, groupPrimitive, "no declared file has this id or path", Major, true, RetryNever},
	{StorageFileAmbiguousID, groupPrimitive, "more than one declared file has this id", Major, true, RetryNever},
	{StorageFileReadFailed, groupPrimitive, "the declared file cannot be read", Major, true, RetryFresh},
	{AssetNotFound, groupPrimitive, "the stored file that an overlay is made of is not there", Major, true, RetryNever},
	{UnsafePath, groupPrimitive, "the path leaves its storage scope", Major, true, RetryNever},
	{RenderFailed, groupPrimitive, "the overlay could not be drawn on the page", Major, true, RetryFresh},
	{LauncherFailed, groupPrimitive, "a launcher of an overlay cannot be put on the page", Major, true, RetryFresh},

	{
		PartialExpressionUnsupported, groupExpression,
		"a string holds an expression marker but is not one whole slot", Major, true, RetryNever,
	},
	{
		DisallowedExpressionFunction, groupExpression,
		"the expression uses a function that maps may not use", Major, true, RetryNever,
	},
	{InvalidExpression, groupExpression, "the expression does not compile", Major, true, RetryNever},
	{
		ExpressionEvaluationFailed, groupExpression,
		"the expression failed while it was evaluated", Major, true, RetryFresh,
	},
	{
		ExpressionOutputTooLarge, groupExpression,
		"the value of the expression exceeds its byte limit", Major, true, RetryNever,
	},
	{
		ExpressionLimitExceeded, groupExpression,
		"the expression used up one of its budgets (time, steps, depth, memory)", Major, true, RetryNever,
	},
	{InvalidWorkflow, groupExpression, "the workflow breaks a rule of its format", Major, true, RetryNever},
	{WorkflowStepFailed, groupExpression, "a step failed; cause has its error", Major, true, RetryFresh},
	{WorkflowLoopInputInvalid, groupExpression, "for_each did not give an array", Major, true, RetryNever},
	{
		WorkflowRetryExhausted, groupExpression,
		"retry_until did not become true within max_attempts", Major, true, RetryFresh,
	},
	{WorkflowSettleTimeout, groupExpression, "the page did not settle after the step in time", Minor, true, RetryFresh},
	{
		WorkflowOutputFailed, groupExpression,
		"the output of the workflow could not be computed", Major, true, RetryNever,
	},
	{
		WorkflowOutputTooLarge, groupExpression,
		"the output of the workflow exceeds its byte limit", Major, true, RetryNever,
	},

	{
		StateProjectionNotFound, groupProjection,
		"no projection of this name applies to the page", Major, true, RetryNever,
	},
	{StateProjectionAmbiguous, groupProjection, "more than one map declares the projection", Major, true, RetryNever},
	{InvalidStateProjection, groupProjection, "the projection breaks a rule of its format", Major, true, RetryNever},
	{StateDocumentUnavailable, groupProjection, "there is no document to read", Major, true, RetryFresh},
	{StateProjectionFailed, groupProjection, "the projection failed", Major, true, RetryFresh},
	{
		StateExtractLimitExceeded, groupProjection,
		"reading the page for the projection used up one of its limits (nodes, bytes, time); narrow the selectors",
		Major, true, RetryNever,
	},
	{
		StateSchemaValidationFailed, groupProjection,
		"the state does not match the projection's output schema", Major, true, RetryFresh,
	},
	{
		InvalidStateMarkers, groupProjection,
		"the markers of the projection break a rule of their format", Major, true, RetryNever,
	},
	{
		StateMarkersFailed, groupProjection,
		"the markers of the projection could not be computed", Major, true, RetryFresh,
	},
	{StateSummaryNotFound, groupProjection, "the projection declares no summary of this name", Major, true, RetryNever},
	{StateSummaryFailed, groupProjection, "the summary could not be computed", Major, true, RetryFresh},
	{
		StatePayloadTooLarge, groupProjection,
		"the state exceeds its byte budget; narrow the selectors or use a summary", Major, true, RetryNever,
	},
	{
		StateDiffRequiresFullState, groupProjection,
		"a diff needs a projection that gives its full state", Major, true, RetryNever,
	},
	{
		StatePostconditionFailed, groupProjection,
		"the workflow ran but its postcondition does not hold", Major, true, RetryFresh,
	},
	{
		InvalidStatePostcondition, groupProjection,
		"the postcondition breaks a rule of its format", Major, true, RetryNever,
	},
	{
		StatePostconditionProjectionFailed, groupProjection,
		"the projection of the postcondition could not be read", Major, true, RetryFresh,
	},

	{InvalidManifest, groupMap, "the map is invalid; no action of it is offered", Major, true, RetryNever},
	{InvalidJSON, groupMap, "the file is not JSON", Major, true, RetryNever},
	{MissingField, groupMap, "a required field is missing", Major, true, RetryNever},
	{WrongType, groupMap, "a field has the wrong JSON type", Major, true, RetryNever},
	{InvalidValue, groupMap, "a field has a value outside its allowed set or range", Major, true, RetryNever},
	{UnsupportedProtocol, groupMap, "protocol is not actions.json", Major, true, RetryNever},
	{UnsupportedVersion, groupMap, "version is not supported", Major, true, RetryNever},
	{UnsafeIdentifier, groupMap, "a name or id is not a safe identifier", Major, true, RetryNever},
	{DuplicateName, groupMap, "two entries expose the same name", Major, true, RetryNever},
	{InvalidSchema, groupMap, "a schema is not a JSON object or does not compile", Major, true, RetryNever},
	{NotExecutable, groupMap, "an agent-callable tool declares no way to run", Major, true, RetryNever},
	{MissingEvent, groupMap, "an enabled signal declares no event", Major, true, RetryNever},
	{
		InvalidSelectorField, groupMap,
		"a selector field is not a string or an array of strings", Major, true, RetryNever,
	},
	{MissingTarget, groupMap, "an attachment declares no target", Major, true, RetryNever},
	{MissingLifecycle, groupMap, "an attachment declares no lifecycle", Major, true, RetryNever},
	{UnknownReference, groupMap, "a name refers to nothing that the map declares", Major, true, RetryNever},
	{PathEscape, groupMap, "a path is absolute or leaves the site root", Major, true, RetryNever},
	{
		UnknownField, groupMap, "a field is not part of the format, or an argument none of the primitive's",
		Minor, true, RetryNever,
	},
	{UnknownPrimitive, groupMap, "the primitive is not in this runtime's dictionary", Major, true, RetryNever},
	{LimitExceeded, groupMap, "a count or size exceeds its limit", Major, true, RetryNever},
	{ImportUnavailable, groupMap, "a map that is imported cannot be found, read or used", Major, true, RetryFresh},
	{ImportCycle, groupMap, "maps import each other in a circle", Major, true, RetryNever},
}

var byCode = sync.OnceValue(func() map[Code]Spec {
	m := make(map[Code]Spec, len(specs))
	for _, s := range specs {
		m[s.Code] = s
	}
	return m
})

// Lookup returns the declaration of code. An undeclared code gets that of
// Internal and false.
func Lookup(code Code) (Spec, bool) {
	s, ok := byCode()[code]
	if !ok {
		return byCode()[Internal], false
	}
	return s, true
}

// All returns every declared code in the order of docs/reference/errors.md.
func All() []Spec { return slices.Clone(specs) }

// Universal reports whether any call may return code, whatever its record
// lists: codes about the call, the page or the host rather than the primitive.
func Universal(code Code) bool {
	switch code {
	case InvalidInput, PermissionDenied, CapabilityUnavailable, HandlerFailed, HandlerTimeout, InvalidResult,
		RuntimeNotReady, Internal, Timeout, Cancelled, SessionLost, TabClosed, TabCrashed, BrowserLost,
		PageNavigated, PageUnresponsive, DialogOpen, QueueFull,
		OriginBlocked, TransportFailed, UnsafeState, DriftDetected:
		return true
	}
	return false
}
