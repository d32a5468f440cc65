package capture_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/runtime"
)

// Messages are in the recording without what was typed into a password field, values of cookies, and pictures.
func TestItemsAreRecordedWithoutSecrets(t *testing.T) {
	const canary, cookie = "c4nary-horse", "c00kie-value"
	picture := strings.Repeat("QUJD", 2000)
	address := site(t)
	r, path := recorded(t, capture.Options{Pages: true}, address, func(h *runtime.Host) {
		arguments := `{"target":{"selector":"[name=pass]"},"text":"` + canary + `"}`
		do(t, h, "text.insert", arguments)
		for name, item := range map[string]string{
			"text.insert": `{"type":"action_call","call_id":"7","name":"text.insert","arguments":` + arguments +
				`}`,
			"cookie.get": `{"type":"action_result","call_id":"8","output":{"cookies":[{"name":"sid","value":"` +
				cookie + `"}]}}`,
			"browser.screenshot": `{"type":"action_result","call_id":"9","output":{"data":"` + picture + `"}}`,
			"":                   `no JSON`,
		} {
			h.RecordItem(time.Now(), name != "", name, func() []byte { return []byte(item) })
		}
	})
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, never := range []string{canary, cookie, picture} {
		if bytes.Contains(raw, []byte(never)) {
			t.Errorf("the recording has %.20s", never)
		}
	}
	directions := map[string]int{}
	for _, e := range r.Events {
		if e.Kind == record.KindItem {
			i, err := record.Of[record.Item](e)
			if err != nil {
				t.Fatal(err)
			}
			directions[i.Direction]++
		}
	}
	if directions["in"] != 3 || directions["out"] != 1 {
		t.Errorf("%v: expected 3 in and 1 out", directions)
	}
}
