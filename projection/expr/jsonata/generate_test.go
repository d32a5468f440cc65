package jsonata

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator makes expressions as site maps could hold them, and some that only
// a hostile or confused author would write. The same seed gives the same row.
type generator struct {
	*rand.Rand
	vars []string
	wide bool // also what authors seldom write, see wideExpr
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 7))}
}

func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

var differentialContexts = []string{
	`{"input":{"title":"Fix login bug","count":3,"n":4,"items":["a","b","c"],"flag":false,"none":null,"tags":[],` +
		`"empty":""},"steps":{"find":{"output":{"x":10,"clickable_center":{"x":120.5,"y":44},"visible":true,` +
		`"candidates":[{"text":"Open","box":{"top":500,"left":3}},{"text":"Close","box":{"top":20,"left":-3.25}}]}},` +
		`"gone":{"output":{"match_count":0,"matches":[]}},"nullish":{"output":{"clickable_center":null,"text":null}},` +
		`"page":{"output":{"status":200,"body":{"items":[{"id":1,"name":"one","price":9.99,"tags":["x","y"]},` +
		`{"id":2,"name":"two","price":19.5,"tags":[]},{"id":3,"name":"three","price":0.1,"tags":["y"]}],` +
		`"next":null}}}},"item":{"selector":"#row-2","text":"Row 2"},"index":1}`,
	`{"url":"https://example.com/b/abc","title":"Board | App","records":{"projects":[{"title":"Alpha",` +
		`"href":"/p/alpha","stars":"1,204"},{"title":"Beta","href":"/p/beta","stars":"88"},{"title":"Gamma",` +
		`"href":"/p/gamma","stars":""}],"one":[{"title":"Solo"}],"empty":[],"single":{"title":"Obj"},` +
		`"lists":[{"name":"Backlog","cards":[{"title":"Fix login bug","url":"/c/1","labels":["bug","p1"],` +
		`"due_date":null},{"title":"Write docs","url":"/c/2","labels":[],"due_date":"Jun 12"}]},{"name":"Doing",` +
		`"cards":[{"title":"Ship it","url":"/c/3","labels":["ops"]}]},{"name":"Done","cards":[]}],` +
		`"rows":[{"cells":["Name","Qty"]},{"cells":["Apple","3"]},{"cells":["Pear","10"]}],"nested":[[1,2],[3,[4,5]],` +
		`[]]},"state":{"text":"say hello there","n":[3,1,2],"unicode":"Ünïcödé 😀 test"}}`,
	`[{"k":1,"m":[{"o":1},{"o":2}],"s":"b"},{"k":2,"m":{"o":3},"s":"a"},{"k":2,"m":[],"s":null},{"k":3,"s":"c",` +
		`"m":[{"o":[4,5]}]}]`,
	`{"a":{"b":[{"c":1,"d":"x"},{"c":2,"d":"y"},{"c":2}],"1":"one","0":"zero"},"b":[1,2,3,3],"c":"text","d":null,` +
		`"e":[],"f":{},"g":true,"h":-1.5,"i":[[1],[2,[3]]],"j":[{"c":5}]}`,
}

var names = []string{
	"input", "title", "items", "steps", "find", "output", "candidates", "text", "box", "top", "gone", "matches",
	"nullish", "clickable_center", "page", "body", "price", "tags", "name", "id", "records", "lists", "cards", "labels",
	"due_date", "projects", "stars", "one", "empty", "single", "rows", "cells", "nested", "state", "n", "k", "m", "o",
	"s", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "none", "flag", "count", "index", "item", "missing",
	"unicode",
}

var goodPaths = []string{
	"input.title", "input.items", "steps.find.output.candidates", "steps.page.output.body.items",
	"steps.page.output.body.items.price", "records.lists", "records.lists.cards", "records.lists.cards.labels",
	"records.projects", "records.projects.title", "records.rows.cells", "records.nested", "state.n", "state.text",
	"state.unicode", "k", "m", "m.o", "s", "a.b", "a.b.c", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
	"records.one", "records.empty", "records.single.title", "steps.gone.output.matches", "steps.nullish.output.text",
	"input.none", "input.flag", "input.count", "missing.path",
}

func (g *generator) name() string {
	n := pick(g, names...)
	switch g.IntN(30) {
	case 0:
		return "`" + n + "`"
	case 1:
		return `"` + n + `"`
	}
	return n
}

func (g *generator) number() string {
	return pick(g, "0", "1", "2", "-1", "3", "10", "1.5", "-2.5", "0.1", "100", "1e3", "2.5", "12345.678")
}

