package outrider

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
)

// ConsoleLine is what a script logged, or an error that no script caught.
type ConsoleLine struct {
	// Level is log, warning, error, info, debug and so on, or exception.
	Level string
	// Text joins the arguments, or is the exception with its stack.
	Text string
	// URL and Line say where, counted from 1; "" and 0 where that is not known.
	URL  string
	Line int
}

var consoleMethods = []string{"Runtime.consoleAPICalled", "Runtime.exceptionThrown"}

var consoleOn = []command{{"Runtime.enable", nil}}

// WaitConsole runs act and waits for the next line of the console.
func (t *Tab) WaitConsole(ctx context.Context, act func() error) (*ConsoleLine, error) {
	var line *ConsoleLine
	read := func(_ *watched, e CDPEvent) (done bool, err error) {
		line, err = consoleLine(e)
		return true, err
	}
	if err := t.after(ctx, "line of the console", consoleOn, consoleMethods, act, read); err != nil {
		return nil, err
	}
	return line, nil
}

// Console iterates over the lines of the console that the page, its frames and workers write after the call. It ends
// with ctx or with the tab; an error ends it too.
func (t *Tab) Console(ctx context.Context) iter.Seq2[*ConsoleLine, error] {
	return stream(ctx, t, consoleOn, consoleMethods, func(_ *watched, e CDPEvent) (*ConsoleLine, bool, error) {
		line, err := consoleLine(e)
		return line, true, err
	})
}

func consoleLine(e CDPEvent) (*ConsoleLine, error) {
	type place struct {
		URL  string `json:"url"`
		Line int    `json:"lineNumber"` // from 0
	}
	type value struct {
		Value       json.RawMessage `json:"value"`
		Description string          `json:"description"`
	}
	var in struct {
		Type  string  `json:"type"`
		Args  []value `json:"args"`
		Stack struct {
			Frames []place `json:"callFrames"`
		} `json:"stackTrace"`
		Exception struct {
			place
			Text      string `json:"text"`
			Exception value  `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if err := decode(e.Params, &in); err != nil {
		return nil, err
	}
	text := func(v value) string {
		var text string
		if v.Value != nil && json.Unmarshal(v.Value, &text) != nil {
			text = string(v.Value)
		}
		if v.Value == nil {
			text = v.Description
		}
		return text
	}
	line := &ConsoleLine{Level: in.Type}
	if e.Method == "Runtime.exceptionThrown" {
		x := in.Exception
		line = &ConsoleLine{Level: "exception", Text: x.Text, URL: x.URL, Line: x.Line + 1}
		if thrown := text(x.Exception); thrown != "" {
			line.Text += " " + thrown
		}
		return line, nil
	}
	var parts []string
	for _, a := range in.Args {
		parts = append(parts, text(a))
	}
	line.Text = strings.Join(parts, " ")
	if len(in.Stack.Frames) > 0 {
		line.URL = in.Stack.Frames[0].URL
		line.Line = in.Stack.Frames[0].Line + 1
	}
	return line, nil
}
