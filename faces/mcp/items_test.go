package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/runtime"
)

// keeper is a host that has a cookie and records messages.
type keeper struct {
	oddSite
	mu    *sync.Mutex
	items *[]string
}

func (keeper) Do(_ context.Context, call runtime.Call) runtime.Reply {
	return runtime.Reply{ID: call.ID, Output: json.RawMessage(`{"cookies":[{"name":"sid","value":"c00kie"}]}`)}
}

func (k keeper) RecordItem(_ time.Time, _ bool, name string, item func() []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	*k.items = append(*k.items, name+" "+string(item()))
}

// A recording names the primitive of a call, whose structured content the recorder empties, and has
// no text with the values of cookies and storage.
func TestTextsWithCookiesAreNotRecorded(t *testing.T) {
	k := keeper{mu: &sync.Mutex{}, items: &[]string{}}
	cs := client(t, k, func(o *mcp.Options) { o.Tools = "all" }, nil)
	single := client(t, k, func(o *mcp.Options) { o.Tools = "cookie.*,storage_state.*" }, nil)
	for _, name := range []string{"primitives.cookie", "primitives_cookie"} {
		attempt(t, cs, name, `{"name":"list"}`)
	}
	attempt(t, cs, "primitives_storage_state", `{"name":"get"}`)
	for _, name := range []string{"cookie.list", "cookie_list", "storage_state_get"} {
		attempt(t, single, name, `{}`)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	calls := 0
	for _, item := range *k.items {
		if !strings.Contains(item, `"method":"tools/call"`) {
			continue
		}
		calls++
		if !strings.HasPrefix(item, "cookie.list ") && !strings.HasPrefix(item, "storage_state.get ") {
			t.Errorf("recorded under another name: %.200s", item)
		}
		var one struct {
			Result struct {
				Content json.RawMessage `json:"content"`
			} `json:"result"`
		}
		_, body, _ := strings.Cut(item, " ")
		err := json.Unmarshal([]byte(body), &one)
		if err != nil || strings.Contains(string(one.Result.Content), "c00kie") {
			t.Errorf("recorded: %.300s (%v)", item, err)
		}
	}
	if calls != 2*6 {
		t.Errorf("%d messages of calls are recorded, want 12", calls)
	}
}
