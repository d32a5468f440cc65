package projection_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection"
)

func TestHashVectors(t *testing.T) {
	for text, want := range map[string]string{
		`null`: "djb2:7c9b6140", `{}`: "djb2:597a9d", `[]`: "djb2:59765d",
		`{"a":1}`:             "djb2:56391ecd",
		`{"b":true,"a":null}`: "djb2:462ae5a3",
		`{"t":"é😀"}`:          "djb2:fc3ac359",
		`{"n":1.5,"e":1e+21}`: "djb2:f47788b0",
		`{"board":{"lists":[{"name":"To Do","cards":[]}]}}`: "djb2:b627e280",
		// The same values in other spellings.
		" {\n\"a\" : 1.0 } ":                     "djb2:56391ecd",
		`{"a":10e-1}`:                            "djb2:56391ecd",
		`{"t":"\u00e9\ud83d\ude00"}`:             "djb2:fc3ac359",
		`{"n":15e-1,"e":1000000000000000000000}`: "djb2:f47788b0",
		`{"a":2,"a":1}`:                          "djb2:56391ecd",
		`not json`:                               "",
	} {
		if got := projection.Hash(json.RawMessage(text)); got != want {
			t.Errorf("Hash(%s) = %q, want %q", text, got, want)
		}
	}
	// Order counts, except that array indexes come first in JavaScript.
	if projection.Hash(json.RawMessage(`{"a":1,"b":2}`)) == projection.Hash(json.RawMessage(`{"b":2,"a":1}`)) {
		t.Error("the order of members makes no difference")
	}
	if projection.Hash(
		json.RawMessage(`{"b":1,"2":2,"1":3}`),
	) != projection.Hash(json.RawMessage(`{"1":3,"2":2,"b":1}`)) {
		t.Error("array indexes are not put first")
	}
}

// identities used by the tables, by name.
func identity(t testing.TB, declared string) projection.Identity {
	t.Helper()
	if declared == "" {
		return projection.Identity{}
	}
	raw := `{"name":"t","snapshot":{"version":1,"source":"dom","extract":[],"projection":{"language":"jsonata",` +
		`"expression":"{}"}},"x_identity":` + declared + `}`
	p, problems := projection.Compile(json.RawMessage(raw), engine(t))
	if len(problems) > 0 {
		t.Fatalf("x_identity %s: %v", declared, problems)
	}
	return p.Identity()
}

