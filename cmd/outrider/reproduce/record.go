package reproduce

import (
	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/mask"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/evidence/trace"
	"github.com/outrider-run/outrider/runtime"
)

// RecordFlags say whether a host is recorded.
type RecordFlags struct {
	file, trace string
	pictures    bool
}

// Add adds them to a verb that owns a browser.
func (r *RecordFlags) Add(f *pflag.FlagSet) {
	f.StringVar(&r.file, "record", "", "record what is done and what the pages show to this file, for replay and trace")
	f.StringVar(&r.trace, "trace", "", "write a trace to this .zip, for the viewer of Playwright")
	f.BoolVar(&r.pictures, "record-pictures", true, "record pictures of the pages too")
}

// Record has a host that is opened with options recorded, if the flags say so.
func (r *RecordFlags) Record(options *runtime.Options, profile string, maps []string, secrets *mask.Set) error {
	b := options.Browser
	header := record.Header{Program: "outrider " + options.Version, Profile: profile, Locale: b.Locale, Timezone: b.Timezone}
	if v := b.Viewport; v.Width > 0 {
		header.Viewport = &record.Size{Width: v.Width, Height: v.Height}
	}
	recorder, err := capture.Open(capture.Files{Record: r.file, Trace: r.trace, Export: trace.ExportFile},
		capture.Options{Header: header, Pages: true, Pictures: r.pictures, Secrets: secrets, Maps: maps})
	if recorder != nil {
		options.Recorder = recorder
	}
	return err
}
