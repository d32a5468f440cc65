// Package jsonata evaluates JSONata expressions as jsonata-js 2.2.1 does, on input and
// on expressions that nobody vouches for. It knows neither maps nor pages. Package expr
// calls it, and any program may.
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
//	L0007  a function or pattern argument is missing
//	L0008  a transform matched something that has no members
//	L0009  a fault of this package; never expected
//	L0010  a time that does not exist should show a name or words
//	L1003  the input is not valid JSON
//	S0303  a regular expression is not valid
//	S0403  a parameter of a signature has too many modifiers
//
// Where L0007, L0008, L0010, S0303 and S0403 say what is wrong, jsonata-js fails
// without a code.
//
// All others are those of jsonata-js.
//
// # Known differences from jsonata-js 2.2.1
//
// testdata/upstream_faults.json lists the faults of jsonata-js that this package
// does not share, each with the reason and with examples; docs/reference/expressions.md
// shows the list. They are the only differences the differential test admits: it
// sets a case aside when testdata/repairs.js, which takes each of those faults out
// of jsonata-js, makes that give our answer. One more is not tested: a builtin in
// a result, a record to JSON.stringify, has the place of a call that is the whole
// expression instead of that of its last call in the process.
package jsonata