func TestDiff(t *testing.T) {
	const byID = `{"":"id","/l":"id","/lists":"id","/lists/*/cards":"/key/id"}`
	for _, tt := range []struct {
		name, before, after, identity, patches, semantic string
	}{
		{name: "equal", before: `{"a":[1,{"b":2}]}`, after: `{"a":[1,{"b":2}]}`, patches: `[]`, semantic: `[]`},
		{
			name:    "reordered members",
			before:  `{"a":1,"b":{"c":1,"d":2}}`,
			after:   `{"b":{"d":2,"c":1},"a":1}`,
			patches: `[]`,
		},
		{name: "upstream: list renamed, card changed, card added",
			before: `{"board":{"lists":[{"name":"To Do","cards":[{"title":"One"}]}]}}`,
			after:  `{"board":{"lists":[{"name":"Doing","cards":[{"title":"Two"},{"title":"Three"}]}]}}`,
			patches: `[{"op":"replace","path":"/board/lists/0/name","value":"Doing"},{"op":"replace",` +
				`"path":"/board/lists/0/cards/0/title","value":"Two"},{"op":"add","path":"/board/lists/0/cards/1",` +
				`"value":{"title":"Three"}}]`,
			semantic: `[{"type":"field_replaced","field":"name","entity":{"kind":"list","title":"Doing"},` +
				`"path":"/board/lists/0/name","value":"Doing","patch":{"op":"replace","path":"/board/lists/0/name",` +
				`"value":"Doing"}},` +
				`{"type":"field_replaced","field":"title","entity":{"kind":"card","title":"Two"},` +
				`"path":"/board/lists/0/cards/0/title","value":"Two","patch":{"op":"replace",` +
				`"path":"/board/lists/0/cards/0/title","value":"Two"}},` +
				`{"type":"entity_added","entity":{"kind":"card","title":"Three"},"path":"/board/lists/0/cards/1",` +
				`"patch":{"op":"add","path":"/board/lists/0/cards/1","value":{"title":"Three"}}}]`},
		{name: "undefined before", before: ``, after: `{"a":1}`, patches: `[{"op":"add","path":"","value":{"a":1}}]`},
		{name: "undefined after", before: `{"a":1}`, after: ``, patches: `[{"op":"remove","path":""}]`},
		{name: "root replaced", before: `{"a":1}`, after: `[1]`, patches: `[{"op":"replace","path":"","value":[1]}]`},
		{name: "members come and go", before: `{"a":1,"b":2,"c":3}`, after: `{"d":4,"b":5,"a":1}`,
			patches: `[{"op":"replace","path":"/b","value":5},{"op":"remove","path":"/c"},{"op":"add","path":"/d",` +
				`"value":4}]`},
		{name: "escaped names", before: `{"a/b":1,"m~n":2,"":3}`, after: `{"a/b":2,"m~n":3,"":4}`,
			patches: `[{"op":"replace","path":"/a~1b","value":2},{"op":"replace","path":"/m~0n","value":3},` +
				`{"op":"replace","path":"/","value":4}]`},
		{
			name:    "insert at the front",
			before:  `["a","b","c"]`,
			after:   `["x","a","b","c"]`,
			patches: `[{"op":"add","path":"/0","value":"x"}]`,
		},
		{
			name:    "insert in the middle",
			before:  `["a","b","c"]`,
			after:   `["a","x","b","c"]`,
			patches: `[{"op":"add","path":"/1","value":"x"}]`,
		},
		{
			name:    "append",
			before:  `[1]`,
			after:   `[1,2,3]`,
			patches: `[{"op":"add","path":"/1","value":2},{"op":"add","path":"/2","value":3}]`,
		},
		{
			name:    "remove the first",
			before:  `["a","b","c"]`,
			after:   `["b","c"]`,
			patches: `[{"op":"remove","path":"/0"}]`,
		},
		{
			name:    "remove from the end",
			before:  `[1,2,3,4]`,
			after:   `[1,2]`,
			patches: `[{"op":"remove","path":"/3"},{"op":"remove","path":"/2"}]`,
		},
		{name: "remove one of equals", before: `[0,0,1,0]`, after: `[0,1,0]`, patches: `[{"op":"remove","path":"/1"}]`},
		{
			name:    "to the end",
			before:  `["a","b","c","d"]`,
			after:   `["b","c","d","a"]`,
			patches: `[{"op":"move","from":"/0","path":"/3"}]`,
		},
		{
			name:    "to the front",
			before:  `["a","b","c","d"]`,
			after:   `["d","a","b","c"]`,
			patches: `[{"op":"move","from":"/3","path":"/0"}]`,
		},
		{name: "swap", before: `["a","b"]`, after: `["b","a"]`, patches: `[{"op":"move","from":"/0","path":"/1"}]`},
		{
			name:    "move and insert",
			before:  `["a","b","c"]`,
			after:   `["b","x","c","a"]`,
			patches: `[{"op":"move","from":"/0","path":"/2"},{"op":"add","path":"/1","value":"x"}]`,
		},
		{
			name:    "changed in place between equals",
			before:  `[{"t":1,"u":1},{"t":2,"u":2},{"t":3}]`,
			after:   `[{"t":1,"u":1},{"t":2,"u":9},{"t":3}]`,
			patches: `[{"op":"replace","path":"/1/u","value":9}]`,
		},
		{
			name:   "most similar is the changed one",
			before: `[{"n":"a","d":false,"p":1}]`,
			after:  `[{"n":"x","d":false,"p":7},{"n":"a","d":true,"p":1}]`,
			patches: `[{"op":"add","path":"/0","value":{"n":"x","d":false,"p":7}},{"op":"replace","path":"/1/d",` +
				`"value":true}]`,
		},
		{
			name:     "identity: changed and moved",
			identity: byID,
			before:   `{"l":[{"id":1,"t":"a"},{"id":2,"t":"b"},{"id":3,"t":"c"}]}`,
			after:    `{"l":[{"id":3,"t":"C"},{"id":1,"t":"a"},{"id":2,"t":"b"}]}`,
			patches:  `[{"op":"move","from":"/l/2","path":"/l/0"},{"op":"replace","path":"/l/0/t","value":"C"}]`,
		},
		{
			name:     "identity: another one in its place",
			identity: byID,
			before:   `{"l":[{"id":1,"title":"a"}]}`,
			after:    `{"l":[{"id":2,"title":"a"}]}`,
			patches:  `[{"op":"remove","path":"/l/0"},{"op":"add","path":"/l/0","value":{"id":2,"title":"a"}}]`,
			semantic: `[{"type":"entity_removed","entity":{"kind":"l","title":"a"},` +
				`"path":"/l/0","patch":{"op":"remove","path":"/l/0"}},{"type":"entity_added","entity":{"kind":"l",` +
				`"title":"a"},"path":"/l/0","patch":{"op":"add","path":"/l/0","value":{"id":2,"title":"a"}}}]`,
		},
		{
			name:     "identity: of the root",
			identity: byID,
			before:   `[{"id":"a","n":1},{"id":"b","n":1}]`,
			after:    `[{"id":"b","n":2},{"id":"a","n":1}]`,
			patches:  `[{"op":"move","from":"/0","path":"/1"},{"op":"replace","path":"/0/n","value":2}]`,
		},
		{
			name:     "identity: pointer and star",
			identity: byID,
			before:   `{"lists":[{"id":1,"cards":[{"key":{"id":"x"},"v":1},{"key":{"id":"y"},"v":1}]}]}`,
			after:    `{"lists":[{"id":1,"cards":[{"key":{"id":"y"},"v":2},{"key":{"id":"x"},"v":1}]}]}`,
			patches: `[{"op":"move","from":"/lists/0/cards/0","path":"/lists/0/cards/1"},{"op":"replace",` +
				`"path":"/lists/0/cards/0/v","value":2}]`,
		},
		{
			name:     "identity: shared ones count by content",
			identity: byID,
			before:   `{"l":[{"id":1,"t":"a"},{"id":1,"t":"b"}]}`,
			after:    `{"l":[{"id":1,"t":"b"},{"id":1,"t":"a"}]}`,
			patches:  `[{"op":"move","from":"/l/0","path":"/l/1"}]`,
		},
		{
			name:     "identity: missing ones count by content",
			identity: byID,
			before:   `{"l":[{"t":"a"},{"id":null,"t":"b"}]}`,
			after:    `{"l":[{"t":"z"},{"t":"a"},{"id":null,"t":"b"}]}`,
			patches:  `[{"op":"add","path":"/l/0","value":{"t":"z"}}]`,
		},
		{
			name:     "identity: 1 is not \"1\"",
			identity: byID,
			before:   `{"l":[{"id":1,"t":"a"}]}`,
			after:    `{"l":[{"id":"1","t":"a"}]}`,
			patches:  `[{"op":"remove","path":"/l/0"},{"op":"add","path":"/l/0","value":{"id":"1","t":"a"}}]`,
		},
		{
			name:     "semantic: moved, with title",
			identity: `{"/cards":"id"}`,
			before:   `{"cards":[{"id":1,"name":"A"},{"id":2,"name":"B"},{"id":3}]}`,
			after:    `{"cards":[{"id":2,"name":"B"},{"id":3},{"id":1,"name":"A"}]}`,
			patches:  `[{"op":"move","from":"/cards/0","path":"/cards/2"}]`,
			semantic: `[{"type":"entity_moved","entity":{"kind":"card","title":"A"},"from":"/cards/0",` +
				`"path":"/cards/2","patch":{"op":"move","from":"/cards/0","path":"/cards/2"}}]`,
		},
		{name: "semantic: a member is an entity too", before: `{}`, after: `{"users":{"id":7}}`,
			patches: `[{"op":"add","path":"/users","value":{"id":7}}]`,
			semantic: `[{"type":"entity_added","entity":{"kind":"user","title":7},"path":"/users",` +
				`"patch":{"op":"add","path":"/users","value":{"id":7}}}]`},
		{name: "semantic: plain field", before: `{"n":1}`, after: `{"n":2}`,
			patches: `[{"op":"replace","path":"/n","value":2}]`,
			semantic: `[{"type":"field_replaced","field":"n","path":"/n","value":2,"patch":{"op":"replace",` +
				`"path":"/n","value":2}}]`},
		{name: "semantic: item of the root", before: `[{"t":1}]`, after: `[{"t":1},{"title":"x"}]`,
			patches: `[{"op":"add","path":"/1","value":{"title":"x"}}]`,
			semantic: `[{"type":"entity_added","entity":{"kind":"item","title":"x"},"path":"/1","patch":{"op":"add",` +
				`"path":"/1","value":{"title":"x"}}}]`},
		{
			name:    "half a surrogate pair survives",
			before:  `["\ud800"]`,
			after:   `["\ud800","\udc00x"]`,
			patches: `[{"op":"add","path":"/1","value":"\udc00x"}]`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := projection.Diff(json.RawMessage(tt.before), json.RawMessage(tt.after), identity(t, tt.identity))
			if string(d.Patches) != tt.patches {
				t.Errorf("Diff(%s, %s)\n got %s\nwant %s", tt.before, tt.after, d.Patches, tt.patches)
			}
			if tt.semantic != "" && string(d.Semantic) != tt.semantic {
				t.Errorf("semantic deltas of %s → %s\n got %s\nwant %s", tt.before, tt.after, d.Semantic, tt.semantic)
			}
			got, err := projection.Apply(json.RawMessage(tt.before), d.Patches)
			if err != nil || !sameJSON(string(got), tt.after) {
				t.Errorf("Apply gave %s, %v; want %s", got, err, tt.after)
			}
		})
	}
}

