package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Every face runs in the profile that its flag names: a chord that the extension
// takes for the name of one key, and arguments that only it accepts.
func TestFacesKeepTheProfile(t *testing.T) {
	requireBrowser(t)
	url := page(t, countingPage)
	const chord, wrong = `{"key":"Control++"}`, `{"key":7,"repeat":"1"}`
	for _, c := range []struct {
		profile string
		key     string // that Control++ is
		lenient bool
	}{{"strict", `"key":"+"`, false}, {"extension", `"key":"Control++"`, true}} {
		flags := []string{"--profile", c.profile, "--open", url}
		judge := func(t *testing.T, first, second string) {
			t.Helper()
			if !strings.Contains(first, c.key) {
				t.Errorf("Control++: got %.400s, want %s", first, c.key)
			}
			if got := !strings.Contains(second, "invalid_input"); got != c.lenient || second == "" {
				t.Errorf("%s: got %.400s, want it taken %v", wrong, second, c.lenient)
			}
		}
		t.Run("connect/"+c.profile, func(t *testing.T) {
			ctx, cancel := running(t)
			defer cancel()
			var items strings.Builder
			for i, args := range []string{chord, wrong} {
				fmt.Fprintf(
					&items, `{"type":"action_call","call_id":"%d","name":"keyboard.press","arguments":%s}`+"\n",
					i, args,
				)
			}
			var out, said bytes.Buffer
			if code := execute(
				ctx, append([]string{"connect", "stdio:"}, flags...), strings.NewReader(items.String()), &out, &said,
			); code != exitDone {
				t.Fatalf("exit %d: %s", code, said.String())
			}
			answers := map[string]string{}
			for line := range strings.Lines(out.String()) {
				for _, id := range []string{"0", "1"} {
					if strings.Contains(line, `"call_id":"`+id+`"`) && !strings.Contains(line, "action_progress") {
						answers[id] = line
					}
				}
			}
			judge(t, answers["0"], answers["1"])
		})
		t.Run("mcp/"+c.profile, func(t *testing.T) {
			ctx, cancel := running(t)
			defer cancel()
			toServer, in := io.Pipe()
			out, fromServer := io.Pipe()
			ended := make(chan int, 1)
			go func() {
				ended <- execute(
					ctx, append([]string{"mcp", "--tools", "keyboard.press"}, flags...),
					toServer, fromServer, io.Discard,
				)
			}()
			client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
				Connect(ctx, &sdk.IOTransport{Reader: out, Writer: in}, nil)
			if err != nil {
				t.Fatal(err)
			}
			press := func(args string) string {
				r, err := client.CallTool(ctx, &sdk.CallToolParams{
					Name:      "keyboard.press",
					Arguments: json.RawMessage(args),
				})
				if err != nil {
					t.Fatal(err)
				}
				return r.Content[0].(*sdk.TextContent).Text
			}
			judge(t, press(chord), press(wrong))
			_ = in.Close()
			<-ended
			_ = out.Close()
			_ = client.Close()
		})
		t.Run("provider/"+c.profile, func(t *testing.T) {
			ctx, cancel := running(t)
			defer cancel()
			toServer, in := io.Pipe()
			out, fromServer := io.Pipe()
			ended := make(chan int, 1)
			go func() {
				ended <- execute(ctx, []string{"provider", "--profile", c.profile}, toServer, fromServer, io.Discard)
			}()
			s := newProviderSession(t, out, in, "per_jcode_session")
			s.call(t, "page.open", map[string]any{"url": url})
			press := func(args string) string {
				return s.ask(t, "primitive.call", map[string]any{
					"name":      "keyboard.press",
					"arguments": json.RawMessage(args),
				})
			}
			judge(t, press(chord), press(wrong))
			_ = in.Close()
			<-ended
			_ = out.Close()
		})
	}
}
