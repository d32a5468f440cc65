package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/sites"
)

// countingPage answers every descriptor with one visible element and counts the
// questions.
type countingPage struct {
	primitives.Page
	calls, descriptors int
}

func (p *countingPage) Tab() primitives.TabInfo { return primitives.TabInfo{URL: "https://a.test/"} }

func (p *countingPage) Call(_ context.Context, _ primitives.FrameID, fn string, args, out any) error {
	p.calls++
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	var in struct {
		Descriptors []json.RawMessage `json:"descriptors"`
	}
	if err := json.Unmarshal(raw, &in); err != nil || fn != "resolve_descriptors" {
		return fmt.Errorf("evaluating %s: %w", fn, err)
	}
	p.descriptors += len(in.Descriptors)
	one := `{"found":true,"candidate":"selector","count":1,"visible_count":1,"handle":"h","facts":{"tag_name":"p",` +
		`"visible":true,"rendered":true,"enabled":true,"text":"x"}}`
	list := strings.TrimSuffix(strings.Repeat(one+",", len(in.Descriptors)), ",")
	return json.Unmarshal([]byte(`{"url":"https://a.test/","matches":[`+list+`]}`), out)
}

// The targets of all states are one page call, each target once.
func TestStatesAreOneRoundTrip(t *testing.T) {
	var states []string
	for i := range 100 {
		// Ten targets, shared; every state also probes the one before it.
		before := ""
		if i > 0 && i < 8 {
			before = fmt.Sprintf(`,{"name":"before","state":"s%d"}`, i-1)
		}
		states = append(
			states,
			fmt.Sprintf(`{"name":"s%d","diagnostics":[{"name":"d","target":{"selector":"#t%d"}}%s]}`, i, i%10, before),
		)
	}
	l, err := sites.FromMap(
		"m/actions.json",
		[]byte(`{"protocol":"actions.json","version":1,"tools":[],"states":[`+strings.Join(states, ",")+`]}`),
		sites.Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	p := &countingPage{}
	names, e := runtime.DiagnoseAll(t.Context(), p, l)
	if e != nil || len(names) != 100 {
		t.Errorf("%d states are current, %v; want 100", len(names), e)
	}
	if p.calls != 1 || p.descriptors != 10 {
		t.Errorf("%d questions with %d targets, want one with ten", p.calls, p.descriptors)
	}
}
