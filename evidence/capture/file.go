package capture

import (
	"errors"
	"os"

	"github.com/outrider-run/outrider/evidence/record"
)

// Files says where a recording goes: a file, what is made of it, or both. All empty is nowhere.
type Files struct {
	Record string
	// Trace and HAR are files that Export and ExportHAR make of the recording.
	Trace, HAR        string
	Export, ExportHAR func(from, to string) error
}

// Open begins a recording into files; nil without any.
func Open(files Files, opts Options) (*Recorder, error) {
	path := files.Record
	if path == "" && files.Trace == "" && files.HAR == "" {
		return nil, nil //nolint:nilnil // nobody records
	}
	temporary := path == ""
	if temporary {
		f, err := os.CreateTemp("", "outrider-recording-")
		if err != nil {
			return nil, err
		}
		path = f.Name()
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	file, err := record.Create(path)
	if err != nil {
		return nil, err
	}
	opts.Sinks = append(opts.Sinks, file)
	opts.OnClose = func() error {
		err := file.Close()
		if files.Trace != "" {
			err = errors.Join(err, files.Export(path, files.Trace))
		}
		if files.HAR != "" {
			err = errors.Join(err, files.ExportHAR(path, files.HAR))
		}
		if temporary {
			err = errors.Join(err, os.Remove(path))
		}
		return err
	}
	return New(opts), nil
}
