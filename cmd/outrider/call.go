package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

func (a *app) callCommand() *cobra.Command {
	var save, session string
	cmd := &cobra.Command{
		Use:   "call NAME [ARGS]",
		Short: "Run one primitive on a fresh tab, or on the live session",
		Long: "Run one primitive and print its result envelope: on the active page of the live session with -s, or " +
			"where the caller's\nis open and no flag asks for a browser; else on a fresh tab.\n" +
			"ARGS is a JSON object, @FILE, or - for standard input.",
		Example: `  outrider call page.info --open http://127.0.0.1:8080/
  outrider call browser.screenshot '{"format":"jpeg"}' --open http://127.0.0.1:8080/ --save page.jpg`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := "{}"
			if len(args) == 2 {
				text = args[1]
			}
			arguments, err := a.jsonArgument("ARGS", text)
			if err != nil {
				return err
			}
			s, err := a.live(cmd, session)
			if err == nil && s == nil {
				err = a.knownName(args[0])
			}
			if err != nil {
				return err
			}
			return a.onPage(cmd, s, func(ctx context.Context, h pageHost) error {
				reply := h.Do(ctx, runtime.Call{
					ID:        uuid.NewString(),
					Target:    firstTab(h),
					Name:      args[0],
					Arguments: arguments,
					Timeout:   a.callLimit,
				})
				if reply.Err != nil {
					return reply.Err
				}
				if save == "" {
					a.printResult(reply.Output)
					return nil
				}
				output, err := plan.SaveImage(reply.Output, report.Anywhere, save)
				if err == nil {
					a.printResult(output)
					return nil
				}
				// The result comes first: the page was worked on, and may not
				// be so again.
				a.printResult(reply.Output)
				fmt.Fprintf(a.stderr, "outrider: --save: %v\n", err)
				var unwritten *fs.PathError
				if errors.As(err, &unwritten) {
					return &exit{code: exitEnvironment}
				}
				return &exit{code: exitUsage}
			})
		},
	}
	sessionFlag(cmd.Flags(), &session)
	cmd.Flags().StringVar(&save, "save", "", "write the image of the result to this file and print its path instead")
	a.addBrowserFlags(cmd)
	a.addStateFlags(cmd)
	return cmd
}

// knownName refuses, before a browser starts, what can be no name of a call: no
// primitive, and no site action because there are no maps.
func (a *app) knownName(name string) error {
	names := catalog.Standard().Names()
	if len(a.browser.maps) > 0 || name == runtime.SiteTool || slices.Contains(names, name) {
		return nil
	}
	err := fault.New(
		fault.UnknownPrimitive, "there is no primitive %s, and no --maps that could declare an action of that name",
		name,
	)
	if near := fault.Near(name, names); len(near) > 0 {
		err = err.With("nearest_primitives", near).Next("call one of the nearest primitives, such as " + near[0])
	}
	return err
}

// withHost opens a host for do and closes it, and all it started, afterwards.
func (a *app) withHost(ctx context.Context, s hostSettings, do func(context.Context, *runtime.Host) error) error {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	h, closing, err := a.openHostAs(ctx, s, nil)
	if err != nil {
		return err
	}
	defer closing()
	if err := do(ctx, h); err != nil {
		return err
	}
	return a.saveStorage(ctx, h)
}

// openHost is openHostAs by the flags alone.
func (a *app) openHost(
	ctx context.Context, change func(*runtime.Options) error,
) (h *runtime.Host, closing func(), err error) {
	return a.openHostAs(ctx, a.hostSettings(), change)
}

// openHostAs opens a host. change, which may be nil, changes its options before. closing ends it.
func (a *app) openHostAs(
	ctx context.Context, s hostSettings, change func(*runtime.Options) error,
) (h *runtime.Host, closing func(), err error) {
	options, err := a.readingOptions(s)
	if err != nil {
		return nil, nil, err
	}
	if change != nil {
		err = change(&options)
	}
	if err == nil {
		h, err = runtime.Open(ctx, options)
	}
	if err != nil {
		_ = options.Ready()
		_ = options.Engine.Close()
		return nil, nil, err
	}
	return h, func() {
		a.close(ctx, "the browser", h.Close)
		_ = options.Engine.Close()
	}, nil
}

// saveStorage writes the storage state that was asked for.
func (a *app) saveStorage(ctx context.Context, h *runtime.Host) error {
	b := &a.browser
	s, err := plan.StorageOf(b.storageState, b.saveStorageState, b.login)
	if err == nil {
		err = s.Save(ctx, h, a.runOptions(""))
	}
	if err != nil {
		a.warn(fmt.Errorf("--save-storage-state: %w", err))
		return &exit{code: exitEnvironment}
	}
	return nil
}

// firstTab selects the tab that the first --open made: a page that opens a
// popup meanwhile must not make the call ambiguous.
func firstTab(h pageHost) runtime.Target {
	if tabs := h.Tabs(); len(tabs) > 0 {
		return runtime.Target{RuntimeID: tabs[0].RuntimeID}
	}
	return runtime.Target{}
}

// jsonArgument reads a JSON object given as text, @FILE or -.
func (a *app) jsonArgument(name, text string) (json.RawMessage, error) {
	data, err := a.textArgument(name, text)
	if err != nil {
		return nil, err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil || object == nil {
		return nil, usage("%s is not a JSON object: %s", name, jsonProblem(data, err))
	}
	return bytes.TrimSpace(data), nil
}

// jsonDocument is jsonArgument for an object or a list.
func (a *app) jsonDocument(name, text string) (json.RawMessage, error) {
	data, err := a.textArgument(name, text)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimSpace(data)
	var v json.RawMessage
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, usage("%s is not JSON: %s", name, jsonProblem(data, err))
	}
	if data[0] != '{' && data[0] != '[' {
		return nil, usage("%s is neither a JSON object nor a list", name)
	}
	return data, nil
}

func (a *app) textArgument(name, text string) ([]byte, error) {
	switch {
	case text == "-":
		data, err := io.ReadAll(io.LimitReader(a.stdin, 64<<20))
		if err != nil {
			return nil, usage("reading %s from standard input: %w", name, err)
		}
		return data, nil
	case strings.HasPrefix(text, "@"):
		data, err := os.ReadFile(text[1:])
		if err != nil {
			return nil, usage("reading %s: %w", name, err)
		}
		return data, nil
	}
	return []byte(text), nil
}

func jsonProblem(data []byte, err error) string {
	if err == nil {
		return "it is null"
	}
	if s, ok := err.(*json.SyntaxError); ok { //nolint:errorlint // encoding/json returns it unwrapped
		line := 1 + bytes.Count(data[:min(int(s.Offset), len(data))], []byte("\n"))
		return fmt.Sprintf("%v at byte %d, line %d", err, s.Offset, line)
	}
	return err.Error()
}

// printResult prints a result document: compact with --json, else indented.
func (a *app) printResult(raw json.RawMessage) {
	if a.json {
		fmt.Fprintf(a.stdout, "%s\n", raw)
		return
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		fmt.Fprintf(a.stdout, "%s\n", raw)
		return
	}
	fmt.Fprintf(a.stdout, "%s\n", b.Bytes())
}