func sameJSON(a, b string) bool {
	if a == "" || b == "" {
		return a == b
	}
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// random makes states that look like those of pages: shallow, with lists of
// similar things, equal values and awkward names.
type random struct{ *rand.Rand }

var awkward = []string{"a", "b", "id", "title", "0", "10", "", "a/b", "~", "~1", "é", "😀", "__proto__", "x y"}

func (r random) value(depth int) any {
	n := r.IntN(10)
	if depth == 0 {
		n = r.IntN(6)
	}
	switch n {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2, 3:
		return []any{0, 1, -1, 2.5, 1e21, 1e-7, 12345678901.0}[r.IntN(7)]
	case 4, 5:
		return awkward[r.IntN(len(awkward))]
	case 6, 7:
		list := make([]any, r.IntN(7))
		for i := range list {
			list[i] = r.value(depth - 1)
		}
		return list
	}
	m := map[string]any{}
	for range r.IntN(5) {
		m[awkward[r.IntN(len(awkward))]] = r.value(depth - 1)
	}
	if r.IntN(2) == 0 {
		m["id"] = r.IntN(8)
	}
	return m
}

// mutate changes a few things the way pages do.
func (r random) mutate(v any, depth int) any {
	switch v := v.(type) {
	case []any:
		out := append([]any{}, v...)
		for range r.IntN(4) {
			switch i := r.IntN(len(out) + 1); r.IntN(5) {
			case 0:
				out = append(out[:i], append([]any{r.value(depth)}, out[i:]...)...)
			case 1:
				if i < len(out) {
					out = append(out[:i], out[i+1:]...)
				}
			case 2:
				if i < len(out) {
					moved := out[i]
					out = append(out[:i], out[i+1:]...)
					k := r.IntN(len(out) + 1)
					out = append(out[:k], append([]any{moved}, out[k:]...)...)
				}
			case 3:
				if i < len(out) {
					out[i] = r.mutate(out[i], depth)
				}
			case 4:
				r.Shuffle(len(out), func(a, b int) { out[a], out[b] = out[b], out[a] })
			}
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			switch r.IntN(6) {
			case 0:
			case 1:
				out[k] = r.mutate(e, depth)
			default:
				out[k] = e
			}
		}
		if r.IntN(3) == 0 {
			out[awkward[r.IntN(len(awkward))]] = r.value(depth)
		}
		return out
	}
	if r.IntN(3) == 0 {
		return r.value(1)
	}
	return v
}

func TestApplyOfDiffIsExact(t *testing.T) {
	const seed = 20261121
	r := random{rand.New(rand.NewPCG(seed, 1))}
	none, byID := projection.Identity{}, identity(t, `{"":"id","/*":"id","/*/*":"id","/*/*/*":"id"}`)
	encode := func(v any) json.RawMessage {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for round := range 20_000 {
		v := r.value(4)
		before := encode(v)
		var after json.RawMessage
		if round%3 == 0 {
			after = encode(r.value(4))
		} else {
			after = encode(r.mutate(v, 2))
		}
		id, name := none, "content"
		if round%2 == 0 {
			id, name = byID, "identity"
		}
		d := projection.Diff(before, after, id)
		byIndex, err := projection.Apply(before, projection.DiffByIndex(before, after).Patches)
		if err != nil || !sameJSON(string(byIndex), string(after)) {
			t.Fatalf("seed %d round %d by index: %s → %s gave %s, %v", seed, round, before, after, byIndex, err)
		}
		got, err := projection.Apply(before, d.Patches)
		if err != nil || !sameJSON(string(got), string(after)) {
			t.Fatalf(
				"seed %d round %d (%s): %s → %s\npatch %s\n gave %s, %v",
				seed, round, name, before, after, d.Patches, got, err,
			)
		}
		var patches, semantic []json.RawMessage
		if json.Unmarshal(d.Patches, &patches) != nil || json.Unmarshal(d.Semantic, &semantic) != nil ||
			len(patches) != len(semantic) {
			t.Fatalf("seed %d round %d: %d operations, %d semantic deltas", seed, round, len(patches), len(semantic))
		}
		if equal := sameJSON(string(before), string(after)); equal != (len(patches) == 0) {
			t.Fatalf("seed %d round %d: equal %v with patch %s", seed, round, equal, d.Patches)
		}
		if e := projection.Diff(after, after, id); string(e.Patches) != "[]" || string(e.Semantic) != "[]" {
			t.Fatalf("seed %d round %d: equal states differ by %s", seed, round, e.Patches)
		}
	}
}

// A single change to a long list costs one operation, whatever its length.
func TestDiffOfLongLists(t *testing.T) {
	list := func(n int, item func(i int) string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = item(i)
		}
		return out
	}
	join := func(items []string) json.RawMessage { return json.RawMessage("[" + strings.Join(items, ",") + "]") }
	for _, n := range []int{10, 500, 5000} { // below and above the exact method
		items := list(n, func(i int) string { return fmt.Sprintf(`{"id":%d,"v":"x"}`, i) })
		moved := append(append(append([]string{}, items[1:n/2]...), items[0]), items[n/2:]...)
		doubleMoved := append([]string{items[n-1]}, append(append([]string{}, items[1:n-1]...), items[0])...)
		for name, tt := range map[string]struct {
			after []string
			ops   int
		}{
			"insert":        {append([]string{`{"id":-1}`}, items...), 1},
			"remove":        {items[1:], 1},
			"move":          {moved, 1},
			"ends swapped":  {doubleMoved, 2},
			"remove middle": {append(append([]string{}, items[:n/2]...), items[n/2+1:]...), 1},
		} {
			for _, id := range []string{"", `{"":"id"}`} {
				d := projection.Diff(join(items), join(tt.after), identity(t, id))
				if got := strings.Count(string(d.Patches), `"op":`); got != tt.ops {
					t.Errorf(
						"%s of %d items (identity %q): %d operations, want %d: %.300s",
						name, n, id, got, tt.ops, d.Patches,
					)
				}
				if got, err := projection.Apply(join(items), d.Patches); err != nil ||
					!sameJSON(string(got), string(join(tt.after))) {
					t.Errorf("%s of %d items: Apply is not exact (%v)", name, n, err)
				}
			}
		}
	}
	// Everything moved: the work is bounded and the patch is still right.
	n := 20_000
	items := list(n, func(i int) string { return fmt.Sprint(i) })
	back := list(n, func(i int) string { return fmt.Sprint(n - 1 - i) })
	d := projection.Diff(join(items), join(back), projection.Identity{})
	if got, err := projection.Apply(join(items), d.Patches); err != nil || !sameJSON(string(got), string(join(back))) {
		t.Errorf("reversing %d items: Apply is not exact (%v)", n, err)
	}
}

func TestApply(t *testing.T) {
	for _, tt := range []struct{ name, doc, patch, want, message string }{
		// Appendix A of RFC 6902.
		{
			name:  "A1 add a member",
			doc:   `{"foo":"bar"}`,
			patch: `[{"op":"add","path":"/baz","value":"qux"}]`,
			want:  `{"foo":"bar","baz":"qux"}`,
		},
		{
			name:  "A2 add an item",
			doc:   `{"foo":["bar","baz"]}`,
			patch: `[{"op":"add","path":"/foo/1","value":"qux"}]`,
			want:  `{"foo":["bar","qux","baz"]}`,
		},
		{
			name:  "A3 remove a member",
			doc:   `{"baz":"qux","foo":"bar"}`,
			patch: `[{"op":"remove","path":"/baz"}]`,
			want:  `{"foo":"bar"}`,
		},
		{
			name:  "A4 remove an item",
			doc:   `{"foo":["bar","qux","baz"]}`,
			patch: `[{"op":"remove","path":"/foo/1"}]`,
			want:  `{"foo":["bar","baz"]}`,
		},
		{
			name:  "A5 replace",
			doc:   `{"baz":"qux","foo":"bar"}`,
			patch: `[{"op":"replace","path":"/baz","value":"boo"}]`,
			want:  `{"baz":"boo","foo":"bar"}`,
		},
		{
			name:  "A6 move a value",
			doc:   `{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}`,
			patch: `[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]`,
			want:  `{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}`,
		},
		{
			name:  "A7 move an item",
			doc:   `{"foo":["all","grass","cows","eat"]}`,
			patch: `[{"op":"move","from":"/foo/1","path":"/foo/3"}]`,
			want:  `{"foo":["all","cows","eat","grass"]}`,
		},
		{
			name:  "A8 test",
			doc:   `{"baz":"qux","foo":["a",2,"c"]}`,
			patch: `[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]`,
			want:  `{"baz":"qux","foo":["a",2,"c"]}`,
		},
		{
			name:    "A9 test fails",
			doc:     `{"baz":"qux"}`,
			patch:   `[{"op":"test","path":"/baz","value":"bar"}]`,
			message: "operation 0",
		},
		{
			name:  "A10 nested member",
			doc:   `{"foo":"bar"}`,
			patch: `[{"op":"add","path":"/child","value":{"grandchild":{}}}]`,
			want:  `{"foo":"bar","child":{"grandchild":{}}}`,
		},
		{
			name:  "A11 unknown members",
			doc:   `{"foo":"bar"}`,
			patch: `[{"op":"add","path":"/baz","value":"qux","xyz":123}]`,
			want:  `{"foo":"bar","baz":"qux"}`,
		},
		{
			name:    "A12 nonexistent target",
			doc:     `{"foo":"bar"}`,
			patch:   `[{"op":"add","path":"/baz/bat","value":"qux"}]`,
			message: "not there",
		},
		{
			name:  "A14 escapes",
			doc:   `{"/":9,"~1":10}`,
			patch: `[{"op":"test","path":"/~01","value":10}]`,
			want:  `{"/":9,"~1":10}`,
		},
		{
			name:    "A15 text is not a number",
			doc:     `{"/":9,"~1":10}`,
			patch:   `[{"op":"test","path":"/~01","value":"10"}]`,
			message: "another value",
		},
		{
			name:  "A16 append",
			doc:   `{"foo":["bar"]}`,
			patch: `[{"op":"add","path":"/foo/-","value":["abc","def"]}]`,
			want:  `{"foo":["bar",["abc","def"]]}`,
		},
		{
			name:  "copy",
			doc:   `{"a":{"b":[1]}}`,
			patch: `[{"op":"copy","from":"/a","path":"/c"},{"op":"add","path":"/c/b/0","value":0}]`,
			want:  `{"a":{"b":[1]},"c":{"b":[0,1]}}`,
		},
		{name: "add replaces the whole", doc: `{"a":1}`, patch: `[{"op":"add","path":"","value":[1]}]`, want: `[1]`},
		{name: "add to nothing", doc: ``, patch: `[{"op":"add","path":"","value":1}]`, want: `1`},
		{
			name:  "array indexes come first",
			doc:   `{"b":1}`,
			patch: `[{"op":"add","path":"/2","value":2},{"op":"add","path":"/1","value":3}]`,
			want:  `{"1":3,"2":2,"b":1}`,
		},
		{
			name:    "into itself",
			doc:     `{"a":{"b":1}}`,
			patch:   `[{"op":"move","from":"/a","path":"/a/b"}]`,
			message: "into itself",
		},
		{
			name:  "onto itself",
			doc:   `{"a":{"b":1}}`,
			patch: `[{"op":"move","from":"/a","path":"/a"}]`,
			want:  `{"a":{"b":1}}`,
		},
		{name: "leading zero", doc: `[1,2]`, patch: `[{"op":"replace","path":"/01","value":1}]`, message: "not there"},
		{name: "beyond the end", doc: `[1]`, patch: `[{"op":"add","path":"/2","value":1}]`, message: "not there"},
		{
			name:    "end is nothing to replace",
			doc:     `[1]`,
			patch:   `[{"op":"replace","path":"/-","value":1}]`,
			message: "not there",
		},
		{name: "bad pointer", doc: `[1]`, patch: `[{"op":"remove","path":"0"}]`, message: "no JSON pointer"},
		{name: "bad escape", doc: `[1]`, patch: `[{"op":"remove","path":"/~2"}]`, message: "no JSON pointer"},
		{name: "no value", doc: `[1]`, patch: `[{"op":"add","path":"/0"}]`, message: "no value"},
		{name: "unknown operation", doc: `[1]`, patch: `[{"op":"spam","path":"/0"}]`, message: "none of"},
		{name: "no array", doc: `[1]`, patch: `{}`, message: "not an array"},
		{name: "no JSON", doc: `[1`, patch: `[]`, message: "not JSON"},
		{name: "copies that grow without end", doc: `{"a":[0,0,0,0]}`, patch: "[" + strings.Repeat(
			`{"op":"copy","from":"/a","path":"/a/0"},`, 60,
		) + `{"op":"test","path":"","value":1}]`, message: "copies too much"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := projection.Apply(json.RawMessage(tt.doc), json.RawMessage(tt.patch))
			if tt.message != "" {
				if fault.CodeOf(err) != fault.InvalidInput || !strings.Contains(err.Error(), tt.message) {
					t.Errorf(
						"Apply(%s, %s): %s, %v; want invalid_input with %q", tt.doc, tt.patch, got, err, tt.message,
					)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("Apply(%s, %s) = %s, %v; want %s", tt.doc, tt.patch, got, err, tt.want)
			}
		})
	}
}

func FuzzDiff(f *testing.F) {
	for _, s := range []string{
		`{}`, `[1,2,3]`, `[3,1,2]`, `{"a":[{"id":1}]}`, `"\ud800"`, `-0`, `1e400`, `{"1":1,"a":2}`,
	} {
		f.Add([]byte(s), []byte(`[1,{"a":2}]`))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		if projection.Hash(before) == "" || projection.Hash(after) == "" {
			return // not JSON
		}
		d := projection.Diff(before, after, projection.Identity{})
		got, err := projection.Apply(before, d.Patches)
		if err != nil {
			t.Fatalf("%s → %s: %v with %s", before, after, err, d.Patches)
		}
		if e := projection.Diff(got, after, projection.Identity{}); string(e.Patches) != "[]" {
			t.Fatalf("%s → %s: %s gave %s", before, after, d.Patches, got)
		}
	})
}

