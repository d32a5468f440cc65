package hub_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/internal/testing/hosttest"
	"github.com/outrider-run/outrider/runtime"
)

// A text of a live region must not wait for a call that reads it: it is sent with the
// next result, once, with a failure of the runtime too.
func TestAnnouncementsRideOnTheNextResult(t *testing.T) {
	h := startHub(t, hub.Options{})
	tab := hosttest.Tab(1, "https://a.example/", "A")
	host := hosttest.New(tab)
	connect(t, h.Addr(), host, nil)
	waitRuntimes(t, h, 1)
	said := 0
	say := func(politeness, delivery string) string {
		said++
		text := fmt.Sprintf("said %d", said)
		host.Emit(runtime.Event{
			Kind: runtime.DOMEvent,
			Tab:  tab,
			Name: runtime.AnnouncementEvent,
			Payload: json.RawMessage(fmt.Sprintf(
				`{"seq":%d,"text":%q,"politeness":%q,"delivery":%q,"region":"r%d","tab":1}`,
				said, text, politeness, delivery, said)),
		})
		return text
	}
	told := func(name string) string {
		r := h.Call(t.Context(), hub.ToolCall{Name: name})
		var list []string
		for _, a := range r.Announcements {
			var record struct {
				Text string `json:"text"`
			}
			if err := json.Unmarshal(a, &record); err != nil {
				t.Fatalf("announcement %s: %v", a, err)
			}
			list = append(list, record.Text)
		}
		return strings.Join(list, ",")
	}
	for _, name := range []string{"echo", "fail", "browser.claimed_tabs.list"} {
		want := say("assertive", "inject")
		for _, without := range []string{"a11y.events.read", ""} {
			if got := told(without); got != "" {
				t.Errorf("a result of %q told %q", without, got)
			}
		}
		// The item and the call take two ways.
		eventually(t, name+" tells "+want, func() bool { return told(name) == want })
		if got := told(name); got != "" {
			t.Errorf("the next %s told %q again", name, got)
		}
	}
	say("assertive", "buffer")
	say("polite", "")
	want := say("polite", "inject")
	eventually(t, "only "+want, func() bool { return told("echo") == want })

	want = say("assertive", "inject")
	eventually(t, "over HTTP", func() bool {
		_, body := post(t, h.Addr(), "/mcp/tools/call", `{"name":"echo","arguments":{}}`)
		list, _ := body["announcements"].([]any)
		return len(list) == 1 && list[0].(map[string]any)["text"] == want
	})
}
