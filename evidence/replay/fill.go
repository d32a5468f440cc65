package replay

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Fill has the values that a log does not hold.
type Fill struct {
	// Secrets are the texts of placeholders, by name.
	Secrets map[string]string `json:"secrets"`
	// Values are by event, then by pointer into the arguments of its call.
	Values map[string]map[string]json.RawMessage `json:"values"`
}

// ReadFill reads them from a JSON file.
func ReadFill(path string) (Fill, error) {
	var f Fill
	data, err := os.ReadFile(path)
	if err != nil {
		return f, fault.Wrap(fault.InvalidInput, err, "the file of missing values cannot be read")
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fault.Wrap(
			fault.InvalidInput, err, `expected {"secrets": {NAME: text}, "values": {EVENT: {POINTER: value}}} in %s`,
			path,
		)
	}
	return f, nil
}

// Fill puts values into the calls. What is left is missing. Secrets that can be hidden stay placeholders, and
// are added to secrets.
func (l *Log) Fill(f Fill, secrets *mask.Set) error {
	plain := map[string]string{}
	for name, value := range f.Secrets {
		if secrets.Add(name, value) != nil { // too short to be hidden
			plain[name] = value
		}
	}
	for i := range l.Calls {
		c := &l.Calls[i]
		for pointer, value := range f.Values[c.Event] {
			out, ok := setAt(c.Arguments, pointer, value)
			if !ok {
				return fault.New(
					fault.InvalidInput, "the arguments of event %s (%s) have nothing at %s",
					c.Event, c.Name, fault.Clip(pointer, 100),
				)
			}
			c.Arguments = out
			if pointer == "" {
				c.Missing = nil
			}
		}
		for name, value := range plain {
			quoted, _ := json.Marshal(value) // a string
			c.Arguments = json.RawMessage(
				strings.ReplaceAll(string(c.Arguments), mask.Placeholder(name), string(quoted[1:len(quoted)-1])),
			)
		}
		var left []Missing
		for _, m := range c.Missing {
			_, given := f.Values[c.Event][m.Pointer]
			_, known := f.Secrets[m.Secret]
			if !given && !(m.Secret != "" && (known || secrets.Uses(mask.Placeholder(m.Secret)))) {
				left = append(left, m)
			}
		}
		c.Missing = left
	}
	return nil
}

// setAt replaces the value at a pointer, which must be there; "" is the whole.
func setAt(raw json.RawMessage, pointer string, value json.RawMessage) (json.RawMessage, bool) {
	if pointer == "" {
		return value, true
	}
	v, ok := decode(raw)
	if !ok {
		return nil, false
	}
	with, ok := decode(value)
	if !ok {
		return nil, false
	}
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	at := v
	for i, part := range parts {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		last := i == len(parts)-1
		switch node := at.(type) {
		case map[string]any:
			next, there := node[part]
			if !there {
				return nil, false
			}
			if last {
				node[part] = with
			}
			at = next
		case []any:
			n, err := strconv.Atoi(part)
			if err != nil || n < 0 || n >= len(node) {
				return nil, false
			}
			if last {
				node[n] = with
			}
			at = node[n]
		default:
			return nil, false
		}
	}
	out, err := json.Marshal(v)
	return out, err == nil
}
