package webmcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/pagetool"
)

type listIn struct {
	Origin string `json:"origin"`
}

type listOut struct {
	Origin string   `json:"origin"`
	Tools  []listed `json:"tools"`
	// Others are origins of frames whose tools are not listed, unless they are asked for.
	Others []otherOrigin `json:"others,omitempty"`
	More   int           `json:"more,omitempty"`
	// Unavailable says why the main document can declare none.
	Unavailable string `json:"unavailable,omitempty"`
}

// listed is a tool, in the page's own words.
type listed struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
	Hash        string          `json:"hash"`
	Origin      string          `json:"origin"`
	FrameID     string          `json:"frame_id,omitempty"`
	Kind        string          `json:"kind"`
	// Submits: a form that the tool fills in is also sent.
	Submits *bool    `json:"submits,omitempty"`
	Hints   []string `json:"hints,omitempty"`
}

type otherOrigin struct {
	Origin string `json:"origin"`
	Tools  int    `json:"tools"`
}

// located is a tool with the frame that declares it.
type located struct {
	pagetool.Tool
	origin string
	main   bool
}

// tools are those of the frames that are there, the main document's first.
func tools(ctx context.Context, p primitives.Page) (all []located, own string, more int, err error) {
	list, more, err := p.PageTools(ctx)
	if err != nil {
		return nil, "", 0, err
	}
	frames := p.Frames()
	if len(frames) == 0 {
		return nil, "", more, nil
	}
	own = address.Origin(frames[0].URL)
	for place, f := range frames {
		for _, t := range list {
			if t.Frame == string(f.ID) {
				all = append(all, located{t, cmp.Or(originOf(frames, f), "null"), place == 0})
			}
		}
	}
	return all, own, more, nil
}

// originOf is the origin of a frame; that of its parent for a document without an address of its own.
func originOf(frames []primitives.FrameInfo, f primitives.FrameInfo) string {
	for range frames {
		if f.URL != "" && f.URL != "about:blank" && f.URL != "about:srcdoc" {
			break
		}
		i := slices.IndexFunc(frames, func(other primitives.FrameInfo) bool { return other.ID == f.Parent })
		if i < 0 {
			break
		}
		f = frames[i]
	}
	return address.Origin(f.URL)
}

// list says which tools the documents of the page declare: those of its own origin, or of another one that is named.
var list = primitives.Define("webmcp.list", func(
	ctx context.Context, p primitives.Page, in listIn,
) (listOut, error) {
	all, own, more, err := tools(ctx, p)
	if err != nil {
		return listOut{}, err
	}
	out := listOut{Origin: cmp.Or(in.Origin, own), Tools: []listed{}, More: more}
	if len(all) == 0 {
		has, err := p.Evaluate(ctx, `typeof document.modelContext === "object"`)
		if err == nil && string(has) == "false" {
			out.Unavailable = "no document.modelContext: the context is not secure, or the browser has no WebMCP"
		}
	}
	others := map[string]int{}
	for _, t := range all {
		if t.origin != out.Origin {
			others[t.origin]++
			continue
		}
		out.Tools = append(out.Tools, t.listed())
	}
	for origin, n := range others {
		out.Others = append(out.Others, otherOrigin{origin, n})
	}
	slices.SortFunc(out.Others, func(a, b otherOrigin) int { return cmp.Compare(a.Origin, b.Origin) })
	return out, nil
})

func (t located) listed() listed {
	out := listed{
		Name:        t.Name,
		Description: t.Description,
		InputSchema: t.InputSchema,
		Hash:        t.hash(),
		Origin:      t.origin,
		Kind:        "script",
	}
	if !t.main {
		out.FrameID = t.Frame
	}
	if t.Form {
		out.Kind, out.Submits = "form", &t.Autosubmit
	}
	hint := func(given bool, name string) {
		if given {
			out.Hints = append(out.Hints, name)
		}
	}
	hint(t.ReadOnly, "read_only")
	hint(t.Untrusted, "untrusted_content")
	hint(t.Consequential, "consequential")
	return out
}

// hash is that of what a tool says of itself, so that a caller notices when it is another one.
func (t located) hash() string {
	sum := sha256.Sum256([]byte(t.Name + "\x00" + t.Description + "\x00" + string(t.InputSchema)))
	return hex.EncodeToString(sum[:8])
}
