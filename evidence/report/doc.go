// Package report says what a run found: as tables for people, as JUnit for
// continuous integration, as one HTML page and as JSON.
//
// It does not run anything and does not decide what counts as failed. Package
// plan makes the results; the verbs of cmd/outrider print them.
package report

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Files are the files to write, by their format.
type Files map[string]string

var formats = []string{"junit", "json", "html"}

// ParseFiles reads junit=FILE,json=FILE,html=FILE, in any choice.
func ParseFiles(text string) (Files, error) {
	out := Files{}
	if text == "" {
		return out, nil
	}
	for _, part := range strings.Split(text, ",") {
		format, file, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || file == "" || !slices.Contains(formats, format) {
			return nil, fmt.Errorf("--report is %q: expected junit=FILE,json=FILE,html=FILE, in any choice", text)
		}
		if out[format] != "" {
			return nil, fmt.Errorf("--report names %s twice", format)
		}
		out[format] = file
	}
	return out, nil
}

// Write writes what content makes for each format into a folder. It returns one
// error for each file that could not be written.
func (f Files) Write(to Folder, content func(format string) ([]byte, error)) []error {
	var failed []error
	for _, format := range formats {
		file, wanted := f[format]
		if !wanted {
			continue
		}
		text, err := content(format)
		if err == nil {
			err = write(to, file, text)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("the %s report could not be written to %s: %w", format, file, err))
		}
	}
	return failed
}

// JSON is a result as an indented document.
func JSON(result any) ([]byte, error) {
	content, err := json.MarshalIndent(result, "", "  ")
	return append(content, '\n'), err
}

func write(to Folder, file string, content []byte) error {
	if err := to.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return to.WriteFile(file, content, 0o644)
}
