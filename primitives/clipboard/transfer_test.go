package clipboard_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/session"
)

// anySession lets desk embed the interface and have a method of its name.
type anySession = session.Session

// desk is a page with a session of stores and nothing else.
type desk struct {
	primitives.Page
	anySession
	transfers session.Transfers
	tasks     session.Tasks
}

func (d *desk) Session() session.Session      { return d }
func (d *desk) Transfers() *session.Transfers { return &d.transfers }
func (d *desk) Tasks() *session.Tasks         { return &d.tasks }
func (d *desk) Tab() primitives.TabInfo       { return primitives.TabInfo{ID: 1} }

func (d *desk) invoke(t *testing.T, name, args string) primitives.Result {
	t.Helper()
	return catalog.Standard().Invoke(t.Context(), d, name, json.RawMessage(args))
}

func TestTransferItemsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		for label, ttl := range map[string]string{"default": "", "short": `,"ttl_seconds":60`} {
			r := d.invoke(t, "transfer.write", `{"label":"`+label+`","format":"text/plain","value":"x"`+ttl+`}`)
			if r.Err != nil {
				t.Fatal(r.Err)
			}
		}
		read := func(label string) fault.Code {
			return codeOf(d.invoke(t, "transfer.read", `{"label":"`+label+`"}`).Err)
		}
		time.Sleep(59 * time.Second)
		if c := read("short"); c != "" {
			t.Errorf("after 59 s: %s", c)
		}
		time.Sleep(time.Second)
		if c := read("short"); c != fault.TransferExpired {
			t.Errorf("after 60 s: %q, want transfer_expired", c)
		}
		time.Sleep(7139 * time.Second)
		if c := read("default"); c != "" {
			t.Errorf("after 7199 s: %s", c)
		}
		time.Sleep(time.Second)
		if c := read("default"); c != fault.TransferExpired {
			t.Errorf("after 7200 s: %q, want transfer_expired", c)
		}
	})
}

func TestTransferLimits(t *testing.T) {
	d := &desk{}
	list := `["` + strings.Repeat("x", 200_000) + `"]`
	if r := d.invoke(t, "transfer.write", `{"label":"a","format":"application/json","value":`+list+`}`); r.Err != nil {
		t.Fatal(r.Err)
	}
	if r := d.invoke(
		t, "transfer.write", `{"label":"a","format":"application/json","mode":"append","value":`+list+`}`,
	); codeOf(r.Err) != fault.TransferPayloadTooLarge {
		t.Errorf("appending past the limit: %v", r.Err)
	}
	var out map[string]any
	if r := d.invoke(t, "transfer.read", `{"label":"a"}`); r.Err != nil || json.Unmarshal(r.Payload, &out) != nil ||
		out["record_count"] != 1.0 {
		t.Errorf("the refused append changed the item: %s %v", r.Payload, r.Err)
	}
	if r := d.invoke(
		t, "transfer.write", `{"label":"b","format":"text/plain","value":"`+strings.Repeat("x", 262_145)+`"}`,
	); codeOf(r.Err) != fault.TransferPayloadTooLarge {
		t.Errorf("262145 bytes: %v", r.Err)
	}
	if r := d.invoke(
		t, "transfer.write", `{"label":"b","format":"text/plain","value":"`+strings.Repeat("x", 262_144)+`"}`,
	); r.Err != nil {
		t.Errorf("262144 bytes: %v", r.Err)
	}
	for i := 2; i < 256; i++ {
		if r := d.invoke(
			t, "transfer.write", fmt.Sprintf(`{"label":"%d","format":"text/plain","value":1}`, i),
		); r.Err != nil {
			t.Fatalf("item %d: %v", i, r.Err)
		}
	}
	if r := d.invoke(
		t, "transfer.write", `{"label":"more","format":"text/plain","value":1}`,
	); codeOf(r.Err) != fault.TransferFailed {
		t.Errorf("one item too many: %v", r.Err)
	}
	if r := d.invoke(t, "transfer.write", `{"label":"b","format":"text/plain","value":1}`); r.Err != nil {
		t.Errorf("replacing when full: %v", r.Err)
	}
}

func codeOf(e *fault.Error) fault.Code {
	if e == nil {
		return ""
	}
	return e.Code
}