// A thing without title, name or id is called what x_identity recognises it by,
// in a replaced field too.
func TestTitleByIdentity(t *testing.T) {
	id := identity(t, `{"/trains":"/to/code","/trains/*/stops":"at"}`)
	d := projection.Diff(
		json.RawMessage(
			`{"trains":[{"to":{"code":"HE"},"p":1,"stops":[{"at":3}]},{"to":{"code":"UW"},"stops":[]}],"tags":["a"]}`,
		),
		json.RawMessage(
			`{"trains":[{"to":{"code":"HE"},"p":2,"stops":[]},{"to":{"code":"F"},"stops":[]}],"tags":["a","b"]}`,
		), id)
	var deltas []struct {
		Type   string
		Path   string
		Entity struct {
			Kind  string
			Title any
		}
	}
	if err := json.Unmarshal(d.Semantic, &deltas); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range deltas {
		got = append(got, fmt.Sprintf("%s %s %s %v", s.Type, s.Path, s.Entity.Kind, s.Entity.Title))
	}
	want := []string{
		"entity_removed /trains/1 train UW",
		"field_replaced /trains/0/p train HE",
		"entity_removed /trains/0/stops/0 stop 3",
		"entity_added /trains/1 train F",
		"entity_added /tags/1 tag <nil>",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