func (g *generator) text() string {
	return pick(
		g, `"a"`, `"b"`, `""`, `" x  y "`, `"Fix login bug"`, `"1,204"`, `"12"`, `"é😀z"`,
		`"a,b;c"`, `"hello"`, `"2026-07-01"`, `"\n"`, `'it'`, `"ABC"`, `"-3.5"`, `"true"`,
	)
}

func (g *generator) regex() string {
	return pick(
		g, `/a/`, `/[a-z]+/i`, `/\d+/`, `/(\w)(\w)?/`, `/\s+/`, `/^F/m`,
		`/o(?=g)/`, `/(a)|(b)/`, `/[^,]+/`, `/b$/`, `/(?<!x)e/`,
	)
}

func (g *generator) variable() string {
	if len(g.vars) > 0 && g.IntN(4) > 0 {
		return pick(g, g.vars...)
	}
	return pick(g, "$", "$$", "$x", "$missing")
}

// bound runs f while a variable is in scope.
func (g *generator) bound(names []string, f func() string) string {
	n := len(g.vars)
	g.vars = append(g.vars, names...)
	s := f()
	g.vars = g.vars[:n]
	return s
}

func (g *generator) path(d int) string {
	var b strings.Builder
	switch g.IntN(8) {
	case 0:
		b.WriteString(g.variable())
	case 1:
		b.WriteString(g.name())
	case 2:
		if d > 0 {
			b.WriteString("(" + g.expr(d-1) + ")")
			break
		}
		fallthrough
	default:
		b.WriteString(pick(g, goodPaths...))
	}
	for i := g.IntN(3); i > 0; i-- {
		b.WriteString(g.suffix(d))
	}
	return b.String()
}

func (g *generator) suffix(d int) string {
	if d <= 0 {
		return pick(g, "."+g.name(), "[0]", "[-1]", "[]", "."+g.name(), "[1]")
	}
	switch g.IntN(24) {
	case 0, 1, 2:
		return "." + g.name()
	case 3:
		return "[" + g.number() + "]"
	case 4:
		return "[]"
	case 5, 6:
		return "[" + g.expr(d-1) + "]"
	case 7:
		return "[" + g.name() + pick(g, "=", "!=", ">", "<") + g.atom(d-1) + "]"
	case 8:
		return ".*"
	case 9:
		return ".**"
	case 10:
		return ".(" + g.expr(d-1) + ")"
	case 11:
		return "." + g.object(d-1)
	case 12:
		return g.object(d - 1)
	case 13:
		return "^(" + pick(g, "", "<", ">") + pick(g, g.name(), "$", g.expr(d-1)) + ")"
	case 14:
		return ".[" + g.expr(d-1) + "]"
	case 15:
		return ".%"
	case 16:
		return "." + g.name() + ".%." + g.name()
	case 17:
		v := pick(g, "$i", "$p")
		return "#" + v + g.bound([]string{v}, func() string { return g.suffix(d-1) + g.suffix(d-1) })
	case 18:
		v := pick(g, "$v", "$w")
		return "@" + v + g.bound([]string{v}, func() string { return g.suffix(d-1) + g.suffix(d-1) })
	case 19:
		return "." + pick(
			g, "$string()", "$uppercase()", "$keys()", "$length()", "$type($)",
			"$count($)", "$substring(1)", "$number()", "$trim()", "$spread()",
		)
	case 20:
		return "[%." + g.name() + "=" + g.atom(d-1) + "]"
	case 21:
		return "." + g.name() + "[" + pick(g, "[0,1]", "[0..1]", "$$.index", "-2") + "]"
	case 22:
		return ".{" + `"v": $, "n": ` + g.name() + "}"
	}
	return "." + g.name() + "[]"
}

func (g *generator) atom(d int) string {
	switch g.IntN(9) {
	case 0:
		return g.number()
	case 1:
		return g.text()
	case 2:
		return pick(g, "true", "false", "null")
	case 3:
		return g.variable()
	case 4:
		return g.name()
	}
	return g.path(d - 1)
}

