package mcp_test

import (
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tiktoken-go/tokenizer"

	"github.com/outrider-run/outrider/faces/mcp"

	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/runtime"
)

// dictionary is a host of which only the dictionary is read. Nothing happens
// in it.
type dictionary struct{ mcp.Host }

func (dictionary) Dictionary() []runtime.DictionaryEntry {
	return runtime.Dictionary(catalog.Standard())
}

func (dictionary) Subscribe(func(runtime.Event)) func() { return func() {} }

// tokens counts what a model reads of v.
func tokens(t testing.TB, v any) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	text, ok := v.(string)
	if !ok {
		encoded, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		text = string(encoded)
	}
	ids, _, err := codec.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	return len(ids)
}

// A model pays for the catalog with every request, so it has a budget.
func TestTheCatalogIsAffordable(t *testing.T) {
	for _, c := range []struct {
		tools string
		most  int
	}{{"core", 1900}, {"all", 6000}} {
		cs := client(t, dictionary{}, func(o *mcp.Options) { o.Tools = c.tools }, nil)
		list, err := cs.ListTools(t.Context(), &sdk.ListToolsParams{})
		if err != nil {
			t.Fatal(err)
		}
		if n := tokens(t, list.Tools); n > c.most {
			t.Errorf("the %d tools of %q take %d tokens, want at most %d", len(list.Tools), c.tools, n, c.most)
		} else {
			t.Logf("%s: %d tools, %d tokens", c.tools, len(list.Tools), n)
		}
		for _, tool := range list.Tools {
			if tool.Annotations == nil || tool.InputSchema == nil || tool.OutputSchema == nil ||
				tool.Description == "" {
				t.Errorf("tool %s lacks annotations, a schema or a description", tool.Name)
			}
		}
	}
}
