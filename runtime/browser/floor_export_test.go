package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// RawCommand is one CDP command with its parameters as JSON.
type RawCommand struct{ Method, Params string }

// Floor sends commands back to back to the tab's session and waits for every
// answer: what any driver must at least do.
func (t *Tab) Floor(ctx context.Context, commands ...RawCommand) (last []byte, err error) {
	list := make([]cdp.Command, len(commands))
	session := t.TopSession()
	for i, c := range commands {
		list[i] = cdp.Command{Session: session.ID, Method: c.Method, Params: []byte(c.Params)}
	}
	calls, err := t.browser.client.Start(ctx, list...)
	if err != nil {
		return nil, err
	}
	for _, p := range calls {
		last, err = t.browser.client.Wait(ctx, p)
		if err != nil {
			return nil, err
		}
	}
	return last, nil
}

// EvaluateString is the least page call: one evaluate whose
// answer is a string.
func EvaluateString(expression string) RawCommand {
	e, _ := json.Marshal(expression)
	return RawCommand{"Runtime.evaluate", `{"expression":` + string(e) + `,"returnByValue":true}`}
}

// StringResult reads the answer of EvaluateString.
func StringResult(answer []byte) (string, error) {
	var out struct {
		Result    struct{ Value string }
		Exception *struct{ Text string } `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return "", err
	}
	if out.Exception != nil {
		return "", errors.New(out.Exception.Text)
	}
	return out.Result.Value, nil
}

// MousePress are the three commands of a click at a point.
func MousePress(x, y float64) []RawCommand {
	at := fmt.Sprintf(`"x":%g,"y":%g`, x, y)
	return []RawCommand{
		{"Input.dispatchMouseEvent", `{"type":"mouseMoved",` + at + `}`},
		{"Input.dispatchMouseEvent", `{"type":"mousePressed","button":"left","buttons":1,"clickCount":1,` + at + `}`},
		{"Input.dispatchMouseEvent", `{"type":"mouseReleased","button":"left","clickCount":1,` + at + `}`},
	}
}

// TypeText are the key events of a text, as few as a driver can send.
func TypeText(text string) []RawCommand {
	var out []RawCommand
	for _, r := range text {
		c, _ := json.Marshal(string(r))
		code := int(strings.ToUpper(string(r))[0])
		out = append(out,
			RawCommand{
				"Input.dispatchKeyEvent",
				fmt.Sprintf(`{"type":"keyDown","key":%s,"text":%s,"windowsVirtualKeyCode":%d}`, c, c, code),
			},
			RawCommand{
				"Input.dispatchKeyEvent", fmt.Sprintf(`{"type":"keyUp","key":%s,"windowsVirtualKeyCode":%d}`, c, code),
			})
	}
	return out
}
