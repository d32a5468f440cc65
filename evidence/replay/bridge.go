package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// bridgeItem is an item of the Actions Bridge Protocol.
type bridgeItem struct {
	Type      string          `json:"type"`
	CallID    string          `json:"call_id"`
	RuntimeID string          `json:"runtime_id"`
	Name      string          `json:"name"`
	Action    string          `json:"action"`
	Arguments json.RawMessage `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Error     json.RawMessage `json:"error"`
	URL       string          `json:"url"`
	Tab       struct {
		URL string `json:"url"`
	} `json:"tab"`
	TabURL string          `json:"tab_url"`
	Path   string          `json:"map_path"`
	Map    json.RawMessage `json:"map"`
}

// bridgeItems reads a conversation: one item per line, alone or as the member item.
func bridgeItems(data []byte) ([]bridgeItem, bool) {
	var out []bridgeItem
	lines := 0
	in := bufio.NewScanner(bytes.NewReader(data))
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		line := bytes.TrimSpace(in.Bytes())
		if len(line) == 0 {
			continue
		}
		lines++
		var wrapped struct {
			Item json.RawMessage `json:"item"`
		}
		if json.Unmarshal(line, &wrapped) != nil {
			continue // words between the items
		}
		if len(wrapped.Item) > 0 {
			line = wrapped.Item
		}
		var item bridgeItem
		if json.Unmarshal(line, &item) == nil && item.Type != "" {
			out = append(out, item)
		}
	}
	return out, lines > 0 && len(out) > 0
}

func fromBridge(items []bridgeItem) (*Log, error) {
	l := &Log{Format: FormatBridge}
	at := map[string]int{}
	tabs := map[string]int{}
	for i, item := range items {
		switch item.Type {
		case "action_call", "site_action_call":
			if tabs[item.RuntimeID] == 0 {
				tabs[item.RuntimeID] = len(tabs) + 1
			}
			name := cmp.Or(item.Name, item.Action)
			c := Call{
				Event:     cmp.Or(item.CallID, "line "+jsonText(i+1)),
				Name:      name,
				Arguments: item.Arguments,
				Tab:       tabs[item.RuntimeID],
			}
			if len(c.Arguments) == 0 {
				c.Arguments = json.RawMessage("{}")
			}
			if len(item.Map) > 0 {
				c.Map = &runtime.SuppliedMap{Path: item.Path, JSON: item.Map}
			}
			c.Missing = missingIn(c)
			at[item.CallID] = len(l.Calls)
			l.Calls = append(l.Calls, c)
		case "action_call_output", "action_error":
			n, ok := at[item.CallID]
			if !ok {
				continue
			}
			c := &l.Calls[n]
			c.Expected.Known, c.Expected.OK = true, item.Type != "action_error"
			c.Expected.Code = codeOf(item.Error)
			if c.Expected.OK {
				c.Expected.Output = item.Output
				if code, failed := answeredFailure(item.Output); failed { // as the extension answers
					c.Expected = Expected{Known: true, Code: code}
				}
			}
		case "state_projection_call":
			l.Notes = append(
				l.Notes, "call "+item.CallID+" reads a projection that the log does not hold and is left out",
			)
		default:
			if address := cmp.Or(item.URL, item.Tab.URL, item.TabURL); address != "" && l.Open == "" {
				l.Open = address
			}
		}
	}
	if len(l.Calls) == 0 {
		return nil, fault.New(fault.InvalidInput, "the log has %d items and no call", len(items)).
			Next("a bridge's own log has connections only: record with outrider connect --record FILE")
	}
	return l, nil
}

// answeredFailure reports whether an output reports a failure, and its code.
func answeredFailure(output json.RawMessage) (code string, failed bool) {
	var o struct {
		OK    *bool `json:"ok"`
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(output, &o) != nil || o.OK == nil || *o.OK {
		return "", false
	}
	return o.Error.Code, true
}
