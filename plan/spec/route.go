package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/internal/mask"
)

// Route answers requests of the page. Its members are called as in Playwright's
// page.route, route.fulfill and route.abort.
type Route struct {
	URL         string            `json:"url" doc:"glob of whole addresses, such as **/api/items*, or of any host /api/items"`
	Method      string            `json:"method,omitempty" doc:"only requests of this method"`
	Times       int               `json:"times,omitempty" min:"1" max:"100000" doc:"at most so many requests; default: every one"`
	Required    bool              `json:"required,omitempty" doc:"it fails when no request comes: the step, or the case when it is the plan's"`
	Status      int               `json:"status,omitempty" min:"200" max:"599" doc:"HTTP status; default 200"`
	Headers     map[string]string `json:"headers,omitempty" doc:"headers of the answer"`
	ContentType string            `json:"content_type,omitempty" doc:"content type; default by the file's name, application/json for json, else by the text"`
	Body        string            `json:"body,omitempty" doc:"the body as a text"`
	JSON        any               `json:"json,omitempty" doc:"the body as a JSON value"`
	Path        string            `json:"path,omitempty" doc:"file with the body, relative to the plan"`
	HAR         string            `json:"har,omitempty" doc:"HAR file with answers, relative to the plan: by method, address and body, one after the other"`
	Abort       string            `json:"abort,omitempty" enum:"aborted,accessdenied,addressunreachable,blockedbyclient,blockedbyresponse,connectionaborted,connectionclosed,connectionfailed,connectionrefused,connectionreset,failed,internetdisconnected,namenotresolved,timedout" doc:"the request fails so"`
	Delay       Duration          `json:"delay,omitempty" doc:"wait before the answer; alone, the request goes on to the network after it"`

	// At is where the plan says it.
	At Place `json:"-"`
}

// Routes are what answers requests. The first that matches a request does.
type Routes []Route

// UnmarshalJSON reads a route or a list of them.
func (r *Routes) UnmarshalJSON(b []byte) error {
	*r = nil
	var list []json.RawMessage
	if json.Unmarshal(b, &list) != nil {
		list = []json.RawMessage{b}
	}
	for _, raw := range list {
		var one Route
		if err := decode(raw, &one); err != nil {
			return err
		}
		*r = append(*r, one)
	}
	return nil
}

// maxDelay bounds Delay.
const maxDelay = time.Minute

// routes finds what the schema cannot say of routes.
func (c *checker) routes(list Routes, at string) {
	for i := range list {
		r := &list[i]
		place := at
		if _, many := c.places.lines[at+"/0"]; many {
			place += "/" + strconv.Itoa(i)
		}
		r.At = c.places.at(place)
		bodies := 0
		for _, given := range []bool{r.Body != "", r.JSON != nil, r.Path != "", r.HAR != "", r.Abort != ""} {
			if given {
				bodies++
			}
		}
		answers := bodies > 0 || r.Status != 0 || len(r.Headers) > 0 || r.ContentType != ""
		switch {
		case bodies > 1:
			c.fail(place, "the route has %d of body, json, path, har and abort: expected one", bodies)
		case !answers && r.Delay == 0:
			c.fail(
				place,
				"the route does nothing: expected one of body, json, path, har, status, headers, abort and delay",
			)
		case (r.HAR != "" || r.Abort != "") && (r.Status != 0 || len(r.Headers) > 0 || r.ContentType != ""):
			c.fail(place, "status, headers and content_type do not go with har and abort")
		}
		if d := time.Duration(r.Delay); d < 0 || d > maxDelay {
			c.fail(place+"/delay", "delay: expected at most %s", maxDelay)
		}
	}
}

// Answers reports whether the route answers by itself: one that does not sends requests on.
func (r *Route) Answers() bool {
	if r.Body != "" || r.JSON != nil || r.Path != "" || r.HAR != "" {
		return true
	}
	return r.Abort != "" || r.Status != 0 || len(r.Headers) > 0 || r.ContentType != ""
}

// Expand replaces the references in a route. The contents of files stay as they are.
func (r *Route) Expand(s *Scope) error {
	for _, field := range []*string{&r.URL, &r.Body, &r.Path, &r.HAR, &r.ContentType} {
		text, err := s.Text(*field)
		if err != nil {
			return err
		}
		*field = text
	}
	headers := make(map[string]string, len(r.Headers))
	for name, value := range r.Headers {
		text, err := s.Text(value)
		if err != nil {
			return err
		}
		headers[name] = text
	}
	r.Headers = headers
	var err error
	r.JSON, err = s.Expand(r.JSON)
	return err
}

// routes refuses references that nothing declares, and secrets: a page would have them.
func (x *useChecker) routes(list Routes) {
	for i := range list {
		at := list[i].At.Pointer
		x.value(plain(list[i]), at)
		if raw, err := json.Marshal(list[i]); err == nil && len(mask.Used(string(raw))) > 0 {
			x.fail(at, errors.New("a route has no secrets: the page would have them"))
		}
		r := list[i]
		if r.Expand(&x.scope) != nil {
			continue // it was said
		}
		for member, path := range map[string]string{"/path": r.Path, "/har": r.HAR} {
			if path == "" || strings.Contains(path, "…") { // a step will give it
				continue
			}
			if x.root != "" && !Below(x.root, path) {
				x.fail(at+member, fmt.Errorf("%s is none of the plan's own files", path))
			} else if info, err := os.Stat(path); err != nil || info.IsDir() {
				x.fail(at+member, fmt.Errorf("there is no file %s", path))
			}
		}
	}
}

// String is the route for people.
func (r *Route) String() string {
	method := r.Method
	if method == "" {
		method = "any"
	}
	parts := []string{strings.ToUpper(method), r.URL + ":"}
	if r.Delay > 0 {
		parts = append(parts, "after "+time.Duration(r.Delay).String())
	}
	switch {
	case r.Abort != "":
		parts = append(parts, "abort "+r.Abort)
	case r.HAR != "":
		parts = append(parts, "har "+r.HAR)
	case !r.Answers():
		parts = append(parts, "continue")
	default:
		parts = append(parts, strconv.Itoa(r.HTTPStatus()))
		switch {
		case r.Path != "":
			parts = append(parts, "path "+r.Path)
		case r.JSON != nil:
			parts = append(parts, "json "+short(text(r.JSON)))
		case r.Body != "":
			parts = append(parts, "body "+short(strconv.Quote(r.Body)))
		}
	}
	if r.Times > 0 {
		parts = append(parts, fmt.Sprintf("%d times", r.Times))
	}
	if r.Required {
		parts = append(parts, "required")
	}
	return strings.Join(parts, " ")
}

// HTTPStatus is the status of the answer.
func (r *Route) HTTPStatus() int {
	if r.Status == 0 {
		return 200
	}
	return r.Status
}

// files are those that routes name.
func (r Routes) files() (out []string) {
	for i := range r {
		for _, path := range []string{r[i].Path, r[i].HAR} {
			if path != "" && !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	return out
}

// Routes are all routes of the plan, those of its steps too.
func (p *Plan) Routes() Routes {
	out := slices.Clone(p.Route)
	eachStep(p.Steps, func(s *Step) { out = append(out, s.Route...) })
	return out
}

func eachStep(steps []Step, do func(*Step)) {
	for i := range steps {
		do(&steps[i])
		if f := steps[i].ForEach; f != nil {
			eachStep(f.Steps, do)
		}
	}
}

func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return strings.Trim(string(raw), `"`)
}
