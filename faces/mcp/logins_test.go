package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/faces/mcp"
)

// kept are logins in memory.
type kept map[string]json.RawMessage

func (k kept) Load(name string) (json.RawMessage, error) { return k[name], nil }

func (k kept) Save(name string, state json.RawMessage) ([]string, error) {
	k[name] = state
	return []string{"it lacks a map"}, nil
}

// A login is kept under a name, and a new session begins with it. The client never reads
// what is kept, and other sessions do not have it.
func TestALoginIsKeptByName(t *testing.T) {
	site := serve(
		t,
		`<p id="who"></p><button
		onclick="document.cookie = 'ship=ada; max-age=600'; localStorage.berth = 'north'; tell()">Sign in</button>
<script>function tell() { who.textContent = document.cookie && localStorage.berth 
? 'signed in as ' + document.cookie + ' at ' + localStorage.berth : 'a guest'; } tell();</script>`,
	)
	host, store := open(t, site), kept{}
	cs := client(t, host, func(o *mcp.Options) { o.Logins = store }, nil)
	session := func(more string) string {
		t.Helper()
		made, _ := use(t, cs, "tabs", fmt.Sprintf(`{"action":"open_session","url":%q%s}`, site, more))
		return made["session"].(string)
	}
	reads := func(session, want string) {
		t.Helper()
		r := attempt(t, cs, "read", fmt.Sprintf(`{"session":%q}`, session))
		if text := r.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, want) {
			t.Errorf("session %s shows %s, want %s", session, text, want)
		}
	}
	first := session("")
	use(t, cs, "act", fmt.Sprintf(`{"session":%q,"action":"click","locator":{"text":"Sign in"}}`, first))
	r := attempt(t, cs, "tabs", fmt.Sprintf(`{"action":"keep_login","session":%q,"login":"ada"}`, first))
	if text := r.Content[0].(*sdk.TextContent).Text; r.IsError || strings.Contains(text, "north") ||
		!strings.Contains(text, "it lacks a map") {
		t.Errorf("keeping a login answers %s", text)
	}
	reads(session(`,"login":"ada"`), "signed in as ship=ada at north")
	reads(session(""), "a guest")
	for args, want := range map[string]string{
		`{"action":"open_session","login":"nobody"}`:               "keep_login",
		`{"action":"open_session","login":"ada","isolated":false}`: "isolated",
		`{"action":"keep_login"}`:                                  "needs a login",
	} {
		if r := attempt(t, cs, "tabs", args); !r.IsError ||
			!strings.Contains(r.Content[0].(*sdk.TextContent).Text, want) {
			t.Errorf("%s answers %v, want %s", args, r.Content[0], want)
		}
	}
	cs = client(t, host, nil, nil) // whose operator allows none
	if r := attempt(t, cs, "tabs", `{"action":"open_session","login":"ada"}`); !r.IsError ||
		!strings.Contains(r.Content[0].(*sdk.TextContent).Text, "invalid_input") {
		t.Errorf("where none is kept it answers %v", r.Content[0])
	}
}
