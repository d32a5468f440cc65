package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/cmd/outrider/reproduce"
	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/evidence/trace"
	"github.com/outrider-run/outrider/runtime"
)

// recordFlags say whether a host is recorded.
type recordFlags struct {
	file, trace string
	pictures    bool
}

func (r *recordFlags) add(f *pflag.FlagSet) {
	f.StringVar(&r.file, "record", "", "record what is done and what the pages show to this file, for replay and trace")
	f.StringVar(&r.trace, "trace", "", "write a trace to this .zip, for the viewer of Playwright")
	f.BoolVar(&r.pictures, "record-pictures", true, "record pictures of the pages too")
}

// recordTo has a host that is opened with options recorded, if the flags say so.
func (a *app) recordTo(options *runtime.Options) error {
	b := &a.browser
	header := record.Header{Program: "outrider " + version, Profile: b.profile, Locale: b.locale, Timezone: b.timezone}
	if v := options.Browser.Viewport; v.Width > 0 {
		header.Viewport = &record.Size{Width: v.Width, Height: v.Height}
	}
	files := capture.Files{Record: b.recording.file, Trace: b.recording.trace, Export: trace.ExportFile}
	recorder, err := capture.Open(files, capture.Options{Header: header, Pages: true, Pictures: b.recording.pictures, Secrets: a.secrets, Maps: b.maps})
	if err != nil {
		return usage("--record: %w", err)
	}
	if recorder != nil {
		options.Recorder = recorder
	}
	return nil
}

// reproducing is the command as the verbs of package reproduce see it.
type reproducing struct{ *app }

func (r reproducing) AddBrowserFlags(cmd *cobra.Command) { r.addBrowserFlags(cmd) }
func (r reproducing) PrintJSON(v any)                    { r.printJSON(v) }
func (r reproducing) Exit(code int, err error) error     { return &exit{code, err} }

func (r reproducing) OpenHost(ctx context.Context, change func(*runtime.Options) error) (*runtime.Host, func(), error) {
	return r.openHost(ctx, change)
}

func (r reproducing) Bounded(ctx context.Context) (context.Context, context.CancelFunc) { return r.bounded(ctx) }

func (r reproducing) Given() reproduce.Given {
	g := reproduce.Given{JSON: r.json, Maps: len(r.browser.maps) > 0, CallTimeout: r.callLimit, Secrets: r.secrets, In: r.stdin, Out: r.stdout, Words: r.stderr}
	if r.origins["profile"] != byDefault {
		g.Profile = r.browser.profile
	}
	return g
}
