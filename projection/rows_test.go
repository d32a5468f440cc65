package projection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection"
)

// tableOf declares a table of records with so many fields, and an expression over them.
func tableOf(t *testing.T, fields int, expression string) *projection.Projection {
	t.Helper()
	list := make([]string, fields)
	for i := range list {
		list[i] = fmt.Sprintf(`"f%d":{"attribute":"id"}`, i)
	}
	p, problems := projection.Compile(json.RawMessage(
		`{"name":"table","snapshot":{"version":1,"source":"dom","extract":[{"id":"rows","selector":"i","fields":{`+
			strings.Join(list, ",")+`}}],"projection":{"language":"jsonata","expression":"`+expression+`"}}}`,
	), engine(t))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p
}

// A table of 100,000 rows is counted, and read whole, within limits that the call gives. Without them, and with more
// nodes than any call may have, the read ends at once, and says what it would take.
func TestATableOfManyRows(t *testing.T) {
	const rows = 100_000
	tab := browsertest.Tab(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><body style="display:none"><script>document.body.innerHTML = `+
			`Array.from({length: %d}, (_, i) => '<i id="row ' + i + '"></i>').join('')</script>`, rows)
	}))
	t.Cleanup(srv.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := tab.Navigate(
		ctx, primitives.NavigateOptions{URL: srv.URL, LoadTimeout: 30 * time.Second},
	); err != nil {
		t.Fatal(err)
	}
	most := projection.MostLimits(0)
	for _, c := range []struct {
		name     string
		fields   int
		limits   projection.Limits
		evidence map[string]any
	}{
		{
			"the default", 4, projection.Limits{},
			map[string]any{"limit": "nodes", "max": 200_000.0, "needed": 500_000.0, "nodes_visited": 0.0},
		},
		{
			"more nodes than any call", 30, most,
			map[string]any{"limit": "nodes", "max": float64(most.Nodes), "needed": 3_100_000.0},
		},
		{
			"few bytes", 1, projection.Limits{Nodes: most.Nodes, Bytes: 1 << 20},
			map[string]any{"limit": "bytes", "max": float64(1 << 20)},
		},
	} {
		_, err := tableOf(t, c.fields, "$count(records.rows)").Read(ctx, tab, projection.ReadOptions{Limits: c.limits})
		if err == nil || err.Code != fault.StateExtractLimitExceeded || !strings.Contains(err.NextStep, "limits") {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		encoded, _ := json.Marshal(err.Evidence)
		var evidence map[string]any
		if e := json.Unmarshal(encoded, &evidence); e != nil {
			t.Fatal(e)
		}
		for name, want := range c.evidence {
			if !reflect.DeepEqual(evidence[name], want) {
				t.Errorf("%s: the evidence %s, want %s %v", c.name, encoded, name, want)
			}
		}
	}
	counted, err := tableOf(t, 4, "$count(records.rows)").Read(ctx, tab, projection.ReadOptions{Limits: most})
	if err != nil || string(counted.State) != fmt.Sprint(rows) {
		t.Fatalf("counted: %v, %v", counted, err)
	}
	before := allocated()
	whole, err := tableOf(t, 4, "{'rows': records.rows}").Read(ctx, tab, projection.ReadOptions{
		Limits:          most,
		MaxBytes:        most.Bytes,
		ExpressionBytes: most.Bytes,
	})
	if err != nil {
		t.Fatal(err)
	}
	if used := allocated() - before; used > 20*uint64(len(whole.State)) {
		t.Errorf("%d bytes were allocated for a state of %d", used, len(whole.State))
	}
	list, err := whole.Rows("/rows")
	if err != nil || list.Len() != rows {
		t.Fatalf("rows: %v, %v", list, err)
	}
	page, n, err := list.Page(99_998, 0, 1000)
	if want := `[{"f0":"row 99998","f1":"row 99998","f2":"row 99998","f3":"row 99998"},{"f0":"row 99999",` +
		`"f1":"row 99999","f2":"row 99999","f3":"row 99999"}]`; err != nil || n != 2 || string(page) != want {
		t.Errorf("the last page: %s, %d, %v", page, n, err)
	}
}

// allocated is how many bytes this process has allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func TestPagesOfRows(t *testing.T) {
	state := `{"a/b":{"list":[{"t":"a \"],[ b"},[1,[2]],"x",null,[]]},"empty":[],"n":1,"deep":[[10,11],[20]]}`
	s := &projection.Snapshot{State: json.RawMessage(state)}
	for _, c := range []struct {
		pointer           string
		offset, limit, of int
		page              string
		count             int
	}{
		{"/a~1b/list", 0, 0, 1000, `[{"t":"a \"],[ b"},[1,[2]],"x",null,[]]`, 5},
		{"/a~1b/list", 0, 2, 1000, `[{"t":"a \"],[ b"},[1,[2]]]`, 2},
		{"/a~1b/list", 1, 1, 1000, `[[1,[2]]]`, 1},
		{"/a~1b/list", 1, 0, 13, `[[1,[2]],"x"]`, 2},
		{"/a~1b/list", 1, 0, 12, `[[1,[2]]]`, 1},
		{"/a~1b/list", 4, 9, 1000, `[[]]`, 1},
		{"/a~1b/list", 5, 1, 1000, `[]`, 0},
		{"/a~1b/list", 2147483647, 2147483647, 1000, `[]`, 0},
		{"/empty", 0, 0, 2, `[]`, 0},
		{"/deep/0", 0, 0, 1000, `[10,11]`, 2},
		{"/deep/1", 0, 0, 1000, `[20]`, 1},
	} {
		rows, err := s.Rows(c.pointer)
		if err != nil {
			t.Errorf("%s: %v", c.pointer, err)
			continue
		}
		page, n, err := rows.Page(c.offset, c.limit, c.of)
		if err != nil || n != c.count || string(page) != c.page {
			t.Errorf(
				"%s from %d, at most %d and %d bytes: %s, %d, %v; want %s",
				c.pointer, c.offset, c.limit, c.of, page, n, err, c.page,
			)
		}
	}
	for pointer, found := range map[string]string{
		"/n":       "a number",
		"/a~1b":    "an object",
		"/none":    "nothing",
		"/deep/2":  "nothing",
		"rows":     "nothing",
		"/n/1":     "nothing",
		"":         "an object",
		"/empty/0": "nothing",
	} {
		_, err := s.Rows(pointer)
		if err == nil || err.Code != fault.InvalidInput || err.Evidence["found"] != found ||
			!reflect.DeepEqual(err.Evidence["lists"], []string{"/a~1b/list (5)", "/empty (0)", "/deep (2)"}) {
			t.Errorf("%s: %v", pointer, err)
		}
	}
	rows, _ := s.Rows("/a~1b/list")
	if _, _, err := rows.Page(0, 0, 10); err == nil || err.Code != fault.StatePayloadTooLarge ||
		err.Evidence["bytes"] != 19 {
		t.Errorf("an item that is larger than a page: %v", err)
	}
	if whole, err := (&projection.Snapshot{State: json.RawMessage(`[1,2]`)}).Rows(""); err != nil || whole.Len() != 2 {
		t.Errorf("a state that is a list: %v", err)
	}
}
