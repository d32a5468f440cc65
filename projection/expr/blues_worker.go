package expr

import (
	"bufio"
	"context"
	"errors"
	"os"
	"reflect"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/blues/jsonata-go"
	"github.com/blues/jsonata-go/jlib"
	"github.com/blues/jsonata-go/jparse"
	"github.com/blues/jsonata-go/jtypes"

	"github.com/outrider-run/outrider/primitives/fault"
)

// maxWorkerStack ends an endless recursion after some 10^5 calls instead of at
// the gigabyte that Go allows, where the machine notices before the runtime.
const maxWorkerStack = 64 << 20

// executable means that this program calls MaybeWorker, so running it again
// gives a worker and not a second program.
var executable atomic.Bool

// MaybeWorker is the other half of the blues engine, which runs the own
// executable as its worker. In a worker it serves until the host has ended and
// then ends the process; otherwise it returns at once. Call it first in main,
// and first in TestMain of packages whose tests evaluate expressions. In a
// program that does not call it the installed outrider is the worker.
func MaybeWorker() {
	memory := os.Getenv(workerEnv)
	if memory == "" || len(os.Args) != 2 || os.Args[1] != workerArg {
		executable.Store(true)
		return
	}
	if bytes, err := strconv.ParseInt(memory, 10, 64); err == nil && bytes > 0 {
		limitMemory(bytes)
		debug.SetMemoryLimit(bytes / 4 * 3)
		debug.SetMaxStack(maxWorkerStack)
		serveWorker(os.Stdin, os.Stdout) // layering:allow: a worker has no other link to its host
	}
	os.Exit(0) //nolint:forbidigo // layering:allow: only this worker was wanted; main would do its work again
}

// serveWorker returns when the host closes in, even in the middle of an
// evaluation: a worker never outlives its host.
func serveWorker(in, out *os.File) {
	type job struct {
		req  request
		body []byte
	}
	// ctx ends with stdin: the host has ended, or ends this worker.
	ctx, gone := context.WithCancel(context.Background())
	defer gone()
	jobs := make(chan job)
	go func() {
		defer gone()
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			var j job
			var err error
			j.body, err = readFrame(r, &j.req)
			if err != nil {
				return
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
		}
	}()
	if writeFrame(out, reply{Kind: kindReady}, nil) != nil {
		return
	}
	// A runaway evaluation cannot be stopped, only left behind: whoever returns
	// from here ends the process.
	finished := make(chan error, 1)
	for {
		var j job
		select {
		case j = <-jobs:
		case <-ctx.Done():
			return
		}
		go func() {
			rep, body := serve(j.req, j.body)
			finished <- writeFrame(out, rep, body)
		}()
		timer := time.NewTimer(time.Duration(j.req.Millis) * time.Millisecond)
		select {
		case err := <-finished:
			timer.Stop()
			if err != nil {
				return
			}
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		}
	}
}

// serve answers one request. jsonata-go panics on some inputs, which is an
// ordinary failure of the expression here.
func serve(req request, body []byte) (rep reply, out []byte) {
	defer func() {
		if r := recover(); r != nil {
			rep, out = reply{Kind: kindError, Position: -1, Message: "the expression broke its evaluator"}, nil
		}
	}()
	e, err := jsonata.Compile(req.Source)
	if err != nil {
		return parseFailure(err), nil
	}
	if req.Op == opCompile {
		return reply{Kind: kindValue}, nil
	}
	if err := e.RegisterExts(bluesFunctions); err != nil {
		return failure(err), nil
	}
	input, order, err := decodeForBlues(body)
	if err != nil {
		return failure(err), nil
	}
	order.literals(req.Source)
	v, err := e.Eval(input)
	if errors.Is(err, jsonata.ErrUndefined) {
		return reply{Kind: kindUndefined}, nil
	}
	if err != nil {
		return failure(err), nil
	}
	out, err = encodeFromBlues(v, order, req.Output)
	switch {
	case errors.Is(err, errValueTooLarge):
		return reply{Kind: kindTooLarge}, nil
	case err != nil:
		return failure(err), nil
	case out == nil:
		return reply{Kind: kindUndefined}, nil
	}
	return reply{Kind: kindValue}, out
}

func parseFailure(err error) reply {
	rep := reply{Kind: kindError, JSONataCode: "S0201", Position: -1, Message: "the expression does not parse"}
	var e *jparse.Error
	if !errors.As(err, &e) {
		return rep
	}
	rep.Position = e.Position
	rep.Token = e.Token
	rep.Message = e.Error()
	switch e.Type {
	case jparse.ErrUnterminatedString:
		rep.JSONataCode = "S0101"
	case jparse.ErrNumberRange:
		rep.JSONataCode = "S0102"
	case jparse.ErrIllegalEscape:
		rep.JSONataCode = "S0103"
	case jparse.ErrIllegalEscapeHex:
		rep.JSONataCode = "S0104"
	case jparse.ErrUnterminatedName:
		rep.JSONataCode = "S0105"
	case jparse.ErrUnexpectedToken:
		rep.JSONataCode = "S0202"
	case jparse.ErrMissingToken:
		rep.JSONataCode = "S0203"
	case jparse.ErrUnexpectedEOF:
		rep.JSONataCode = "S0207"
	case jparse.ErrGroupPredicate:
		rep.JSONataCode = "S0209"
	case jparse.ErrGroupGroup:
		rep.JSONataCode = "S0210"
	case jparse.ErrPrefix:
		rep.JSONataCode = "S0211"
	case jparse.ErrIllegalAssignment:
		rep.JSONataCode = "S0212"
	case jparse.ErrPathLiteral:
		rep.JSONataCode = "S0213"
	case jparse.ErrEmptyRegex:
		rep.JSONataCode = "S0301"
	case jparse.ErrUnterminatedRegex, jparse.ErrInvalidRegex:
		rep.JSONataCode = "S0302"
	}
	return rep
}

