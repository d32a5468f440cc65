package jsonata

// library lists every builtin function once. The signatures are those that
// jsonata-js shows for its functions; arity is how many arguments its
// higher-order functions pass when one is used as a callback.
var library map[string]*builtin

func builtinByName(name string) *builtin { return library[name] }

type libraryEntry struct {
	name, sig string
	arity     int
	call      func(ev *evaluator, args []value, context value) (value, error)
}

func init() {
	entries := []libraryEntry{
		{"sum", "<a<n>:n>", 1, fnSum},
		{"count", "<a:n>", 1, fnCount},
		{"max", "<a<n>:n>", 1, fnMax},
		{"min", "<a<n>:n>", 1, fnMin},
		{"average", "<a<n>:n>", 1, fnAverage},
		{"string", "<x-b?:s>", 1, fnString},
		{"substring", "<s-nn?:s>", 3, fnSubstring},
		{"substringBefore", "<s-s:s>", 2, fnSubstringBefore},
		{"substringAfter", "<s-s:s>", 2, fnSubstringAfter},
		{"lowercase", "<s-:s>", 1, fnLowercase},
		{"uppercase", "<s-:s>", 1, fnUppercase},
		{"length", "<s-:n>", 1, fnLength},
		{"trim", "<s-:s>", 1, fnTrim},
		{"pad", "<s-ns?:s>", 3, fnPad},
		{"match", "<s-f<s:o>n?:a<o>>", 3, fnMatch},
		{"contains", "<s-(sf):b>", 2, fnContains},
		{"replace", "<s-(sf)(sf)n?:s>", 4, fnReplace},
		{"split", "<s-(sf)n?:a<s>>", 3, fnSplit},
		{"join", "<a<s>s?:s>", 2, fnJoin},
		{"formatNumber", "<n-so?:s>", 3, fnFormatNumber},
		{"formatBase", "<n-n?:s>", 2, fnFormatBase},
		{"formatInteger", "<n-s:s>", 2, fnFormatInteger},
		{"parseInteger", "<s-s:n>", 2, fnParseInteger},
		{"number", "<(nsb)-:n>", 1, fnNumber},
		{"floor", "<n-:n>", 1, fnFloor},
		{"ceil", "<n-:n>", 1, fnCeil},
		{"round", "<n-n?:n>", 2, fnRound},
		{"abs", "<n-:n>", 1, fnAbs},
		{"sqrt", "<n-:n>", 1, fnSqrt},
		{"power", "<n-n:n>", 2, fnPower},
		{"random", "<:n>", 0, fnRandom},
		{"boolean", "<x-:b>", 1, fnBoolean},
		{"not", "<x-:b>", 1, fnNot},
		{"map", "<af>", 2, fnMap},
		{"zip", "<a+>", 0, fnZip},
		{"filter", "<af>", 2, fnFilter},
		{"single", "<af?>", 2, fnSingle},
		{"reduce", "<afj?:j>", 3, fnReduce},
		{"sift", "<o-f?:o>", 2, fnSift},
		{"keys", "<x-:a<s>>", 1, fnKeys},
		{"lookup", "<x-s:x>", 2, fnLookup},
		{"append", "<xx:a>", 2, fnAppend},
		{"exists", "<x:b>", 1, fnExists},
		{"spread", "<x-:a<o>>", 1, fnSpread},
		{"merge", "<a<o>:o>", 1, fnMerge},
		{"reverse", "<a:a>", 1, fnReverse},
		{"each", "<o-f:a>", 2, fnEach},
		{"error", "<s?:x>", 1, fnError},
		{"assert", "<bs?:x>", 2, fnAssert},
		{"type", "<x:s>", 1, fnType},
		{"sort", "<af?:a>", 2, fnSort},
		{"shuffle", "<a:a>", 1, fnShuffle},
		{"distinct", "<x:x>", 1, fnDistinct},
		{"base64encode", "<s-:s>", 1, fnBase64Encode},
		{"base64decode", "<s-:s>", 1, fnBase64Decode},
		{"encodeUrlComponent", "<s-:s>", 1, fnEncodeURLComponent},
		{"encodeUrl", "<s-:s>", 1, fnEncodeURL},
		{"decodeUrlComponent", "<s-:s>", 1, fnDecodeURLComponent},
		{"decodeUrl", "<s-:s>", 1, fnDecodeURL},
		{"eval", "<sx?:x>", 2, fnEval},
		{"toMillis", "<s-s?:n>", 2, fnToMillis},
		{"fromMillis", "<n-s?s?:s>", 3, fnFromMillis},
		{"clone", "<(oa)-:o>", 1, fnClone},
		{"now", "<s?s?:s>", 2, fnNow},
		{"millis", "<:n>", 0, fnMillis},
	}
	library = make(map[string]*builtin, len(entries))
	for _, e := range entries {
		sig, err := parseSignature(e.sig)
		if err != nil {
			panic("jsonata: signature of $" + e.name + ": " + err.Message)
		}
		b := &builtin{name: e.name, sig: sig, arity: e.arity, call: e.call}
		b.value = functionValue(&function{kind: fnBuiltin, builtin: b})
		library[e.name] = b
	}
}
