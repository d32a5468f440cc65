package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// bytesPerToken is how many bytes of a page's text make a token at the least:
// what a client asks for in tokens is asked of the page in bytes. Refs and short
// names cost more tokens than prose.
const bytesPerToken = 2

const defaultTokens = 4000

func maxBytes(tokens int) int {
	if tokens == 0 {
		tokens = defaultTokens
	}
	// What surrounds the text costs about seventy tokens, and as many as forty-five
	// more where something is left out.
	return max(int(float64(tokens-115)*bytesPerToken), 200)
}

// textOf takes a text out of a structured result.
func textOf(result map[string]any, member string) string {
	text, _ := result[member].(string)
	delete(result, member)
	return text
}

const snapshotInput = `{"type":"object","properties":{` +
	`"ref":{"type":"string","description":"only below this element"},"interactive_only":{"type":"boolean"},` +
	`"since":{"type":"string","description":"snapshot_id of an earlier one: only what changed"},"offset":{"type":"integer","minimum":0},` +
	tokensProperty + `,` + pageProperty + `,` + sessionProperty + `},"additionalProperties":false}`

type snapshotIn struct {
	where
	Ref             string `json:"ref"`
	InteractiveOnly bool   `json:"interactive_only"`
	Since           string `json:"since"`
	Offset          int    `json:"offset"`
	MaxTokens       int    `json:"max_tokens"`
}

// snapshotTool shows a page as its accessibility outline.
func (s *Server) snapshotTool() tool {
	return newTool("snapshot", "Outline of a page with roles, names, states and element refs.", snapshotInput, pageResult, withTitle(reads, "Page outline"),
		func(ctx context.Context, c *call) (*answer, *fault.Error) {
			var in snapshotIn
			if err := c.decode(&in); err != nil {
				return nil, err
			}
			args := map[string]any{"max_bytes": maxBytes(in.MaxTokens), "format": "text"}
			set(args, "ref", in.Ref)
			set(args, "since", in.Since)
			if in.InteractiveOnly {
				args["interactive_only"] = true
			}
			if in.Offset > 0 {
				args["offset"] = in.Offset
			}
			return c.on(in.where, func(p page) (*answer, *fault.Error) {
				value, r, err := c.do(ctx, p, "page.snapshot", args, in.where)
				if err != nil {
					return nil, err
				}
				result := about(p, r, value)
				if n, ok := result["node_count"].(json.Number); ok && n == "0" && in.Offset == 0 {
					if result, r, err = c.loadedSnapshot(ctx, p, args, in.where, result, r); err != nil {
						return nil, err
					}
				}
				if delta, ok := result["delta"].(map[string]any); ok { // what changed stands in place of the whole
					result["text"] = textOf(delta, "text")
				}
				return s.textual(p, result, r.URL, "text"), nil
			})
		})
}

// loadWait is how long a snapshot waits for a document that has nothing yet.
const loadWait = 5 * time.Second

// loadedSnapshot is a snapshot of a page that has nothing to show: once its document has
// loaded, or as it is, with the word that it loads. The first answer of the new document
// has no earlier one to be compared with.
func (c *call) loadedSnapshot(ctx context.Context, p page, args map[string]any, w where, empty map[string]any, r runtime.Reply) (map[string]any, runtime.Reply, *fault.Error) {
	wait := map[string]any{"conditions": []map[string]string{{"load": "load"}}, "timeout_ms": loadWait.Milliseconds()}
	if _, _, err := c.do(ctx, p, "page.wait", wait, w); err != nil {
		if err.Code != fault.Timeout && err.Code != fault.PageUnresponsive {
			return nil, r, err
		}
		empty["loading"] = "the document still loads; wait for it and take another snapshot"
		return empty, r, nil
	}
	delete(args, "since")
	value, r, err := c.do(ctx, p, "page.snapshot", args, w)
	if err != nil {
		return nil, r, err
	}
	return about(p, r, value), r, nil
}

// textual is an answer whose text is one member of the result, labelled. It is
// the member text of the structured content, which is all that some clients
// show, and stands below the other members in the text block.
func (s *Server) textual(p page, result map[string]any, address string, candidates ...string) *answer {
	text := ""
	for _, member := range candidates {
		if t := textOf(result, member); text == "" {
			text = t
		}
	}
	text = labelled(p, address, s.mark(), strings.TrimRight(text, "\n"))
	encoded, _ := json.Marshal(result)
	result["text"] = text
	return &answer{Result: result, Text: string(encoded) + "\n" + text}
}

func set(args map[string]any, name, value string) {
	if value != "" {
		args[name] = value
	}
}

func withTitle(a sdk.ToolAnnotations, title string) sdk.ToolAnnotations {
	a.Title = title
	return a
}

const readInput = `{"type":"object","properties":{` +
	`"format":{"enum":["markdown","text","elements"],"default":"markdown"},"ref":{"type":"string"},"offset":{"type":"integer","minimum":0},` +
	tokensProperty + `,` + pageProperty + `,` + sessionProperty + `},"additionalProperties":false}`