func (g *generator) object(d int) string {
	var parts []string
	for i := g.IntN(4); i >= 0; i-- {
		k := pick(g, `"a"`, `"b"`, `"c"`, `"z"`, `"10"`, `"2"`)
		if g.IntN(4) == 0 {
			k = pick(g, g.name(), "$string("+g.atom(d-1)+")", g.atom(d-1))
		}
		parts = append(parts, k+": "+g.expr(d-1))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (g *generator) lambda(d int, params ...string) string {
	return "function(" + strings.Join(params, ", ") + "){" + g.bound(params, func() string {
		return g.expr(d - 1)
	}) + "}"
}

func (g *generator) list(d int) string {
	return pick(
		g, g.path(d-1), g.path(d-1), "["+g.expr(d-1)+", "+g.expr(d-1)+"]",
		"[1..4]", "["+g.number()+","+g.number()+","+g.number()+"]",
	)
}

func (g *generator) call(d int) string {
	e := func() string { return g.expr(d - 1) }
	s := func() string { return pick(g, g.text(), g.path(d-1), g.text(), "$string("+g.expr(d-1)+")") }
	n := func() string { return pick(g, g.number(), g.number(), g.path(d-1)) }
	l := func() string { return g.list(d) }
	switch g.IntN(52) {
	case 0:
		return "$string(" + e() + pick(g, "", "", ", true") + ")"
	case 1:
		return "$length(" + s() + ")"
	case 2:
		return fmt.Sprintf("$substring(%s, %s%s)", s(), n(), pick(g, "", ", "+n()))
	case 3:
		return fmt.Sprintf(
			"$%s(%s, %s)",
			pick(g, "substringBefore", "substringAfter", "contains"), s(), pick(g, `"l"`, `" "`, `","`, s()),
		)
	case 4:
		return fmt.Sprintf("$%s(%s)", pick(g, "uppercase", "lowercase", "trim"), s())
	case 5:
		return fmt.Sprintf("$pad(%s, %s%s)", s(), pick(g, "5", "-8", n()), pick(g, "", `, "#"`, `, "ab"`))
	case 6:
		return fmt.Sprintf("$split(%s, %s%s)", s(), pick(g, `","`, `""`, `" "`, g.regex()), pick(g, "", ", 2", ", 0"))
	case 7:
		return fmt.Sprintf("$join(%s%s)", pick(g, l(), "$split("+s()+`, ",")`), pick(g, "", `, "-"`))
	case 8:
		return fmt.Sprintf("$match(%s, %s%s)", s(), g.regex(), pick(g, "", ", 1"))
	case 9:
		return fmt.Sprintf(
			"$replace(%s, %s, %s%s)",
			s(), g.regex(), pick(g, `"[$0]"`, `"$1-"`, `""`, g.lambda(d, "$m")), pick(g, "", ", 1"),
		)
	case 10:
		return "$contains(" + s() + ", " + g.regex() + ")"
	case 11, 12:
		return "$map(" + l() + ", " + pick(
			g, g.lambda(d, "$v"), g.lambda(d, "$v", "$i"), "$string",
			"$uppercase", "$count", g.lambda(d, "$v", "$i", "$a"),
		) + ")"
	case 13, 14:
		return "$filter(" + l() + ", " + pick(g, g.lambda(d, "$v"), g.lambda(d, "$v", "$i"), "$boolean", "$exists") +
			")"
	case 15:
		return "$reduce(" + l() + ", " +
			pick(g, g.lambda(d, "$p", "$v"), "function($p, $v){$p + $v}", "$append", "function($p, $v){$p & $v}") +
			pick(g, "", ", "+e()) + ")"
	case 16:
		return "$sort(" + l() + pick(g, "", ", "+pick(g, "function($l, $r){$l > $r}", g.lambda(d, "$l", "$r"))) + ")"
	case 17:
		return "$single(" + l() + pick(g, "", ", "+g.lambda(d, "$v")) + ")"
	case 18:
		return "$sift(" + pick(g, g.path(d-1), g.object(d-1)) + ", " +
			pick(g, g.lambda(d, "$v"), g.lambda(d, "$v", "$k")) + ")"
	case 19:
		return "$each(" + pick(g, g.path(d-1), g.object(d-1)) + ", " +
			pick(g, g.lambda(d, "$v"), g.lambda(d, "$v", "$k")) + ")"
	case 20:
		return fmt.Sprintf(
			"$%s(%s)",
			pick(g, "keys", "spread", "merge", "distinct", "reverse", "count", "exists", "type", "boolean", "not"), e(),
		)
	case 21:
		return fmt.Sprintf("$%s(%s)", pick(g, "sum", "max", "min", "average"), pick(g, l(), e()))
	case 22:
		return fmt.Sprintf("$%s(%s)", pick(g, "abs", "floor", "ceil", "sqrt", "round"), n())
	case 23:
		return fmt.Sprintf("$round(%s, %s)", n(), pick(g, "1", "2", "-1", "0"))
	case 24:
		return fmt.Sprintf("$power(%s, %s)", n(), pick(g, "2", "3", "0", "-1", "0.5"))
	case 25:
		return "$number(" + pick(g, s(), e(), n()) + ")"
	case 26:
		return "$lookup(" + e() + ", " + pick(g, `"a"`, `"title"`, s()) + ")"
	case 27:
		return "$append(" + e() + ", " + e() + ")"
	case 28:
		return "$zip(" + l() + ", " + l() + ")"
	case 29:
		return fmt.Sprintf(
			"$%s(%s)", pick(g, "base64encode", "encodeUrl", "encodeUrlComponent", "decodeUrlComponent"), s(),
		)
	case 30:
		return "$formatNumber(" + n() + ", " + pick(g, `"#,##0.00"`, `"0"`, `"0.0##"`, `"00.0e0"`, `"#%"`) + ")"
	case 31:
		return "$formatBase(" + n() + pick(g, "", ", 2", ", 16") + ")"
	case 32:
		return "$formatInteger(" + n() + ", " + pick(g, `"0"`, `"w"`, `"I"`, `"#,##0"`, `"A"`) + ")"
	case 33:
		return "$fromMillis(" + pick(g, "0", "1500000000000", n()) +
			pick(g, "", `, "[Y]-[M01]-[D01]"`, `, "[H]:[m] [FNn]"`) + ")"
	case 34:
		return "$toMillis(" + pick(g, `"2026-07-01T10:00:00Z"`, `"2026-07-01"`, s()) + ")"
	case 35:
		return "$assert(" + e() + pick(g, "", `, "no"`) + ")"
	case 36:
		return "$error(" + pick(g, "", s()) + ")"
	case 37:
		return g.path(d-1) + " ~> " + pick(
			g, "$string", "$count", "$uppercase()", "$sum()", "$map("+g.lambda(d, "$v")+")", "$keys", "$join(\"-\")",
			g.lambda(d, "$v"), "$count()", "$reverse()", "$filter("+g.lambda(d, "$v")+")", "$append(?, 1)",
		)
	case 38:
		return "(" + e() + " ~> |" + pick(g, "$", g.name(), g.path(d-1)) + "|" + g.object(d-1) +
			pick(g, "", `, "title"`, `, ["a", "b"]`) + "|)"
	case 39:
		return "(" + g.lambda(d, "$v", "$w") + ")(" + e() + pick(g, "", ", "+e()) + ")"
	case 40:
		return "($f := " + g.lambda(d, "$v") + "; $f(" + e() + "))"
	case 41:
		return "$substring(?, 1)(" + g.text() + ")"
	case 42:
		return "($f := function($v){$v > 0 ? $f($v - 1) : " + e() + "}; $f(3))"
	case 43:
		return "($f := function($v){$v > 0 ? $v + $f($v - 1) : 0}; $f(" + pick(g, "3", "25", g.text()) + "))"
	case 44:
		return "(function($v)<" + pick(g, "n", "s", "n?", "a<n>", "a", "x", "(ns)", "b", "o", "s-") + ":x>{$v})(" +
			e() + ")"
	case 45:
		return "$parseInteger(" + s() + ", " + pick(g, `"0"`, `"w"`, `"I"`) + ")"
	}
	return g.path(d)
}

func (g *generator) expr(d int) string {
	if d <= 0 {
		return g.atom(0)
	}
	if g.wide && g.IntN(3) == 0 {
		return g.wideExpr(d)
	}
	switch g.IntN(26) {
	case 0, 1, 2, 3, 4:
		return g.path(d)
	case 5, 6, 7, 8, 9, 10:
		return g.call(d)
	case 11:
		return g.object(d)
	case 12:
		return "[" + g.expr(d-1) + pick(g, "", ", "+g.expr(d-1), ", "+g.expr(d-1)+", "+g.number()) + "]"
	case 13:
		return g.expr(d-1) + " " + pick(g, "+", "-", "*", "/", "%") + " " + g.expr(d-1)
	case 14:
		return g.expr(d-1) + " " + pick(g, "=", "!=", "<", "<=", ">", ">=", "in") + " " + g.expr(d-1)
	case 15:
		return g.expr(d-1) + " " + pick(g, "and", "or") + " " + g.expr(d-1)
	case 16, 17:
		return g.expr(d-1) + " & " + g.expr(d-1)
	case 18:
		return g.expr(d-1) + " ? " + g.expr(d-1) + pick(g, " : "+g.expr(d-1), "")
	case 19:
		return g.expr(d-1) + pick(g, " ?? ", " ?: ") + g.expr(d-1)
	case 20:
		v := pick(g, "$x", "$y")
		return "(" + v + " := " + g.expr(d-1) + "; " + g.bound([]string{v}, func() string {
			return g.expr(d - 1)
		}) + ")"
	case 21:
		return "(" + g.expr(d-1) + ")" + g.suffix(d-1)
	case 22:
		return "-" + g.atom(d-1)
	case 23:
		return "[" + pick(g, "0", "1", g.atom(d-1)) + ".." + pick(g, "3", g.atom(d-1)) + "]"
	}
	return g.atom(d)
}
