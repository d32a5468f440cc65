package tools

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/plain"
	"github.com/outrider-run/outrider/runtime"
)

// writtenFirst is how long an option with the very words is waited for, in milliseconds, until others are looked at.
const writtenFirst = 300

// choose chooses options of a list of the browser. Where none is written as the call says, the case does not count,
// and the only option that begins with the words, or contains them, is meant. A list may still be filling: without
// such an option the whole time of the call is waited.
func (c *Call) choose(
	ctx context.Context, p page, w where, args map[string]any,
) (json.RawMessage, runtime.Reply, *fault.Error) {
	first := maps.Clone(args)
	most, given := args["timeout_ms"].(int)
	first["timeout_ms"] = writtenFirst
	if given { // the second try has what is left, and there is time to answer
		first["timeout_ms"] = min(writtenFirst, most/2)
	}
	value, r, err := c.do(ctx, p, "page.select", first, w)
	if err == nil || err.Evidence["reason"] != "no_option" {
		return value, r, err
	}
	labels, _ := args["label"].([]string)
	args = maps.Clone(args)
	if meant := meantOptions(err, labels); meant != nil {
		args["label"] = meant
	}
	if given {
		args["timeout_ms"] = max(0, most-min(writtenFirst, most/2)-most/5)
	}
	return c.do(ctx, p, "page.select", args, w)
}

// meantOptions are the labels of the options that words mean, by the list that a failure shows; nil where one of them
// means none or several.
func meantOptions(failed *fault.Error, labels []string) []string {
	var list struct {
		Options []struct {
			Label string `json:"label"`
		} `json:"options"`
	}
	encoded, err := json.Marshal(failed.Evidence)
	if err != nil || json.Unmarshal(encoded, &list) != nil {
		return nil
	}
	var out []string
	for _, label := range labels {
		wanted := strings.ToLower(plain.Comparable(label))
		if wanted == "" {
			return nil
		}
		ways := make([][]string, 3)
		for _, o := range list.Options {
			switch at := wordsAt(strings.ToLower(plain.Comparable(o.Label)), wanted); {
			case strings.EqualFold(plain.Comparable(o.Label), wanted):
				ways[0] = append(ways[0], o.Label)
			case at == 0:
				ways[1] = append(ways[1], o.Label)
			case at > 0:
				ways[2] = append(ways[2], o.Label)
			}
		}
		found := ""
		for _, way := range ways {
			if len(way) > 1 {
				return nil
			}
			if len(way) == 1 {
				found = way[0]
				break
			}
		}
		if found == "" {
			return nil
		}
		out = append(out, found)
	}
	return out
}

// wordsAt is where a text has whole words, -1 where it has not.
func wordsAt(text, words string) int {
	fields := strings.Fields(words)
	have := strings.Fields(text)
	for i := range have {
		if i+len(fields) > len(have) {
			break
		}
		same := true
		for k, f := range fields {
			same = same && strings.Trim(have[i+k], ".,;:()") == strings.Trim(f, ".,;:()")
		}
		if same {
			return i
		}
	}
	return -1
}
