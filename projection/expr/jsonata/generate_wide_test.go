package jsonata

import (
	"fmt"
	"strings"
)

// The wide half of the generator goes where authors seldom do: any builtin with
// any arguments, signatures, pictures, patterns, random data and torn text.

// wideCase is an expression with the input it is meant for.
func wideCase(seed uint64) (expr, input string) {
	g := newGenerator(seed)
	g.wide = true
	input = pick(g, differentialContexts...)
	if g.IntN(3) == 0 {
		input = g.data(3)
	}
	expr = g.expr(1 + g.IntN(4))
	switch g.IntN(12) {
	case 0:
		expr = g.torn(expr)
	case 1:
		expr = g.spaced(expr)
	}
	return expr, input
}

var widePieces = []string{
	"(", ")", "[", "]", "{", "}", "$", "%", "@$i", "#$j", ".", "**", "*", "~>", "?", ":", ":=", "'", `"`, "/", "|",
	"^(", "..", "function($x){", "λ($x){$x}", "[]", ";", ",", "-", "1e9", "&", "and", "in", "or", "??", "?:", "!=",
	"<", ">", "=", "`a b`", "0", `\`, "1.", ".5", "@", "#", "é", "null", "/a/i", "!", "~", "/* c */", "/*",
}

// torn damages the text of an expression, so that both parsers have to complain.
func (g *generator) torn(s string) string {
	b := []rune(s)
	for n := 1 + g.IntN(2); n > 0; n-- {
		at := g.IntN(len(b) + 1)
		switch g.IntN(4) {
		case 0, 1:
			b = append(b[:at:at], append([]rune(pick(g, widePieces...)), b[at:]...)...)
		case 2:
			b = append(b[:at:at], b[min(len(b), at+1+g.IntN(3)):]...)
		default:
			b = b[:at]
		}
	}
	return string(b)
}

// spaced puts blanks and comments where they must not matter.
func (g *generator) spaced(s string) string {
	var b strings.Builder
	quote := rune(0)
	for _, r := range s {
		if quote != 0 && r == quote {
			quote = 0
		} else if quote == 0 && strings.ContainsRune("\"'`/", r) {
			quote = r
		}
		b.WriteRune(r)
		if quote == 0 && strings.ContainsRune("(),[]{};", r) && g.IntN(3) == 0 {
			b.WriteString(pick(g, " ", "\n", "\t", " /* a ) comment */ ", "/**/"))
		}
	}
	return b.String()
}

