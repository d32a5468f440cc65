package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/authoring/learn"
	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/har"
	"github.com/outrider-run/outrider/evidence/recent"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/evidence/trace"
	"github.com/outrider-run/outrider/internal/background"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/runtime"
)

// recordingFlags say whether a host is recorded, and what a verb that serves calls remembers of the last minutes.
type recordingFlags struct {
	file, trace string
	har         string
	pictures    bool
	recent      string
}

// Add adds them to a verb that owns a browser.
func (r *recordingFlags) Add(f *pflag.FlagSet) {
	f.StringVar(&r.file, "record", "", "record what is done and what the pages show to this file, for replay and trace")
	f.StringVar(&r.trace, "trace", "", "write a trace to this .zip, for the viewer of Playwright")
	f.StringVar(&r.har, "har", "", "write what the pages requested to this HAR file, secrets masked")
	f.BoolVar(&r.pictures, "record-pictures", true, "record pictures of the pages too")
}

// AddRecent adds the flag of a verb that serves calls.
func (r *recordingFlags) AddRecent(f *pflag.FlagSet) {
	f.StringVar(&r.recent, "recent", recent.Calls, "what is remembered of the last half hour, for record save and "+
		"mode learn: off, calls, pages, or full (with requests, console and pictures)")
}

// recordedRun is the recording of a host.
type recordedRun struct {
	Verb, Profile string
	Maps          []string
	Secrets       *mask.Set
	Face          bool // the verb serves calls: that a flow was worth keeping is known when it has worked
	AtEnd         func(func())
	Log           *slog.Logger
	Lost          func(error) // hears that the recording or the trace is not whole
}

// Record has a host that is opened with options recorded, if the flags say so.
func (r *recordingFlags) Record(options *runtime.Options, o recordedRun) error {
	if r.kept() || r.har != "" { // maps that are refused leave no file
		if err := options.Ready(); err != nil {
			return err
		}
	}
	lost := o.Lost
	o.Lost = func(err error) {
		lost(fmt.Errorf("%s is not whole: %w", r.names(), err))
	}
	if err := r.record(options, o); err != nil {
		return fmt.Errorf("--record: %w", err)
	}
	return nil
}

// kept reports whether the recording is kept in a file or a trace.
func (r *recordingFlags) kept() bool { return r.file != "" || r.trace != "" }

// names are the files that a recording goes to.
func (r *recordingFlags) names() string {
	var names []string
	if r.file != "" {
		names = append(names, "the recording "+r.file)
	}
	if r.trace != "" {
		names = append(names, "the trace "+r.trace)
	}
	if r.har != "" {
		names = append(names, "the HAR file "+r.har)
	}
	if len(names) == 0 {
		return "what --recent remembers"
	}
	return strings.Join(names, " or ")
}

// exported is the trace of a recording that has ended, whatever ended it.
func exportTrace(from, to string) error { return trace.ExportFile(context.Background(), from, to) }

func exportHAR(from, to string) error {
	return har.WriteFile(context.Background(), from, to, har.Options{})
}

func (r *recordingFlags) record(options *runtime.Options, o recordedRun) error {
	b := options.Browser
	header := record.Header{
		Program:  "outrider " + options.Version,
		Verb:     o.Verb,
		Profile:  o.Profile,
		Locale:   b.Locale,
		Timezone: b.Timezone,
	}
	if v := b.Viewport; v.Width > 0 {
		header.Viewport = &record.Size{Width: v.Width, Height: v.Height}
	}
	files := capture.Files{
		Record:    r.file,
		Trace:     r.trace,
		HAR:       r.har,
		Export:    exportTrace,
		ExportHAR: exportHAR,
	}
	how := capture.Options{
		Header:   header,
		Pages:    r.kept() || r.har == "", // a HAR file alone needs none
		Pictures: r.pictures && (r.kept() || r.har == ""),
		Requests: r.har != "",
		Secrets:  o.Secrets,
		Maps:     o.Maps,
		Lost:     o.Lost,
	}
	if !o.Face || r.recent == recent.Off || r.recent == "" {
		recorder, err := capture.Open(files, how)
		if recorder != nil {
			options.Recorder = recorder
		}
		return err
	}
	if err := recent.Check(r.recent); err != nil {
		return err
	}
	last, err := recent.New(recent.Folder(), func(ring record.Sink) (*capture.Recorder, error) {
		if !r.kept() {
			how = recent.Options(r.recent, how)
		}
		if r.har != "" {
			how.Quiet = false
		}
		how.Sinks = append(how.Sinks, ring)
		recorder, err := capture.Open(files, how)
		if recorder == nil && err == nil {
			recorder = capture.New(how)
		}
		return recorder, err
	})
	if err != nil {
		return err
	}
	options.Recorder = last.Recorder()
	learned := learn.Mode{
		Calls:   last.Calls,
		Options: learn.Options{NewID: options.NewID, Now: time.Now},
		Storage: learn.StorageOf(o.Maps),
	}
	options.Remembered = func(
		ctx context.Context, h *runtime.Host, tab runtime.TabStatus, arguments json.RawMessage,
	) runtime.Reply {
		var in struct {
			Mode string `json:"mode"`
		}
		if json.Unmarshal(arguments, &in) == nil && in.Mode == "record" {
			return last.Answer(ctx, h, tab, arguments)
		}
		return learned.Answer(ctx, h, tab, arguments)
	}
	stop, err := last.Serve(context.Background(), background.Folder(), recent.Process{
		PID:     os.Getpid(),
		Verb:    o.Verb,
		Version: options.Version,
		Started: time.Now(),
	})
	if err != nil { // calls are served without it
		o.Log.Info("record save cannot reach this process", "error", err)
		return nil
	}
	o.AtEnd(stop)
	return nil
}
