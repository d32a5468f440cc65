package outrider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// exposedFunction makes a function of the page that calls the program: its arguments go through a binding, and what the
// program answers settles the promise that it returned.
const exposedFunction = `(name => {
	const send = globalThis[name];
	const waiting = new Map();
	let last = 0;
	globalThis[name] = (...args) => new Promise((resolve, reject) => {
		waiting.set(++last, {resolve, reject});
		send(JSON.stringify({call: last, args}));
	});
	Object.defineProperty(globalThis[name], 'settle', {value: (call, value, error) => {
		const {resolve, reject} = waiting.get(call);
		waiting.delete(call);
		error === undefined ? resolve(value) : reject(new Error(error));
	}});
})`

// Expose gives the page a function of this name, in each of its frames and in those of later documents, which calls f
// and returns a promise. A is the type of the one argument, or a slice for all of them:
//
//	stop, err := outrider.Expose(ctx, tab, "greet", func(ctx context.Context, name string) (string, error) {
//		return "hello " + name, nil
//	})
//
// Calls run side by side, with a context that ends with stop. stop ends it and waits for those that run. The page can
// call f at any time, with anything: check what it sends.
func Expose[A, R any](
	ctx context.Context, t *Tab, name string, f func(ctx context.Context, argument A) (R, error),
) (stop func(), err error) {
	return t.expose(ctx, name, func(ctx context.Context, arguments []json.RawMessage) (any, error) {
		var in A
		given, err := json.Marshal(arguments)
		if list := reflect.TypeFor[A]().Kind() == reflect.Slice; !list && len(arguments) != 1 {
			return nil, fmt.Errorf("%s takes one argument, not %d", name, len(arguments))
		} else if !list {
			given = arguments[0]
		}
		if err == nil {
			err = decodeStrictly(given, &in)
		}
		if err != nil {
			return nil, err
		}
		return f(ctx, in)
	})
}

func (t *Tab) expose(
	ctx context.Context, name string, f func(context.Context, []json.RawMessage) (any, error),
) (stop func(), err error) {
	quoted, err := json.Marshal(name)
	if err != nil {
		return nil, fromFault(err)
	}
	script := exposedFunction + "(" + string(quoted) + ")"
	w, err := t.watch(ctx, []command{
		{"Runtime.enable", nil},
		{"Page.enable", nil},
		{"Runtime.addBinding", map[string]string{"name": name}},
		{"Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": script, "runImmediately": true}},
	}, "Runtime.bindingCalled")
	if err != nil {
		return nil, err
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() {
		for {
			e, ok := w.nextEvent(serving)
			if !ok {
				return
			}
			running.Go(func() { t.settle(serving, w, e, name, f) })
		}
	})
	var once sync.Once
	return func() {
		once.Do(func() {
			cancel()
			w.Close()
			running.Wait()
		})
	}, nil
}

// settle answers one call of a function that was exposed.
func (t *Tab) settle(
	ctx context.Context, w *watched, e CDPEvent, name string,
	f func(context.Context, []json.RawMessage) (any, error),
) {
	var in struct {
		Name    string `json:"name"`
		Payload string `json:"payload"`
		Context int    `json:"executionContextId"`
	}
	var call struct {
		Call int               `json:"call"`
		Args []json.RawMessage `json:"args"`
	}
	if decode(e.Params, &in) != nil || in.Name != name || json.Unmarshal([]byte(in.Payload), &call) != nil {
		return
	}
	arguments := []map[string]any{{"value": name}, {"value": call.Call}}
	if value, err := t.recovered(ctx, call.Args, f); err == nil {
		arguments = append(arguments, map[string]any{"value": value})
	} else {
		arguments = append(arguments, map[string]any{}, map[string]any{"value": err.Error()})
	}
	_ = w.CallIn(ctx, e.SessionID, "Runtime.callFunctionOn", map[string]any{ // the document may have ended
		"functionDeclaration": "(name, ...answer) => globalThis[name].settle(...answer)",
		"executionContextId":  in.Context,
		"arguments":           arguments,
	}, nil)
}

// recovered calls f, which belongs to the program: a panic of it must not end the program from a goroutine of ours.
func (t *Tab) recovered(
	ctx context.Context, arguments []json.RawMessage, f func(context.Context, []json.RawMessage) (any, error),
) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.session.log().Error("an exposed function panicked", "panic", p)
			value, err = nil, errors.New("an exposed function panicked")
		}
	}()
	return f(ctx, arguments)
}
