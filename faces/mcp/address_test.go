package mcp_test

import (
	"fmt"
	"strings"
	"testing"
)

// Each way in which an agent has a page opened takes addresses of the web alone: it reads no file of this machine, and
// nothing of the browser itself.
func TestAgentsOpenAddressesOfTheWebAlone(t *testing.T) {
	site := serve(t, `<p>hello</p>`)
	cs := client(t, open(t, site), nil, nil)
	refused := func(where, args string) {
		t.Helper()
		for _, address := range []string{
			"file:///etc/hostname", " FILE:///etc/hostname", "fi\tle:///etc/hostname", "chrome://version",
			"view-source:file:///etc/hostname", "data:text/html,hello", "javascript:1", "/etc/hostname",
		} {
			r := attempt(t, cs, "tabs", fmt.Sprintf(args, address))
			if got := code(r); got != "permission_denied" && got != "invalid_input" {
				t.Errorf("%s %q: got %v", where, address, r.Content[0])
			}
		}
	}
	refused("a tab", `{"action":"open","url":%q}`)
	refused("a session", `{"action":"open_session","url":%q}`)
	made, _ := use(t, cs, "tabs", fmt.Sprintf(`{"action":"open_session","url":%q}`, site))
	refused(
		"a tab of a session",
		strings.ReplaceAll(`{"action":"open","session":"SESSION","url":%q}`, "SESSION", made["session"].(string)),
	)
	list, _ := use(t, cs, "tabs", fmt.Sprintf(`{"action":"list","session":%q}`, made["session"]))
	if len(list["pages"].([]any)) != 1 {
		t.Errorf("the session has the pages %v", list)
	}
}
