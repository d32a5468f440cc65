// Code generated from the records of primitives by make generate. DO NOT EDIT.

package outrider

import (
	"context"
	"encoding/json"
)

// BrowserNavigate runs browser.navigate. Load an address in a tab, or reload
// it, and wait up to 15 s for its load event. Only http, https and about:blank
// are allowed.
//
// Its own errors: navigation_failed.
func (t *Tab) BrowserNavigate(ctx context.Context, arguments BrowserNavigateArgs) (*BrowserNavigateResult, error) {
	r := &BrowserNavigateResult{}
	if err := t.callInto(ctx, "browser.navigate", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// BrowserNavigateArgs are the arguments of [Tab.BrowserNavigate].
type BrowserNavigateArgs struct {
	// Load the current address again; url is not used then.
	Reload bool `json:"reload,omitempty"`
	// Another tab of this runtime.
	TabID *int `json:"tab_id,omitempty"`
	// Absolute address. Needed unless reload is true.
	URL string `json:"url,omitempty"`
}

// BrowserNavigateResult is the result of [Tab.BrowserNavigate].
type BrowserNavigateResult struct {
	Navigated bool `json:"navigated"`
	OK        bool `json:"ok"`
	Tab       struct {
		RuntimeID       string `json:"runtime_id"`
		TabID           int    `json:"tab_id"`
		URL             string `json:"url"`
		RuntimeKey      string `json:"_runtime_key"`
		Active          bool   `json:"active"`
		AuthorizationID string `json:"authorization_id"`
		BridgeURL       string `json:"bridge_url"`
		Host            string `json:"host"`
		Title           string `json:"title"`
		WindowID        int    `json:"window_id"`
	} `json:"tab"`
	Connected bool `json:"connected"`
	// The load event fired in time; false is not a failure.
	Loaded                  bool `json:"loaded"`
	Reloaded                bool `json:"reloaded"`
	RuntimeIdentityAttested bool `json:"runtime_identity_attested"`
	// There is a new document: handles, markers and focus are lost.
	RuntimeReplaced bool `json:"runtime_replaced"`
	SameDocument    bool `json:"same_document"`
	// HTTP status, 0 when there is none.
	Status int `json:"status"`
}

// BrowserScreenshot runs browser.screenshot. Capture what the viewport shows,
// without activating the tab or moving the focus. Pixels that changed are
// evidence, pixels that did not are none. The result has the members of both
// upstream forms.
//
// Its own errors: screenshot_capture_failed, target_not_found,
// target_not_actionable, multiple_targets, element_stale, invalid_selector,
// frame_not_found, frame_cross_origin.
func (t *Tab) BrowserScreenshot(ctx context.Context, arguments BrowserScreenshotArgs) (*BrowserScreenshotResult, error) {
	r := &BrowserScreenshotResult{}
	if err := t.callInto(ctx, "browser.screenshot", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// BrowserScreenshotArgs are the arguments of [Tab.BrowserScreenshot].
type BrowserScreenshotArgs struct {
	// Default 10000.
	CaptureTimeoutMS int  `json:"capture_timeout_ms,omitempty"`
	DelayMS          *int `json:"delay_ms,omitempty"`
	// One of png, jpeg. Default png.
	Format string `json:"format,omitempty"`
	// The whole page without scrolling it; sides beyond 16384 CSS pixels are cut.
	FullPage  bool     `json:"full_page,omitempty"`
	Locator   *Locator `json:"locator,omitempty"`
	MaxHeight int      `json:"max_height,omitempty"`
	// A PNG that is too large becomes a JPEG; then quality, then size are lowered.
	MaxKilobytes int `json:"max_kilobytes,omitempty"`
	MaxWidth     int `json:"max_width,omitempty"`
	// Of a JPEG.
	Quality int `json:"quality,omitempty"`
	// Ref of an element, from page.snapshot: short for a locator with this ref. At
	// most one of the ways to name the element is given. An extension of this
	// host, as timeout_ms is.
	Ref string `json:"ref,omitempty"`
	// css makes image positions click coordinates. One of device, css. Default
	// device.
	Scale string `json:"scale,omitempty"`
	// How long to wait for the element of locator or ref, at most as long as the
	// call may take: 5000 unless said otherwise.
	TimeoutMS *int `json:"timeout_ms,omitempty"`
}

// BrowserScreenshotResult is the result of [Tab.BrowserScreenshot].
type BrowserScreenshotResult struct {
	DataURL   string `json:"data_url"`
	Freshness string `json:"freshness"`
	// One of image/png, image/jpeg.
	MimeType string `json:"mime_type"`
	OK       bool   `json:"ok"`
	// One of verified_active_tab, verified_target_tab.
	SurfaceIdentity string `json:"surface_identity"`
	CapturedAt      string `json:"captured_at"`
	// What the image shows: of a locator or ref the part of the element that is in
	// the viewport, of full_page what there is of the page.
	Clip *Rect `json:"clip"`
	// Of full_page: the size of the page in CSS pixels, where a side beyond 16384
	// was cut.
	Cut *struct {
		PageHeight float64 `json:"page_height"`
		PageWidth  float64 `json:"page_width"`
	} `json:"cut"`
	DelayMSApplied int `json:"delay_ms_applied"`
	Encoded        *struct {
		Height  int  `json:"height"`
		Quality int  `json:"quality"`
		Resized bool `json:"resized"`
		Width   int  `json:"width"`
	} `json:"encoded"`
	IgnoredArguments     []string `json:"ignored_arguments"`
	ImageBytes           int      `json:"image_bytes"`
	Note                 string   `json:"note"`
	ScreenshotCompaction *struct {
		Compacted    bool   `json:"compacted"`
		OutputBytes  int    `json:"output_bytes"`
		MaxKilobytes int    `json:"max_kilobytes"`
		OutputHeight int    `json:"output_height"`
		OutputWidth  int    `json:"output_width"`
		SourceHeight int    `json:"source_height"`
		SourceWidth  int    `json:"source_width"`
		Warning      string `json:"warning"`
	} `json:"screenshot_compaction"`
	Transport string `json:"transport"`
	URL       string `json:"url"`
	Viewport  *struct {
		DevicePixelRatio float64 `json:"device_pixel_ratio"`
		Height           float64 `json:"height"`
		Width            float64 `json:"width"`
		ScrollX          float64 `json:"scroll_x"`
		ScrollY          float64 `json:"scroll_y"`
	} `json:"viewport"`
}

// Rect is a rectangle in CSS pixels of the tab's viewport.
type Rect struct {
	Height float64 `json:"height"`
	Width  float64 `json:"width"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
}

// KeyboardPress runs keyboard.press. Press a key or chord at the focus as real
// key events: Enter submits, Tab moves the focus, Control+A selects. pressed
// means sent.
//
// Its own errors: invalid_key, trusted_key_failed, target_not_found,
// target_not_actionable, multiple_targets, element_stale, invalid_selector,
// frame_not_found, frame_cross_origin, target_not_focusable.
func (t *Tab) KeyboardPress(ctx context.Context, arguments KeyboardPressArgs) (*KeyboardPressResult, error) {
	r := &KeyboardPressResult{}
	if err := t.callInto(ctx, "keyboard.press", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// KeyboardPressArgs are the arguments of [Tab.KeyboardPress].
type KeyboardPressArgs struct {
	// A DOM key value (a, Enter, PageDown, F5), a code value (NumpadAdd), any
	// single character, or a chord: Control+A, Meta+Shift+K, Control++.
	Key     string   `json:"key"`
	Locator *Locator `json:"locator,omitempty"`
	// Modifier keys held as real keys: Shift, Alt or Option, Control or Ctrl,
	// Meta, Cmd or Command, in any case.
	Modifiers []string `json:"modifiers,omitempty"`
	// Ref of an element, from page.snapshot: short for a locator with this ref. At
	// most one of the ways to name the element is given. An extension of this
	// host, as timeout_ms is.
	Ref string `json:"ref,omitempty"`
	// Discrete presses 25 ms apart; 0 presses nothing. Ignored with trusted false.
	// Default 1.
	Repeat *int `json:"repeat,omitempty"`
	// How long to wait for the element of locator or ref, at most as long as the
	// call may take: 5000 unless said otherwise.
	TimeoutMS *int `json:"timeout_ms,omitempty"`
	// false dispatches events of the page, on which the browser does not act.
	// Default true.
	Trusted *bool `json:"trusted,omitempty"`
}

// KeyboardPressResult is the result of [Tab.KeyboardPress].
type KeyboardPressResult struct {
	// One of trusted, synthetic.
	Fidelity  string   `json:"fidelity"`
	Key       string   `json:"key"`
	Modifiers []string `json:"modifiers"`
	Pressed   bool     `json:"pressed"`
	// A dialog that opened while the input was handled; answer it with
	// browser.dismiss_dialog.
	Dialog *DialogInfo `json:"dialog"`
	Repeat int         `json:"repeat"`
	// The element that had the focus when the key went down; null when the page
	// could not say.
	Target *struct {
		BoundingBox Box `json:"bounding_box"`
		// Its accessible name; never what somebody typed into it.
		Name string `json:"name"`
		// Its ARIA role, its own or that of its tag.
		Role    string `json:"role"`
		TagName string `json:"tag_name"`
		// What it is called where it has no name.
		Near  string `json:"near"`
		Point *Point `json:"point"`
		// Of a file input: a click cannot choose files, upload.set_files can.
		Type json.RawMessage `json:"type"`
	} `json:"target"`
}

// DialogInfo is a JavaScript dialog that opened: alert, confirm, prompt or
// beforeunload.
type DialogInfo struct {
	Type string `json:"type"`
}

// Box is the bounding box of an element, in CSS pixels of the tab's viewport.
type Box struct {
	Height float64 `json:"height"`
	Width  float64 `json:"width"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Bottom float64 `json:"bottom"`
	Left   float64 `json:"left"`
	Right  float64 `json:"right"`
	Top    float64 `json:"top"`
}

// Point is a point in CSS pixels of the tab's viewport.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// LocatorTextContent runs locator.text_content. Resolve a locator and return
// the whole normalised text of its first visible match, or its aria-label.
//
// Its own errors: target_not_found, invalid_selector, frame_not_found,
// frame_cross_origin, element_stale.
func (t *Tab) LocatorTextContent(ctx context.Context, arguments LocatorTextContentArgs) (*LocatorTextContentResult, error) {
	r := &LocatorTextContentResult{}
	if err := t.callInto(ctx, "locator.text_content", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// LocatorTextContentArgs are the arguments of [Tab.LocatorTextContent].
type LocatorTextContentArgs struct {
	Locator *Locator `json:"locator"`
}

// LocatorTextContentResult is the result of [Tab.LocatorTextContent].
type LocatorTextContentResult struct {
	Locator json.RawMessage `json:"locator"`
	Text    string          `json:"text"`
}

// LocatorValue runs locator.value. Resolve a locator and return the live value
// property of its first visible match, not the value attribute. settable is
// false for elements without one.
//
// Its own errors: target_not_found, invalid_selector, frame_not_found,
// frame_cross_origin, element_stale.
func (t *Tab) LocatorValue(ctx context.Context, arguments LocatorValueArgs) (*LocatorValueResult, error) {
	r := &LocatorValueResult{}
	if err := t.callInto(ctx, "locator.value", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// LocatorValueArgs are the arguments of [Tab.LocatorValue].
type LocatorValueArgs struct {
	Locator *Locator `json:"locator"`
}

// LocatorValueResult is the result of [Tab.LocatorValue].
type LocatorValueResult struct {
	Locator  json.RawMessage `json:"locator"`
	Settable bool            `json:"settable"`
	TagName  string          `json:"tag_name"`
	Value    string          `json:"value"`
}

// LocatorWaitFor runs locator.wait_for. Wait until a locator reaches a state,
// and answer as soon as it does. It is not a delay: a state that holds already
// is answered at once.
//
// Its own errors: timeout, target_not_found, invalid_selector, element_stale,
// frame_not_found, frame_cross_origin.
func (t *Tab) LocatorWaitFor(ctx context.Context, arguments LocatorWaitForArgs) (*LocatorWaitForResult, error) {
	r := &LocatorWaitForResult{}
	if err := t.callInto(ctx, "locator.wait_for", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// LocatorWaitForArgs are the arguments of [Tab.LocatorWaitFor].
type LocatorWaitForArgs struct {
	Locator *Locator `json:"locator"`
	// hidden and detached are extensions of this host. One of attached, visible,
	// hidden, detached. Default visible.
	State string `json:"state,omitempty"`
	// At most 30000. Default 1000.
	TimeoutMS *int `json:"timeout_ms,omitempty"`
}

// LocatorWaitForResult is the result of [Tab.LocatorWaitFor].
type LocatorWaitForResult struct {
	ElapsedMS int    `json:"elapsed_ms"`
	Matched   bool   `json:"matched"`
	State     string `json:"state"`
}

// PageEvaluate runs page.evaluate. Run the body of a function in the page's own
// world and say what kind of value it returned. The page can see and change
// what happens there. A promise is awaited.
//
// Its own errors: handler_failed, payload_too_large.
func (t *Tab) PageEvaluate(ctx context.Context, arguments PageEvaluateArgs) (*PageEvaluateResult, error) {
	r := &PageEvaluateResult{}
	if err := t.callInto(ctx, "page.evaluate", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// PageEvaluateArgs are the arguments of [Tab.PageEvaluate].
type PageEvaluateArgs struct {
	// Statements; return gives the value. Without return it is undefined.
	Body string `json:"body"`
	// answer: alert and beforeunload are accepted and confirm and prompt refused
	// while the script runs. leave: a dialog ends the call with dialog_open. One
	// of leave, answer. Default leave.
	Dialogs string `json:"dialogs,omitempty"`
	// Default 10000.
	TimeoutMS int `json:"timeout_ms,omitempty"`
	// The script counts as an act of the user, so that it may open a window, write
	// to the clipboard or play sound. It takes a third longer.
	UserGesture bool `json:"user_gesture,omitempty"`
}

// PageEvaluateResult is the result of [Tab.PageEvaluate].
type PageEvaluateResult struct {
	// As typeof tells it; object for null.
	Type string `json:"type"`
	// Stands for a value that JSON cannot hold, such as a node, a function, a Map
	// or NaN.
	Description string `json:"description"`
	// Types of the dialogs that were answered.
	Dialogs []string `json:"dialogs"`
	// The value, when JSON can hold it.
	Value json.RawMessage `json:"value"`
}

// PageExtract runs page.extract. Read what a page says: its content as Markdown
// without navigation and other chrome, all of its text as it is drawn, and the
// list of what can be used on it. Frames and shadow roots are read where they
// are drawn.
//
// Its own errors: target_not_found, invalid_selector, frame_not_found,
// frame_cross_origin, element_stale.
func (t *Tab) PageExtract(ctx context.Context, arguments PageExtractArgs) (*PageExtractResult, error) {
	r := &PageExtractResult{}
	if err := t.callInto(ctx, "page.extract", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// PageExtractArgs are the arguments of [Tab.PageExtract].
type PageExtractArgs struct {
	// Default [markdown].
	Formats []string `json:"formats,omitempty"`
	// Text and Markdown of frames, where they stand. The elements always have
	// those of frames. Default true.
	Frames *bool `json:"frames,omitempty"`
	// Addresses of images in Markdown; without them an image is its alternative
	// text.
	Images bool `json:"images,omitempty"`
	// Addresses of links in Markdown. Default true.
	Links   *bool    `json:"links,omitempty"`
	Locator *Locator `json:"locator,omitempty"`
	// Of UTF-8, for Markdown and for text each. A cut falls between lines. Default
	// 50000.
	MaxBytes int `json:"max_bytes,omitempty"`
	// Default 200.
	MaxElements int `json:"max_elements,omitempty"`
	// Begin so many bytes later: the way to what an earlier answer left out. A
	// table goes on with its head.
	Offset *int `json:"offset,omitempty"`
	// Read only what this element holds.
	Ref string `json:"ref,omitempty"`
	// Markdown of everything, chrome included.
	Whole bool `json:"whole,omitempty"`
}

// PageExtractResult is the result of [Tab.PageExtract].
type PageExtractResult struct {
	Title string `json:"title"`
	URL   string `json:"url"`
	// What the Markdown is of: the main element, the only article, where the
	// paragraphs are, the body, the page with its chrome because nothing is left
	// without, or the part that was asked for. One of main, article, paragraphs,
	// body, whole, part, empty.
	Content  string `json:"content"`
	Elements []struct {
		Ref  string `json:"ref"`
		Role string `json:"role"`
		// In the viewport of its document now; false for what would have to be
		// scrolled to.
		Visible   bool   `json:"visible"`
		Busy      bool   `json:"busy"`
		Checked   any    `json:"checked"`
		Clickable bool   `json:"clickable"`
		Current   any    `json:"current"`
		Disabled  bool   `json:"disabled"`
		Draggable bool   `json:"draggable"`
		Expanded  bool   `json:"expanded"`
		Filled    bool   `json:"filled"`
		Focused   bool   `json:"focused"`
		Haspopup  string `json:"haspopup"`
		Invalid   bool   `json:"invalid"`
		Level     int    `json:"level"`
		Name      string `json:"name"`
		Near      string `json:"near"`
		Of        string `json:"of"`
		Options   int    `json:"options"`
		Pressed   any    `json:"pressed"`
		Readonly  bool   `json:"readonly"`
		Required  bool   `json:"required"`
		Selected  bool   `json:"selected"`
		Sort      string `json:"sort"`
		Text      string `json:"text"`
		Type      string `json:"type"`
		URL       string `json:"url"`
		Value     string `json:"value"`
	} `json:"elements"`
	Markdown  string `json:"markdown"`
	Text      string `json:"text"`
	Truncated *struct {
		Elements *struct {
			// Bytes of text, or elements, that are missing; at least so many.
			Left   int    `json:"left"`
			Next   string `json:"next"`
			Offset int    `json:"offset"`
		} `json:"elements"`
		Markdown *struct {
			// Bytes of text, or elements, that are missing; at least so many.
			Left   int    `json:"left"`
			Next   string `json:"next"`
			Offset int    `json:"offset"`
		} `json:"markdown"`
		Text *struct {
			// Bytes of text, or elements, that are missing; at least so many.
			Left   int    `json:"left"`
			Next   string `json:"next"`
			Offset int    `json:"offset"`
		} `json:"text"`
	} `json:"truncated"`
}

// PageHover runs page.hover. Move the pointer onto an element, once a click
// there would reach it, with the hover effects of a real device.
//
// Its own errors: target_not_found, target_not_actionable, multiple_targets,
// invalid_selector, frame_not_found, frame_cross_origin, element_stale.
func (t *Tab) PageHover(ctx context.Context, arguments PageHoverArgs) (*PageHoverResult, error) {
	r := &PageHoverResult{}
	if err := t.callInto(ctx, "page.hover", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// PageHoverArgs are the arguments of [Tab.PageHover].
type PageHoverArgs struct {
	// Also when something else lies over the element.
	Force   bool     `json:"force,omitempty"`
	Locator *Locator `json:"locator,omitempty"`
	// Ref of an element, as page.snapshot gives them.
	Ref string `json:"ref,omitempty"`
	// Default 5000.
	TimeoutMS *int `json:"timeout_ms,omitempty"`
}

// PageHoverResult is the result of [Tab.PageHover].
type PageHoverResult struct {
	// The element matches :hover afterwards.
	Hovered bool `json:"hovered"`
	Target  struct {
		BoundingBox  Box    `json:"bounding_box"`
		TagName      string `json:"tag_name"`
		AriaDisabled string `json:"aria_disabled"`
		ClassName    string `json:"class_name"`
		// Its ARIA role, its own or that of its tag.
		ComputedRole string `json:"computed_role"`
		DataTestid   string `json:"data_testid"`
		Disabled     bool   `json:"disabled"`
		ID           string `json:"id"`
		// Its accessible name.
		Name string `json:"name"`
		// What it is called where it has no name.
		Near     string `json:"near"`
		Point    *Point `json:"point"`
		Role     string `json:"role"`
		Text     string `json:"text"`
		Type     string `json:"type"`
		Viewport *struct {
			Height  float64 `json:"height"`
			Width   float64 `json:"width"`
			ScrollX float64 `json:"scroll_x"`
			ScrollY float64 `json:"scroll_y"`
		} `json:"viewport"`
	} `json:"target"`
	WaitedMS int        `json:"waited_ms"`
	X        float64    `json:"x"`
	Y        float64    `json:"y"`
	Frame    *FrameInfo `json:"frame"`
	Ref      string     `json:"ref"`
}

// FrameInfo is the frame that an element is in.
type FrameInfo struct {
	CrossOrigin bool   `json:"cross_origin"`
	URL         string `json:"url"`
}

// PageInfo runs page.info. Return the address and title of the current page,
// and the HTTP status of its document where it is known. file says what a
// document that is a PDF, an image, a sound or a video is. The address includes
// query and fragment.
func (t *Tab) PageInfo(ctx context.Context) (*PageInfoResult, error) {
	r := &PageInfoResult{}
	if err := t.callInto(ctx, "page.info", nil, r); err != nil {
		return nil, err
	}
	return r, nil
}

// PageInfoResult is the result of [Tab.PageInfo].
type PageInfoResult struct {
	Title string `json:"title"`
	URL   string `json:"url"`
	File  *struct {
		ContentType string `json:"content_type"`
		Name        string `json:"name"`
		Bytes       int    `json:"bytes"`
	} `json:"file"`
	HttpStatus int `json:"http_status"`
}

// PageSelect runs page.select. Choose options of a native list (a select
// element) by value, label or position, with the events that a user's choice
// fires. It waits for the list and for options that are still to come.
//
// Its own errors: target_not_found, target_not_actionable, target_not_editable,
// multiple_targets, invalid_selector, frame_not_found, frame_cross_origin,
// element_stale.
func (t *Tab) PageSelect(ctx context.Context, arguments PageSelectArgs) (*PageSelectResult, error) {
	r := &PageSelectResult{}
	if err := t.callInto(ctx, "page.select", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// PageSelectArgs are the arguments of [Tab.PageSelect].
type PageSelectArgs struct {
	// Positions among all options, or one, from 0.
	Index []int `json:"index,omitempty"`
	// Labels of options, or one, white space aside.
	Label   []string `json:"label,omitempty"`
	Locator *Locator `json:"locator,omitempty"`
	// Of a list that takes several: only these, these too, or not these. One of
	// set, add, remove. Default set.
	Mode string `json:"mode,omitempty"`
	// Ref of an element, as page.snapshot gives them.
	Ref string `json:"ref,omitempty"`
	// Default 5000.
	TimeoutMS *int `json:"timeout_ms,omitempty"`
	// Values of options, or one. An empty list chooses nothing.
	Value []string `json:"value,omitempty"`
}

// PageSelectResult is the result of [Tab.PageSelect].
type PageSelectResult struct {
	Changed  bool   `json:"changed"`
	Multiple bool   `json:"multiple"`
	Ref      string `json:"ref"`
	Selected []struct {
		Index int    `json:"index"`
		Label string `json:"label"`
		Value string `json:"value"`
	} `json:"selected"`
	Value string `json:"value"`
	// The list.
	Target *struct {
		BoundingBox Box `json:"bounding_box"`
		// Its accessible name; never what somebody typed into it.
		Name string `json:"name"`
		// Its ARIA role, its own or that of its tag.
		Role    string `json:"role"`
		TagName string `json:"tag_name"`
		// What it is called where it has no name.
		Near  string `json:"near"`
		Point *Point `json:"point"`
		// Of a file input: a click cannot choose files, upload.set_files can.
		Type json.RawMessage `json:"type"`
	} `json:"target"`
}

// PageSnapshot runs page.snapshot. Read the page as somebody would who cannot
// see it: roles, names, states, values and text in document order, with a ref
// for each element. Frames at any depth and origin, and open and closed shadow
// roots, are told where they are drawn.
//
// Its own errors: target_not_found, invalid_selector, invalid_arguments,
// frame_not_found, frame_cross_origin, element_stale.
func (t *Tab) PageSnapshot(ctx context.Context, arguments PageSnapshotArgs) (*PageSnapshotResult, error) {
	r := &PageSnapshotResult{}
	if err := t.callInto(ctx, "page.snapshot", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// PageSnapshotArgs are the arguments of [Tab.PageSnapshot].
type PageSnapshotArgs struct {
	// One line for each row of a table, item of a list and list of choices, refs
	// only where something can be done, what scrolls and what lies below the
	// viewport. For format text.
	Compact bool `json:"compact,omitempty"`
	// text: one indented line for each row, the ref first of what is in brackets.
	// json: a flat list of objects with their depth. One of text, json. Default
	// text.
	Format string `json:"format,omitempty"`
	// Tell a CSS selector of each element whose markup has one that is likely to
	// last. For format json.
	Hints bool `json:"hints,omitempty"`
	// Only what a click, a key or text is meant for, as a flat list.
	InteractiveOnly bool     `json:"interactive_only,omitempty"`
	Locator         *Locator `json:"locator,omitempty"`
	// Default 200000.
	MaxBytes int `json:"max_bytes,omitempty"`
	// Default 3000.
	MaxNodes int `json:"max_nodes,omitempty"`
	// Leave out so many rows: the way to what an earlier answer left out.
	Offset *int `json:"offset,omitempty"`
	// Read only the part of the page that this element holds.
	Ref string `json:"ref,omitempty"`
	// Tell what each of several controls of one name belongs to; interactive_only
	// does.
	Siblings bool `json:"siblings,omitempty"`
	// Id of an earlier snapshot with the same options: answer only what is
	// different.
	Since string `json:"since,omitempty"`
	// Tell the address of each link.
	URLs bool `json:"urls,omitempty"`
}

// PageSnapshotResult is the result of [Tab.PageSnapshot].
type PageSnapshotResult struct {
	// Documents that were read, the outermost included.
	FrameCount int `json:"frame_count"`
	NodeCount  int `json:"node_count"`
	// Names this answer for since. A tab keeps its newest 8 snapshots.
	SnapshotID string `json:"snapshot_id"`
	Title      string `json:"title"`
	Truncated  bool   `json:"truncated"`
	URL        string `json:"url"`
	// How much of the document lies below the viewport, and the ref of the first
	// element there. With compact.
	Below *struct {
		Px   int    `json:"px"`
		From string `json:"from"`
	} `json:"below"`
	Delta *struct {
		Added   int    `json:"added"`
		Changed int    `json:"changed"`
		Removed int    `json:"removed"`
		Since   string `json:"since"`
		// A line for each difference: + new, - gone, ~ different; a line without a
		// mark is the row around it.
		Text      string `json:"text"`
		Unchanged int    `json:"unchanged"`
	} `json:"delta"`
	LeftOut *struct {
		// One of max_nodes, max_bytes, time.
		Because string `json:"because"`
		Next    string `json:"next"`
		// At least so many.
		Nodes int `json:"nodes"`
		// Elements of the document after the last one that was read.
		Elements int `json:"elements"`
		Offset   int `json:"offset"`
	} `json:"left_out"`
	// Texts that live regions or layers above the page showed since the last
	// snapshot with compact, and that are gone. Without those that an action
	// reported. With compact.
	Messages []string `json:"messages"`
	// Frames whose document did not answer.
	MissedFrames []struct {
		Code string `json:"code"`
		Ref  string `json:"ref"`
	} `json:"missed_frames"`
	Nodes []struct {
		Depth     int    `json:"depth"`
		Role      string `json:"role"`
		Busy      bool   `json:"busy"`
		Checked   any    `json:"checked"`
		Clickable bool   `json:"clickable"`
		Current   any    `json:"current"`
		Disabled  bool   `json:"disabled"`
		Draggable bool   `json:"draggable"`
		Expanded  bool   `json:"expanded"`
		Filled    bool   `json:"filled"`
		Focused   bool   `json:"focused"`
		Haspopup  string `json:"haspopup"`
		Hint      string `json:"hint"`
		Invalid   bool   `json:"invalid"`
		Level     int    `json:"level"`
		Message   string `json:"message"`
		Name      string `json:"name"`
		// What a control without a name is called: by what stands beside it, its
		// tooltip or its icon.
		Near string `json:"near"`
		// What tells a repeated control from the others of its name. With
		// interactive_only or siblings.
		Of       string `json:"of"`
		Options  int    `json:"options"`
		Position string `json:"position"`
		Pressed  any    `json:"pressed"`
		Readonly bool   `json:"readonly"`
		Ref      string `json:"ref"`
		Required bool   `json:"required"`
		Scrolls  string `json:"scrolls"`
		Selected bool   `json:"selected"`
		Sort     string `json:"sort"`
		Text     string `json:"text"`
		Type     string `json:"type"`
		URL      string `json:"url"`
		Value    string `json:"value"`
	} `json:"nodes"`
	Text string `json:"text"`
}

// PageWait runs page.wait. Wait until conditions hold: text that is there or
// gone, the state of an element, the address, how far the document has loaded,
// a quiet network. It answers as soon as they do, across navigations.
//
// Its own errors: target_not_found, invalid_selector, invalid_arguments,
// multiple_targets, frame_not_found, frame_cross_origin, element_stale.
func (t *Tab) PageWait(ctx context.Context, arguments PageWaitArgs) (*PageWaitResult, error) {
	r := &PageWaitResult{}
	if err := t.callInto(ctx, "page.wait", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// PageWaitArgs are the arguments of [Tab.PageWait].
type PageWaitArgs struct {
	Conditions []PageWaitCondition `json:"conditions"`
	// all: together, at the same time. One of all, any. Default all.
	Mode string `json:"mode,omitempty"`
	// Default 10000.
	TimeoutMS *int `json:"timeout_ms,omitempty"`
}

// PageWaitResult is the result of [Tab.PageWait].
type PageWaitResult struct {
	ElapsedMS int  `json:"elapsed_ms"`
	Matched   bool `json:"matched"`
	// Which conditions held, in their order.
	Met  []bool `json:"met"`
	Mode string `json:"mode"`
	URL  string `json:"url"`
}

// PageWaitCondition is a part of arguments.
type PageWaitCondition struct {
	// One of domcontentloaded, load.
	Load    string   `json:"load,omitempty"`
	Locator *Locator `json:"locator,omitempty"`
	// With text: the title of the page and the names of what is drawn count too.
	Names bool `json:"names,omitempty"`
	// No request was under way for so long. Streams that are meant to stay open do
	// not count.
	NetworkIdleMS int `json:"network_idle_ms,omitempty"`
	// Ref of an element, as page.snapshot gives them.
	Ref string `json:"ref,omitempty"`
	// Of the locator or the ref. rendered: it has a box, also outside of what is
	// shown. One of attached, rendered, visible, hidden, detached. Default
	// visible.
	State string `json:"state,omitempty"`
	// Some drawn text has this part, as it is drawn or, where styles draw it in
	// other letters, as it is written; white space aside, case matters. Frames are
	// looked into, at any depth and origin.
	Text string `json:"text,omitempty"`
	// No drawn text has this part, in no frame.
	TextGone string `json:"text_gone,omitempty"`
	// The address. A string is a glob when it has a star (* within a path segment,
	// ** anything), else a part of the address.
	URL json.RawMessage `json:"url,omitempty"`
}

// PointerClick runs pointer.click. Press and release a mouse button at a point
// of the viewport and say what was there. clicked means that the events were
// sent, not that they had an effect; read the page to verify.
//
// Its own errors: missing_coordinates, point_out_of_viewport, target_not_found,
// target_not_actionable, multiple_targets, element_stale, invalid_selector,
// frame_not_found, frame_cross_origin.
func (t *Tab) PointerClick(ctx context.Context, arguments PointerClickArgs) (*PointerClickResult, error) {
	r := &PointerClickResult{}
	if err := t.callInto(ctx, "pointer.click", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// PointerClickArgs are the arguments of [Tab.PointerClick].
type PointerClickArgs struct {
	// One of left, middle, right. Default left.
	Button string `json:"button,omitempty"`
	// Act at the middle of what can be seen of the element, whatever is over it,
	// disabled or moving.
	Force   bool     `json:"force,omitempty"`
	Locator *Locator `json:"locator,omitempty"`
	// Modifier keys held as real keys: Shift, Alt or Option, Control or Ctrl,
	// Meta, Cmd or Command, in any case.
	Modifiers []string `json:"modifiers,omitempty"`
	// Ref of an element, from page.snapshot: short for a locator with this ref.
	// Exactly one of x and y, locator and ref is given. An extension of this host,
	// as locator, timeout_ms and force are.
	Ref string `json:"ref,omitempty"`
	// How long to wait until the element of locator or ref is there, drawn,
	// enabled, at rest and not covered; never longer than the call may take.
	// Default 5000.
	TimeoutMS *int `json:"timeout_ms,omitempty"`
	// CSS pixels from the left edge of the viewport. Absent, null or blank is
	// missing_coordinates, unless locator or ref is given. A text that is no
	// number is invalid_input.
	X *float64 `json:"x,omitempty"`
	// CSS pixels from the top edge of the viewport.
	Y *float64 `json:"y,omitempty"`
}

// PointerClickResult is the result of [Tab.PointerClick].
type PointerClickResult struct {
	Clicked   bool     `json:"clicked"`
	Modifiers []string `json:"modifiers"`
	// What was there before the click: the innermost element at a point, or the
	// element of a locator, in pixels of the tab's viewport.
	Target struct {
		BoundingBox  Box    `json:"bounding_box"`
		TagName      string `json:"tag_name"`
		AriaDisabled string `json:"aria_disabled"`
		ClassName    string `json:"class_name"`
		// Its ARIA role, its own or that of its tag.
		ComputedRole string `json:"computed_role"`
		DataTestid   string `json:"data_testid"`
		Disabled     bool   `json:"disabled"`
		ID           string `json:"id"`
		// Its accessible name.
		Name string `json:"name"`
		// What it is called where it has no name.
		Near     string `json:"near"`
		Point    *Point `json:"point"`
		Role     string `json:"role"`
		Text     string `json:"text"`
		Type     string `json:"type"`
		Viewport *struct {
			Height  float64 `json:"height"`
			Width   float64 `json:"width"`
			ScrollX float64 `json:"scroll_x"`
			ScrollY float64 `json:"scroll_y"`
		} `json:"viewport"`
	} `json:"target"`
	X float64 `json:"x"`
	Y float64 `json:"y"`
	// More than one did, and the first was taken.
	Ambiguous bool `json:"ambiguous"`
	// What had to be waited for.
	Attempts []struct {
		FirstMS int `json:"first_ms"`
		LastMS  int `json:"last_ms"`
		// One of not_found, hidden, disabled, moving, outside, covered.
		Reason      string `json:"reason"`
		Times       int    `json:"times"`
		BoundingBox *Box   `json:"bounding_box"`
		OccludedBy  *struct {
			Rect        Box    `json:"rect"`
			TagName     string `json:"tag_name"`
			TargetLabel string `json:"target_label"`
			Name        string `json:"name"`
			Role        string `json:"role"`
		} `json:"occluded_by"`
		Point *Point `json:"point"`
	} `json:"attempts"`
	// How many elements matched the locator: those in the viewport, or else those
	// that are drawn.
	CandidateCount int `json:"candidate_count"`
	// A dialog that opened while the input was handled; answer it with
	// browser.dismiss_dialog.
	Dialog *DialogInfo `json:"dialog"`
	// One of trusted, synthetic.
	Fidelity string `json:"fidelity"`
	// The frame the element is in; absent in the main frame.
	Frame *FrameInfo `json:"frame"`
	// The label that was clicked in place of a control that cannot be clicked
	// itself.
	PressedLabel string `json:"pressed_label"`
	// How often something was scrolled to reach the element.
	Scrolls  int `json:"scrolls"`
	WaitedMS int `json:"waited_ms"`
}

// TextInsert runs text.insert. Insert text into the focused element or a
// target, with the events that frameworks and rich editors listen to. A control
// and an editor get it from the browser, as one insertion that the page can
// trust. An editor that refuses it, and one that draws its text itself, gets a
// paste. What an editor holds is selected and deleted by its own keys, so that
// replace also reaches what it has not drawn. inserted means executed, not
// saved.
//
// Its own errors: target_not_editable, invalid_selector, frame_not_found,
// frame_cross_origin, element_stale, multiple_targets, target_not_found,
// target_not_actionable.
func (t *Tab) TextInsert(ctx context.Context, arguments TextInsertArgs) (*TextInsertResult, error) {
	r := &TextInsertResult{}
	if err := t.callInto(ctx, "text.insert", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// TextInsertArgs are the arguments of [Tab.TextInsert].
type TextInsertArgs struct {
	// Numbers and booleans are written as text.
	Text string `json:"text"`
	// Only into what a person can see: a control that is not drawn within
	// timeout_ms fails, with reason hidden and, where there is one, the control
	// drawn_instead. Without it such a control gets its value by script. An
	// extension of this host.
	Drawn   bool     `json:"drawn,omitempty"`
	Locator *Locator `json:"locator,omitempty"`
	// replace, or anything else to append: at the caret of a control that is being
	// edited, else at its end. Default append.
	Mode string `json:"mode,omitempty"`
	// Ref of an element, from page.snapshot: short for a locator with this ref. At
	// most one of the ways to name the element is given. An extension of this
	// host, as timeout_ms is.
	Ref string `json:"ref,omitempty"`
	// A CSS selector, a locator, or {locator: …}. Omit to use the focused
	// element, also inside a frame. A target that finds nothing is an error, never
	// the focused element.
	Target *Locator `json:"target,omitempty"`
	// How long to wait for the element of locator or ref, at most as long as the
	// call may take: 5000 unless said otherwise.
	TimeoutMS *int `json:"timeout_ms,omitempty"`
}

// TextInsertResult is the result of [Tab.TextInsert].
type TextInsertResult struct {
	Inserted bool `json:"inserted"`
	// The text is longer than maxlength lets the value be. The browser cuts it; a
	// script's value is kept whole.
	ExceedsMaxlength bool `json:"exceeds_maxlength"`
	// How the text got in: insert-text (by the browser, trusted),
	// native-value-setter+input (a control without a selection, such as a date, or
	// one that is not drawn), synthetic-paste, synthetic-beforeinput, keys
	// (deleted); absent for the browser's own editing command.
	InputMethod string `json:"input_method"`
	// UTF-16 units of the text.
	InsertedLength int `json:"inserted_length"`
	// The control keeps another form of the value: an input drops line breaks, for
	// example, and a page may write it in its own way.
	Sanitized          bool   `json:"sanitized"`
	SelectedTextLength int    `json:"selected_text_length"`
	SelectionSync      string `json:"selection_sync"`
	// The element that the text went into, as it was before.
	Target *struct {
		BoundingBox Box `json:"bounding_box"`
		// Its accessible name; never what somebody typed into it.
		Name string `json:"name"`
		// Its ARIA role, its own or that of its tag.
		Role    string `json:"role"`
		TagName string `json:"tag_name"`
		// What it is called where it has no name.
		Near  string `json:"near"`
		Point *Point `json:"point"`
		// Of a file input: a click cannot choose files, upload.set_files can.
		Type json.RawMessage `json:"type"`
	} `json:"target"`
	// The text is what it was 0.3 s later: the page refused the insertion or the
	// paste, or draws it elsewhere. text.type types instead.
	Unchanged bool `json:"unchanged"`
}

// TextType runs text.type. Type text at the focus. With trusted it sends one
// key press per character, which replaces the selection and reaches editors
// that draw on a canvas; without it is text.insert on the focused element.
//
// Its own errors: target_not_editable, trusted_text_failed, target_not_found,
// target_not_actionable, multiple_targets, element_stale, invalid_selector,
// frame_not_found, frame_cross_origin, target_not_focusable.
func (t *Tab) TextType(ctx context.Context, arguments TextTypeArgs) (*TextTypeResult, error) {
	r := &TextTypeResult{}
	if err := t.callInto(ctx, "text.type", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// TextTypeArgs are the arguments of [Tab.TextType].
type TextTypeArgs struct {
	// Numbers and booleans are written as text.
	Text string `json:"text"`
	// With trusted and a target: end goes after what it holds, and needs a target
	// that takes text. One of keep, end. Default keep.
	Caret string `json:"caret,omitempty"`
	// With trusted: time between two characters, for pages that do not keep up. An
	// extension of this host.
	DelayMS *int     `json:"delay_ms,omitempty"`
	Locator *Locator `json:"locator,omitempty"`
	// Without trusted: replace, or anything else to append.
	Mode string `json:"mode,omitempty"`
	// Ref of an element, from page.snapshot: short for a locator with this ref. At
	// most one of the ways to name the element is given. An extension of this
	// host, as timeout_ms is.
	Ref string `json:"ref,omitempty"`
	// With trusted: extend the selection this many characters to the left first.
	SelectBackChars *float64 `json:"select_back_chars,omitempty"`
	// How long to wait for the element of locator or ref, at most as long as the
	// call may take: 5000 unless said otherwise.
	TimeoutMS *int `json:"timeout_ms,omitempty"`
	Trusted   bool `json:"trusted,omitempty"`
}

// TextTypeResult is the result of [Tab.TextType].
type TextTypeResult struct {
	// A dialog that opened while the input was handled; answer it with
	// browser.dismiss_dialog.
	Dialog *DialogInfo `json:"dialog"`
	// The value is longer than maxlength, which binds users, not scripts.
	ExceedsMaxlength bool   `json:"exceeds_maxlength"`
	Fidelity         string `json:"fidelity"`
	// How the text got in; absent for the browser's own editing command.
	InputMethod string `json:"input_method"`
	Inserted    bool   `json:"inserted"`
	// UTF-16 units of the text.
	InsertedLength int `json:"inserted_length"`
	Length         int `json:"length"`
	// The control keeps another form of the value: an input drops line breaks, for
	// example.
	Sanitized          bool   `json:"sanitized"`
	SelectedBack       int    `json:"selected_back"`
	SelectedTextLength int    `json:"selected_text_length"`
	SelectionSync      string `json:"selection_sync"`
	// The element that the text went into, as it was before.
	Target *struct {
		BoundingBox Box `json:"bounding_box"`
		// Its accessible name; never what somebody typed into it.
		Name string `json:"name"`
		// Its ARIA role, its own or that of its tag.
		Role    string `json:"role"`
		TagName string `json:"tag_name"`
		// What it is called where it has no name.
		Near  string `json:"near"`
		Point *Point `json:"point"`
		// Of a file input: a click cannot choose files, upload.set_files can.
		Type json.RawMessage `json:"type"`
	} `json:"target"`
	Typed bool `json:"typed"`
	// The editor took the paste, and its text is what it was 0.3 s later.
	Unchanged bool `json:"unchanged"`
}

// UploadSetFiles runs upload.set_files. Make files the choice of a file input,
// visible or not; any other element is clicked and the file chooser that the
// page asks for is answered, or with drop the files are dropped on it. Files
// come only from the folders declared for uploads, never through a symbolic
// link.
//
// Its own errors: target_not_found, target_not_actionable, invalid_selector,
// frame_not_found, frame_cross_origin, invalid_arguments, element_stale,
// multiple_targets.
func (t *Tab) UploadSetFiles(ctx context.Context, arguments UploadSetFilesArgs) (*UploadSetFilesResult, error) {
	r := &UploadSetFilesResult{}
	if err := t.callInto(ctx, "upload.set_files", arguments, r); err != nil {
		return nil, err
	}
	return r, nil
}

// UploadSetFilesArgs are the arguments of [Tab.UploadSetFiles].
type UploadSetFilesArgs struct {
	Locator *Locator `json:"locator"`
	// Names in the declared folders, or absolute paths inside them.
	Paths []string `json:"paths"`
	// Drop the files on the element, unless it is a file input: for a place that
	// takes files by drag and drop.
	Drop bool `json:"drop,omitempty"`
	// How long the click or the drop may wait for its target.
	TimeoutMS *int `json:"timeout_ms,omitempty"`
}

// UploadSetFilesResult is the result of [Tab.UploadSetFiles].
type UploadSetFilesResult struct {
	Count int `json:"count"`
	Files []struct {
		Bytes int    `json:"bytes"`
		Name  string `json:"name"`
	} `json:"files"`
	Target struct {
		BoundingBox Box  `json:"bounding_box"`
		Multiple    bool `json:"multiple"`
		// Its accessible name.
		Name string `json:"name"`
		// Its ARIA role, its own or that of its tag.
		Role    string `json:"role"`
		TagName string `json:"tag_name"`
		// Its name attribute.
		Field string `json:"field"`
		ID    string `json:"id"`
	} `json:"target"`
	// One of input, chooser, drop.
	Via string `json:"via"`
}