// forbiddenError is how a forbidden function fails when it is reached through
// an alias.
type forbiddenError string

func (f forbiddenError) Error() string { return "maps may not use the function $" + string(f) }

// failure reports an evaluation error with the JSONata code nearest to it. It
// keeps the text of an error only when that cannot hold values of the page.
func failure(err error) reply {
	rep := reply{Kind: kindError, Position: -1, Message: "the expression failed"}
	var (
		forbidden forbiddenError
		eval      *jsonata.EvalError
		count     *jsonata.ArgCountError
		arg       *jsonata.ArgTypeError
		lib       *jlib.Error
	)
	switch {
	case errors.As(err, &forbidden):
		return reply{Kind: kindForbidden, Position: -1, Token: string(forbidden)}
	case errors.As(err, &eval):
		rep.JSONataCode, rep.Token = evalCode(eval.Type), eval.Token
		if msg := evalMessage(eval.Type); msg != "" {
			rep.Message = msg
		}
	case errors.As(err, &count):
		rep.JSONataCode = "T0410"
		rep.Token = count.Func
		rep.Message = count.Error()
	case errors.As(err, &arg):
		rep.JSONataCode = "T0410"
		rep.Token = arg.Func
		rep.Message = arg.Error()
	case errors.As(err, &lib):
		rep.Token, rep.Message = lib.Func, lib.Error()
	}
	return rep
}

func evalCode(t jsonata.ErrType) string {
	switch t {
	case jsonata.ErrNonIntegerLHS:
		return "T2003"
	case jsonata.ErrNonIntegerRHS:
		return "T2004"
	case jsonata.ErrNonNumberLHS:
		return "T2001"
	case jsonata.ErrNonNumberRHS:
		return "T2002"
	case jsonata.ErrNonComparableLHS, jsonata.ErrNonComparableRHS:
		return "T2010"
	case jsonata.ErrTypeMismatch:
		return "T2009"
	case jsonata.ErrNonCallable:
		return "T1006"
	case jsonata.ErrNonCallableApply:
		return "T2006"
	case jsonata.ErrNonCallablePartial:
		return "T1008"
	case jsonata.ErrNumberInf, jsonata.ErrNumberNaN:
		return "D1001"
	case jsonata.ErrMaxRangeItems:
		return "D2014"
	case jsonata.ErrIllegalKey:
		return "T1003"
	case jsonata.ErrDuplicateKey:
		return "D1009"
	case jsonata.ErrClone:
		return "T2013"
	case jsonata.ErrIllegalUpdate:
		return "T2011"
	case jsonata.ErrIllegalDelete:
		return "T2012"
	case jsonata.ErrNonSortable:
		return "T2008"
	case jsonata.ErrSortMismatch:
		return "T2007"
	}
	return ""
}

// evalMessage is the text of an evaluation error without its values.
func evalMessage(t jsonata.ErrType) string {
	switch t {
	case jsonata.ErrNonNumberLHS, jsonata.ErrNonNumberRHS:
		return "both sides of an arithmetic operator must be numbers"
	case jsonata.ErrNonIntegerLHS, jsonata.ErrNonIntegerRHS:
		return "both sides of the range operator must be integers"
	case jsonata.ErrNonComparableLHS, jsonata.ErrNonComparableRHS, jsonata.ErrTypeMismatch:
		return "both sides of a comparison must be numbers, or both strings"
	case jsonata.ErrNonCallable, jsonata.ErrNonCallableApply, jsonata.ErrNonCallablePartial:
		return "what is called is not a function"
	case jsonata.ErrNumberInf, jsonata.ErrNumberNaN:
		return "a number is out of range"
	case jsonata.ErrMaxRangeItems:
		return "a range has too many items"
	case jsonata.ErrIllegalKey:
		return "the name of an object member is not a string"
	case jsonata.ErrDuplicateKey:
		return "two members of an object constructor have the same name"
	case jsonata.ErrNonSortable, jsonata.ErrSortMismatch:
		return "the values to sort by must be all numbers or all strings"
	}
	return ""
}

// bluesFunctions replaces builtins: the forbidden ones fail, and those whose
// results are not collapsed as in jsonata-js are.
var bluesFunctions = func() map[string]jsonata.Extension {
	m := map[string]jsonata.Extension{
		"filter": {
			Func: func(v reflect.Value, f jtypes.Callable) (any, error) {
				return collapse(jlib.Filter(v, f))
			},
			UndefinedHandler: jtypes.ArgUndefined(0),
		},
		"map": {
			Func: func(v reflect.Value, f jtypes.Callable) (any, error) {
				return collapse(jlib.Map(v, f))
			},
			UndefinedHandler: jtypes.ArgUndefined(0),
		},
		"match": {
			Func: func(s string, f jtypes.Callable, limit jtypes.OptionalInt) (any, error) {
				out, err := jlib.Match(s, f, limit)
				return collapse(out, err)
			},
			UndefinedHandler: jtypes.ArgUndefined(0),
		},
	}
	for _, name := range forbidden {
		m[name] = jsonata.Extension{Func: func(...any) (any, error) {
			// Both forms: the library may hand on only the text.
			return nil, fault.Translate(fault.DisallowedExpressionFunction, forbiddenError(name), "forbidden")
		}}
	}
	return m
}()
