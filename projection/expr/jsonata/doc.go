// Package jsonata evaluates JSONata expressions as jsonata-js 2.2.1 does, on
// input and on expressions that nobody vouches for.
//
// A Program is compiled once and evaluated by any number of goroutines. An
// Input is JSON text, of which only what the program can read is decoded, or
// data decoded before. The Result is the text that JSON.stringify gives for
// the result of jsonata-js, with its order of keys and its numbers.
//
// # Budgets
//
// Limits bound steps, call depth, sequence length, bytes, matching steps and
// output; the context bounds time. All of them are charged inside builtins
// too. What runs out is named by Error.Budget:
//
//	L0001  steps          units of work
//	L0002  bytes          everything allocated, whether still in use or not
//	L0003  regex_steps    units of matching
//	L0004  output_bytes   the JSON of the result
//	U1001  depth          open calls, or nesting of data beyond 10,000 levels
//	D2015  sequence       elements of one array
//	D2014  (none)         a range of more than ten million, as in jsonata-js
//	D1011  regex_steps    memory for backtracking
//	D1012  time           the context ended; errors.Is finds its error
//	L1001  source         the text of the expression is longer than 64 KiB
//	L1002  nesting        the expression nests too deep
//
// # Other codes of our own
//
//	L0005  the result holds a function, which JSON cannot carry
//	L0006  a forbidden builtin was called
//	L0007  a pattern argument is missing (jsonata-js fails without a code)
//	L0008  a transform matched something that is not an object (likewise)
//	L0009  a fault of this package; never expected
//	L1003  the input is not valid JSON
//	S0303  a regular expression is not valid (jsonata-js fails without a code)
//
// All others are those of jsonata-js.
//
// # Known differences from jsonata-js 2.2.1
//
// The members of an array or object constructor are evaluated in order;
// jsonata-js evaluates them concurrently, so when two of them fail it may
// report the other error. $contains, $each and $sift of something missing give
// undefined as they do from 2.2.2 on, where 2.2.1 crashes. A regular
// expression on the left of ?? or ?: works, where jsonata-js evaluates that
// side twice with one stateful object. $eval cannot assign to variables of its
// caller. An item of a tuple stream that is alone under each of several keys of
// a grouping is the context of all of them, where jsonata-js leaves all but the
// first without a context. An empty array that is the context of an object
// constructor stays empty, where jsonata-js puts an undefined element into it,
// be it the input's. A grouping of a call at the end of a lambda, and a
// predicate on one in brackets, apply to the call's result, where jsonata-js
// forgets the one and applies the other to the call put off. A partially applied
// builtin does something sensible or fails when it gets values that its signature
// refuses; jsonata-js does not look, and what comes out is JavaScript's. $power
// with a fractional exponent can differ in the last digit, and $formatBase beyond
// 2^53 in digits that the number does not hold. Where a function of JavaScript
// would show its source text, ours shows nothing.
//
// The differential test knows of these: its probes in jsonata-js, and a look at
// the shaped tree, tell when an answer went through one of them.
//
// Not compared at all is where jsonata-js shows the inner objects of a tuple
// stream, {"@": item, "!0": parent}: a predicate, grouping or second sort right
// behind a sort of tuples, as in a@$v^(b)[c], and (x)[%.y] that is not a step of a path,
// at the end of a lambda or in a sort term. Here they see the items.
package jsonata