// readTool gives the content of a page without its navigation.
func (s *Server) readTool() tool {
	return newTool("read", "Content of a page, or of one element, as Markdown, text or a list of elements.", readInput, pageResult, withTitle(reads, "Page content"),
		func(ctx context.Context, c *call) (*answer, *fault.Error) {
			var in struct {
				where
				Format    string `json:"format"`
				Ref       string `json:"ref"`
				MaxTokens int    `json:"max_tokens"`
				Offset    int    `json:"offset"`
			}
			if err := c.decode(&in); err != nil {
				return nil, err
			}
			if in.Offset > 0 && in.Format == "elements" {
				return nil, invalid("offset", "a list of elements has no offset; give the ref of a part")
			}
			if in.Format == "" {
				in.Format = "markdown"
			}
			args := map[string]any{"formats": []string{in.Format}, "max_bytes": maxBytes(in.MaxTokens)}
			set(args, "ref", in.Ref)
			if in.Offset > 0 {
				args["offset"] = in.Offset
			}
			return c.on(in.where, func(p page) (*answer, *fault.Error) {
				value, r, err := c.do(ctx, p, "page.extract", args, in.where)
				if err != nil {
					return nil, err
				}
				if in.Format == "elements" {
					encoded := about(p, r, value)
					text, _ := json.Marshal(encoded)
					return &answer{Result: encoded, Text: labelled(p, r.URL, s.mark(), string(text))}, nil
				}
				return s.textual(p, about(p, r, value), r.URL, in.Format), nil
			})
		})
}

const waitInput = `{"type":"object","properties":{"text":{"type":"string"},"text_gone":{"type":"string"},"ref":{"type":"string"},"selector":{"type":"string"},` +
	`"url":{"type":"string"},"load":{"enum":["domcontentloaded","load"]},"network_idle":{"type":"boolean"},` +
	timeoutProperty + `,` + pageProperty + `,` + sessionProperty + `},"additionalProperties":false}`

// waitTool waits until the page shows everything that the call names.
func (s *Server) waitTool() tool {
	return newTool("wait", "Wait until everything named is true of the page.", waitInput, pageResult, withTitle(reads, "Wait"),
		func(ctx context.Context, c *call) (*answer, *fault.Error) {
			var in struct {
				where
				Text        string `json:"text"`
				TextGone    string `json:"text_gone"`
				Ref         string `json:"ref"`
				Selector    string `json:"selector"`
				URL         string `json:"url"`
				Load        string `json:"load"`
				NetworkIdle bool   `json:"network_idle"`
			}
			if err := c.decode(&in); err != nil {
				return nil, err
			}
			conditions := []any{}
			for name, value := range map[string]string{"text": in.Text, "text_gone": in.TextGone, "ref": in.Ref, "url": in.URL, "load": in.Load} {
				if value != "" {
					conditions = append(conditions, map[string]any{name: value})
				}
			}
			if in.Selector != "" {
				conditions = append(conditions, map[string]any{"locator": map[string]any{"selector": in.Selector}})
			}
			if in.NetworkIdle {
				conditions = append(conditions, map[string]any{"network_idle_ms": 500})
			}
			if len(conditions) == 0 {
				return nil, invalid("", "name at least one thing to wait for: text, text_gone, ref, selector, url, load or network_idle")
			}
			args := map[string]any{"conditions": conditions}
			if in.TimeoutMS > 0 {
				args["timeout_ms"] = in.TimeoutMS
			}
			return c.on(in.where, func(p page) (*answer, *fault.Error) {
				value, r, err := c.do(ctx, p, "page.wait", args, in.where)
				if err != nil {
					return nil, err
				}
				return &answer{Result: about(p, r, value)}, nil
			})
		})
}

const screenshotInput = `{"type":"object","properties":{"ref":{"type":"string"},"max_width":{"type":"integer","minimum":16},` +
	`"format":{"enum":["jpeg","png"]},` + pageProperty + `,` + sessionProperty + `},"additionalProperties":false}`

// screenshotTool shows a page as a picture, which is kept as a resource too.
func (s *Server) screenshotTool() tool {
	return newTool("screenshot", "Picture of the viewport, or of one element.", screenshotInput, pageResult, withTitle(reads, "Screenshot"),
		func(ctx context.Context, c *call) (*answer, *fault.Error) {
			var in struct {
				where
				Ref      string `json:"ref"`
				MaxWidth int    `json:"max_width"`
				Format   string `json:"format"`
			}
			if err := c.decode(&in); err != nil {
				return nil, err
			}
			args := map[string]any{"format": "jpeg", "quality": 80, "max_width": 1280}
			if in.Format == "png" {
				args = map[string]any{"format": "png", "max_width": 1280}
			}
			if in.MaxWidth > 0 {
				args["max_width"] = in.MaxWidth
			}
			set(args, "ref", in.Ref)
			return c.on(in.where, func(p page) (*answer, *fault.Error) {
				value, r, err := c.do(ctx, p, "browser.screenshot", args, in.where)
				if err != nil {
					return nil, err
				}
				result := about(p, r, value)
				data, _ := result["data_url"].(string)
				delete(result, "data_url")
				kind, image := decodePicture(data)
				if image == nil {
					return nil, fault.New(fault.InvalidResult, "the picture is not a base64 data URL")
				}
				out := &answer{Result: result, Image: image, Type: kind}
				result["resource"] = s.keepPicture(out.Image, out.Type)
				return out, nil
			})
		})
}