// data is JSON whose members have the names that paths look for.
func (g *generator) data(d int) string {
	if d <= 0 || g.IntN(6) == 0 {
		return pick(
			g, "0", "1", "-1", "2", "2.5", "1e21", "1e-7", "9007199254740993", "-0", "123456789.123", `"a"`, `"b"`,
			`""`, `"12"`, `"é😀z"`, `"x y"`, `"Fix login bug"`, `"\u0000\ud800"`, "true", "false", "null", "[]", "{}",
		)
	}
	var parts []string
	if g.IntN(2) == 0 {
		for i := g.IntN(5); i > 0; i-- {
			parts = append(parts, g.data(d-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	seen := map[string]bool{}
	for i := g.IntN(6); i > 0; i-- {
		k := pick(
			g,
			"a", "b",
			"c", "d",
			"e", "k",
			"m", "o",
			"s", "title",
			"items", "name",
			"10", "2",
			"length", "x y",
			"input", "records",
			"tags", "price",
		)
		if !seen[k] {
			seen[k] = true
			parts = append(parts, fmt.Sprintf("%q:%s", k, g.data(d-1)))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// wideNames are the builtins whose answers are the same each time.
var wideNames = []string{
	"sum", "count", "max", "min", "average", "string", "substring", "substringBefore", "substringAfter", "lowercase",
	"uppercase", "length", "trim", "pad", "match", "contains", "replace", "split", "join", "formatNumber", "formatBase",
	"formatInteger", "parseInteger", "number", "floor", "ceil", "round", "abs", "sqrt", "power", "boolean", "not",
	"map", "zip", "filter", "single", "reduce", "sift", "keys", "lookup", "append", "exists", "spread", "merge",
	"reverse", "each", "error", "assert", "type", "sort", "distinct", "base64encode", "base64decode",
	"encodeUrlComponent", "encodeUrl", "decodeUrlComponent", "decodeUrl", "toMillis", "fromMillis", "clone",
}

func (g *generator) wideArg(d int) string {
	switch g.IntN(14) {
	case 0:
		return g.number()
	case 1, 2:
		return g.text()
	case 3:
		return g.wideRegex()
	case 4:
		return g.lambda(d, pick(g, "$v", "$a"))
	case 5:
		return g.lambda(d, "$v", "$w")
	case 6:
		return "$" + pick(g, wideNames...)
	case 7:
		return pick(
			g, "true", "false", "null", "[]", "{}", "$missing", "[[]]", "[null]",
			"[1,2,3]", `["a","b"]`, `[1,"a"]`, `[{"a":1},{"a":2}]`, `{"a":1,"b":[2]}`,
		)
	case 8:
		return g.list(d)
	case 9:
		return pick(
			g, "1e21", "1e-7", "0.1+0.2", "-0", "9007199254740993", "1/3", "255",
			"1000000", "12.345", "-2.5", "0.5", "1e300*10", "4294967296", "99.995",
		)
	case 10:
		return pick(
			g, `"\u00e9\ud83d\ude00"`, `"%F0%9F%98%80"`, `"%zz"`, `"a+b c&d=é"`, `"SGVsbG8="`, `"0x1F"`,
			`"0b11"`, `"1e3"`, `" 12 "`, `"١٢"`, `"XIV"`, `"twenty-one"`, `"ÀÉ"`, `"ß"`, `"a\tb\nc"`,
		)
	}
	return g.expr(d - 1)
}

func (g *generator) wideCall(d int) string {
	name := pick(g, wideNames...)
	var args []string
	for i := g.IntN(4); i > 0; i-- {
		args = append(args, g.wideArg(d))
	}
	if g.IntN(12) == 0 && len(args) > 0 {
		args[g.IntN(len(args))] = "?"
		more := ""
		if g.IntN(3) > 0 {
			more = "(" + g.wideArg(d) + pick(g, "", ", "+g.wideArg(d)) + ")"
		}
		return "$" + name + "(" + strings.Join(args, ", ") + ")" + more
	}
	call := "$" + name + "(" + strings.Join(args, ", ") + ")"
	switch g.IntN(8) {
	case 0:
		return g.wideArg(d) + " ~> " + call
	case 1:
		return g.path(d-1) + "." + call
	}
	return call
}

func (g *generator) wideSignature() string {
	var b strings.Builder
	for i := g.IntN(4); i > 0; i-- {
		b.WriteString(pick(
			g, "s", "n", "b", "l", "o", "a", "f", "j", "x", "(ns)",
			"(sao)", "a<n>", "a<s>", "f<s:n>", "a<a<n>>", "a<x>",
		))
		b.WriteString(pick(g, "", "", "", "?", "-", "+"))
	}
	return "<" + b.String() + pick(g, "", ":n", ":x", ":a<n>") + ">"
}

func (g *generator) wideRegex() string {
	atom := func() string {
		return pick(
			g, "a", "b", "o", "e", ".", `\d`, `\w`, `\s`, `\S`, `\W`, "[a-f]", "[^a]", "(o)", "(?:ab|l)", "(a|b)",
			`\b`, "^", "$", "(?=g)", "(?!x)", "(?<=l)", `(\w)\1`, "é", `\u00e9`, `[\d,]`, `(?<n>l)`, `\/`, "-", " ",
		)
	}
	var b strings.Builder
	for i := 1 + g.IntN(3); i > 0; i-- {
		a := atom()
		b.WriteString(a)
		if strings.HasPrefix(a, "(?") && g.IntN(20) > 0 || a == "^" || a == "$" || a == `\b` {
			continue // nothing to repeat
		}
		b.WriteString(pick(g, "", "", "", "*", "+", "?", "{1,2}", "+?", "*?", "{2}"))
	}
	if g.IntN(6) == 0 {
		b.WriteString("|" + atom())
	}
	return "/" + b.String() + "/" + pick(g, "", "", "i", "m", "im")
}

func (g *generator) widePicture() string {
	n := pick(
		g,
		"0", "1",
		"-1", "12345.678",
		"0.005", "1e6",
		"-0.5", "99.995",
		"1234567.891", "0.1",
		"12", "1e21",
		"0.00001234", g.number(),
	)
	switch g.IntN(6) {
	case 0, 1:
		var b strings.Builder
		for i := 1 + g.IntN(5); i > 0; i-- {
			b.WriteString(pick(g, "0", "#", ",", ".", "0", "00", "##", "#,##0", "0.0#", ";", "%", "e0", "-", "x", "‰"))
		}
		opt := ""
		if g.IntN(4) == 0 {
			opt = pick(
				g, `, {"decimal-separator": ",", "grouping-separator": "."}`,
				`, {"minus-sign": "~"}`, `, {"zero-digit": "٠"}`, `, {"percent": "pc"}`,
			)
		}
		return fmt.Sprintf("$formatNumber(%s, %q%s)", n, b.String(), opt)
	case 2:
		return fmt.Sprintf(
			"$formatInteger(%s, %q)", pick(g, "0", "1", "-7", "12", "123", "1999", "1234567", "1e10", "2.7", "-0.5"),
			pick(
				g, "0", "000", "w", "W", "Ww", "w;o", "Ww;o", "i", "I", "a", "A",
				"#,##0", "0;o", "#,##,##0", "٠", "#", "0,0", "x", "", "w;c", "#:000",
			),
		)
	case 3:
		return fmt.Sprintf("$parseInteger(%s, %q)", pick(
			g, `"12"`, `"1,234"`, `"twelve"`, `"One Hundred"`, `"twenty-first"`,
			`"xiv"`, `"MCM"`, `"aa"`, `"Z"`, `""`, `"x"`, `"12th"`, `"-5"`,
		), pick(g, "0", "000", "w", "W", "Ww", "w;o", "i", "I", "a", "A", "#,##0", "0;o", "#", "x"))
	case 4:
		var b strings.Builder
		for i := 1 + g.IntN(4); i > 0; i-- {
			b.WriteString("[" + pick(
				g, "Y", "Y0001", "Y,2", "M", "M01", "MNn", "MNn,3-3", "MN", "D", "D01", "D1o", "d", "d001", "F",
				"FNn", "FN,3", "F0", "W", "w", "X", "H", "H01", "h", "P", "PN", "Pn", "m", "m01", "s", "s01",
				"f", "f001", "f1", "Z", "Z0101t", "z", "C", "E", "YI", "Dw", "Q", "Y0,3-3", "Dwo", "M9",
			) + "]")
			b.WriteString(pick(g, "", "-", " ", ":", "/", "[[", "]]"))
		}
		return fmt.Sprintf("$fromMillis(%s, %q%s)", pick(
			g, "0", "1500000000000", "1583020800000", "-1", "951782400000", "253402300799999", "1.5", "1609459199999",
		), b.String(), pick(g, "", "", `, "+0100"`, `, "-0530"`, `, "x"`, `, "0000"`))
	}
	return fmt.Sprintf("$toMillis(%s, %q)", pick(
		g, `"2026-07-01"`, `"2018-02-03T04:05:06.789Z"`, `"01/02/2020"`, `"3rd March 2017"`, `"Mon, 12 Nov 2018"`,
		`"12:34 pm"`, `"2020-060"`, `"x"`, `"April 5, 1999"`, `"2020-W10-3"`, `"1 Jan 2020 10:20:30 GMT+02:00"`,
	),
		pick(
			g, "[Y]-[M]-[D]", "[Y0001]-[M01]-[D01]", "[M]/[D]/[Y]", "[D1o] [MNn] [Y]",
			"[FNn,*-3], [D] [MNn,*-3] [Y]", "[h]:[m] [P]", "[Y]-[d]", "[MNn] [D], [Y]", "[X]-W[W]-[F]",
			"[D] [MNn,*-3] [Y] [H]:[m]:[s] [z]", "[Y]", "[H01]:[m01]", "[Y]-[M]-[D]T[H]:[m]:[s].[f]Z",
		))
}

func (g *generator) wideExpr(d int) string {
	e := func() string { return g.expr(d - 1) }
	switch g.IntN(18) {
	case 0, 1, 2, 3:
		return g.wideCall(d)
	case 4:
		return g.widePicture()
	case 5:
		return pick(g,
			"$match("+g.text()+", "+g.wideRegex()+pick(g, "", ", 1", ", 0", ", 2")+")",
			"$replace("+g.text()+", "+g.wideRegex()+`, `+
				pick(g, `"[$1$0$$$2]"`, `"$10$11"`, `"$"`, `""`, g.lambda(d, "$m"))+pick(g, "", ", 2", ", 0")+")",
			"$split("+g.text()+", "+g.wideRegex()+pick(g, "", ", 2")+")",
			"$contains("+g.text()+", "+g.wideRegex()+")",
			g.wideRegex()+"("+g.text()+")."+pick(g, "match", "start", "groups", "next().match", "end"))
	case 6:
		var args []string
		for i := g.IntN(4); i > 0; i-- {
			args = append(args, g.wideArg(d))
		}
		var params []string
		for i, n := 0, g.IntN(4); i < n; i++ {
			params = append(params, fmt.Sprintf("$p%d", i))
		}
		return pick(g, "", g.path(d-1)+".") + "(function(" + strings.Join(params, ",") + ")" + g.wideSignature() +
			"{[" + strings.Join(params, ",") + "]})(" + strings.Join(args, ", ") + ")"
	case 7:
		p := g.path(d - 1)
		return p + "@$f" + g.bound([]string{"$f"}, func() string {
			return pick(g, "", "["+e()+"]") + pick(g, "#$q", "") + pick(g, ".", "@$g.") + pick(g, goodPaths...) +
				pick(g, "", "["+e()+"]", ".{\"f\": $f, \"v\": $}", "^("+e()+")", "{"+g.text()+": $f}")
		})
	case 8:
		return g.path(d-1) + "^(" + pick(g, "", "<", ">") + g.name() + ", " + pick(g, "", "<", ">") + e() + ")" +
			pick(g, "", "[0]", "."+g.name(), "{"+g.name()+": $}", "#$i.{\"i\":$i}")
	case 9:
		return g.path(d-1) + "{" + pick(g, g.name(), "$string("+g.name()+")", g.text()) + ": " +
			pick(g, "$", e(), "$count($)", g.name(), "$sum("+g.name()+")") + pick(g, "", ", "+g.text()+": "+e()) + "}" +
			pick(g, "", "."+g.name(), ".*", " ~> $keys()")
	case 10:
		return "(" + e() + ").(%." + g.name() + pick(g, "", ".%."+g.name()) + ")"
	case 11:
		return g.path(d-1) + "." + g.name() + pick(
			g, ".%", ".%.%", "[%."+g.name()+pick(g, "=", ">", " in ")+e()+"]",
			"."+g.name()+".{\"up\": %."+g.name()+", \"top\": %.%."+g.name()+"}",
		)
	case 12:
		f := pick(g, "$f", "$g")
		return "(" + f + " := " + g.lambda(d, "$v", "$w") + "; " + g.bound([]string{f}, func() string {
			return pick(
				g, f+"("+e()+", ?)("+e()+")", f+"(?, "+e()+")("+e()+")",
				"("+f+" ~> "+pick(g, "$string", "$count", f)+")("+e()+")",
				"$map("+g.list(d)+", "+f+")", e()+" ~> "+f, f+"("+e()+")", "$type("+f+")",
			)
		}) + ")"
	case 13:
		return "$eval(" + fmt.Sprintf("%q", pick(g, goodPaths...)) + pick(g, "", ", "+e()) + ")"
	case 14:
		return "(" + e() + " ~> |" +
			pick(g, "**", "*", g.path(d-1), "$.**["+g.name()+"]", "**."+g.name(), "$["+e()+"]") + "|" +
			pick(g, g.object(d-1), "{}", e(), "{"+g.text()+": "+e()+"}") +
			pick(g, "", ", "+pick(g, `"a"`, `["b","k"]`, e(), "1")) + "|)"
	case 15:
		return "$" + pick(g, "map", "filter", "sift", "each", "reduce", "sort", "single") + "(" + g.wideArg(d) + ", " +
			pick(
				g, "$"+pick(g, wideNames...), g.lambda(d, "$v", "$i", "$a"),
				g.lambda(d, "$v"), "$append(?, 1)", "$substring(?, 1)", "$lookup(?, \"a\")",
			) + ")"
	case 16:
		return "(" + e() + "; " + pick(g, "$x", "$y", "$string") + " := " + e() + "; " + e() + ")"
	}
	v := g.number()
	return pick(g, v+" in ", e()+" in ", e()+" = ", e()+" < ", e()+" & ", e()+" and ") + e()
}
