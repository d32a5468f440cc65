package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/cmd/outrider/author"
	"github.com/outrider-run/outrider/cmd/outrider/reproduce"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/runtime"
)

// authoring is the command as the verbs of package author see it.
type authoring struct{ reproducing }

func (w authoring) WithHost(ctx context.Context, addresses []string, do func(context.Context, *runtime.Host) error) error {
	if addresses != nil {
		w.browser.open = addresses
	}
	return w.withHost(ctx, do)
}

func (w authoring) Usage(format string, args ...any) error { return usage(format, args...) }
func (w authoring) Verdict(ok bool) error                  { return verdict(ok, true) }
func (w authoring) Progress() *report.Progress             { return w.progress() }

func (w authoring) Asked() author.Asked {
	return author.Asked{
		JSON: w.json, Headed: w.browser.headed, Maps: w.browser.maps, Version: version, Secrets: w.secrets, Out: w.stdout, Words: w.stderr,
	}
}

func (a *app) authorVerbs() []*cobra.Command {
	w := authoring{reproducing{a}}
	record := author.Record(w)
	record.AddCommand(reproduce.Save(w.reproducing))
	return []*cobra.Command{author.Init(w), record, author.Learn(w), author.Locators(w), author.Coverage(w)}
}
