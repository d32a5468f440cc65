package learn

import (
	"os"
	"path/filepath"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/runtime"
)

// What is remembered of the calls of a host.
const (
	rememberedFor   = 30 * time.Minute
	rememberedBytes = 16 << 20
)

// Remember has a host that is opened with options remember its last calls, so that mode
// learn can make actions of them. maps are the files and folders of maps on offer. A host
// that is recorded remembers none.
func Remember(options *runtime.Options, maps []string) {
	if options.Recorder != nil {
		return
	}
	ring := record.NewRing(rememberedFor, rememberedBytes)
	options.Recorder = capture.New(capture.Options{Header: record.Header{Program: "outrider " + options.Version}, Secrets: options.Secrets, Sinks: []record.Sink{ring}})
	options.Learn = Mode{Ring: ring, Options: Options{NewID: options.NewID, Now: time.Now}, Storage: storageOf(maps)}.Answer
}

// storageOf is the storage folder among the maps, "" for none.
func storageOf(maps []string) string {
	for _, m := range maps {
		if info, err := os.Stat(filepath.Join(m, "scopes")); err == nil && info.IsDir() {
			return m
		}
	}
	return ""
}
