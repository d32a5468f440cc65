// Package effect says what an action brought about: the report that primitives which act give in their member effects.
// It observes nothing. The package primitives makes reports; faces read them.
package effect

import "strings"

// Report lists the effects of an action.
type Report struct {
	// Summary names the kinds that were seen, "none observed" without any.
	Summary  string    `json:"summary"`
	Observed bool      `json:"observed"`
	WindowMS int64     `json:"window_ms"` // how long was watched after the action
	URL      *URL      `json:"url,omitempty"`
	Dialog   *Dialog   `json:"dialog,omitempty"`
	Focus    *Focus    `json:"focus,omitempty"`
	Values   []Value   `json:"values,omitempty"`
	Requests *Requests `json:"requests,omitempty"`
	DOM      *DOM      `json:"dom,omitempty"`
	Texts    []string  `json:"texts,omitempty"`   // that came or changed and are shown
	Passed   []string  `json:"passed,omitempty"`  // texts that came and went
	Invalid  []Invalid `json:"invalid,omitempty"` // fields that a form found invalid
	Opened   []*Target `json:"opened,omitempty"`  // dialogs, menus and lists of the page that came into view
	Closed   []*Target `json:"closed,omitempty"`  // and that went out of view
	Tabs     []Tab     `json:"tabs,omitempty"`
	// TabsRefused are those that were closed at once, because there may be no more.
	TabsRefused *Refused `json:"tabs_refused,omitempty"`
	// Downloads are those that began or were refused.
	Downloads []Download `json:"downloads,omitempty"`
	TabGone   bool       `json:"tab_gone,omitempty"`
	// Unseen says what could not be watched, such as a document that was
	// replaced before it was queried.
	Unseen []string `json:"unseen,omitempty"`
	// Earlier are the effects of earlier actions of the same caller after their answers.
	Earlier []Report `json:"earlier,omitempty"`
}

// URL is the address of the page before and after.
type URL struct {
	From        string `json:"from"`
	To          string `json:"to"`
	NewDocument bool   `json:"new_document"`
	Loading     bool   `json:"loading,omitempty"` // a new document is on its way
}

// Dialog is the last dialog that came.
type Dialog struct {
	Type    string `json:"type"`
	Open    bool   `json:"open"`
	Message string `json:"message,omitempty"`
}

// Invalid is a field that a form found invalid.
type Invalid struct {
	Target  *Target `json:"target"`
	Message string  `json:"message"`
}

// Focus says which elements lost and got the focus.
type Focus struct {
	From *Target `json:"from"`
	To   *Target `json:"to"`
}

// Target is an element.
type Target struct {
	TagName string  `json:"tag_name"`
	ID      *string `json:"id"`
	Role    *string `json:"role"`
	Name    string  `json:"name"`
	Near    string  `json:"near,omitempty"` // what it is called without a name
}

// Value is the value of a control in the end.
type Value struct {
	Target  *Target `json:"target"`
	Length  int     `json:"length"`
	Checked *bool   `json:"checked,omitempty"` // of a checkbox or a radio button
	Chosen  string  `json:"chosen,omitempty"`  // words of the options that a list holds
	Form    string  `json:"form,omitempty"`    // what its form is called, where the document has several
}

// Requests are those that began.
type Requests struct {
	Started int       `json:"started"`
	Pending int       `json:"pending"`
	First   []Request `json:"first"`
}

// Request is one of them.
type Request struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	Type   string `json:"type"`
	Status int    `json:"status,omitempty"`
	Error  string `json:"error,omitempty"` // the browser's words, of one that failed
}

// DOM counts what changed in the documents.
type DOM struct {
	Added      int `json:"added"`
	Removed    int `json:"removed"`
	Attributes int `json:"attributes"`
	Text       int `json:"text"`
}

// Tab is one that the page opened, or one of its windows that went to another document.
type Tab struct {
	TabID     int    `json:"tab_id,omitempty"`
	Navigated bool   `json:"navigated,omitempty"` // it was there before
	RuntimeID string `json:"runtime_id,omitempty"`
	URL       string `json:"url"`
}

// Refused counts tabs above the limit.
type Refused struct {
	Count int `json:"count"`
	Limit int `json:"limit"`
}

// Download is a download as it was when the action was answered.
type Download struct {
	ID       string `json:"download_id"`
	URL      string `json:"url"`
	Filename string `json:"filename"`
	State    string `json:"state"`
	Path     string `json:"path,omitempty"` // once it is complete
	Received int64  `json:"bytes_received"`
	Total    int64  `json:"total_bytes"`        // 0 when unknown
	EndedAt  string `json:"ended_at,omitempty"` // absent while it is under way
}

// Aborted is the browser's error of a request that was given up. One of a document that became a download ends so.
const Aborted = "net::ERR_ABORTED"

// Outcome is how a request ended, as far as it matters to who acted.
type Outcome int

// The outcomes of a request.
const (
	Answered   Outcome = iota // or not ended, or given up for something else
	NoContent                 // a document was asked for, and answered with a status that has none
	NoDocument                // a document was asked for, and none came
	Failed                    // there is no answer
	BadStatus                 // it was answered with 400 or above
)

// OutcomeOf says how one of the report's requests ended.
func (r *Report) OutcomeOf(q Request) Outcome {
	document := q.Type == "document"
	switch {
	case document && HasNoContent(q.Status):
		return NoContent
	case document && q.Error == Aborted && r.URL == nil && len(r.Downloads) == 0:
		return NoDocument
	case q.Error != "" && q.Error != Aborted:
		return Failed
	case q.Status >= 400:
		return BadStatus
	}
	return Answered
}

// HasNoContent reports whether an answer of this HTTP status leaves the page as it is.
func HasNoContent(status int) bool { return status == 204 || status == 205 }

// Sum fills in the summary.
func (r *Report) Sum() {
	var kinds []string
	for _, kind := range []struct {
		seen bool
		name string
	}{
		{r.URL != nil, "url"},
		{r.Dialog != nil, "dialog"},
		{r.Focus != nil, "focus"},
		{len(r.Values) > 0, "values"},
		{len(r.Invalid) > 0, "invalid"},
		{len(r.Opened)+len(r.Closed) > 0, "layers"},
		{r.Requests != nil, "requests"},
		{r.DOM != nil, "dom"},
		{len(r.Tabs) > 0, "tabs"},
		{r.TabsRefused != nil, "tabs_refused"},
		{len(r.Downloads) > 0, "downloads"},
		{r.TabGone, "tab_gone"},
	} {
		if kind.seen {
			kinds = append(kinds, kind.name)
		}
	}
	r.Observed = len(kinds) > 0
	r.Summary = strings.Join(kinds, ", ")
	if !r.Observed {
		r.Summary = "none observed"
	}
}
