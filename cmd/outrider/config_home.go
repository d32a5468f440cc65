package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// pathFlags are the flags that name one file or folder. In their values a ~ at the beginning is
// the home folder: no shell has replaced it in a file, in a variable, and after a = of the
// command line. What a project file says is taken as it is written.
var pathFlags = []string{
	"artifacts", "browser", "cdp-log", "cert", "data",
	"download-dir", "fleet-ca", "fleet-cert", "fleet-creds", "fleet-key",
	"fleet-nkey", "keep", "key", "maps", "out",
	"har", "payload-dir", "record", "save", "save-storage-state", "sign-key", "socket",
	"storage-root", "storage-state", "tenants", "token-file", "trace", "upload-dir", "user-data-dir", "vars",
}

// expandHome replaces the ~ that a path begins with.
func expandHome(f *pflag.Flag) error {
	if !slices.Contains(pathFlags, f.Name) {
		return nil
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		values := list.GetSlice()
		for i, value := range values {
			path, err := inHome(value)
			if err != nil {
				return fmt.Errorf("--%s: %w", f.Name, err)
			}
			values[i] = path
		}
		return list.Replace(values)
	}
	if f.Value.Type() != "string" {
		return nil
	}
	path, err := inHome(f.Value.String())
	if err != nil {
		return fmt.Errorf("--%s: %w", f.Name, err)
	}
	return f.Value.Set(path)
}

func inHome(path string) (string, error) {
	if path != "~" && !strings.HasPrefix(path, "~/") && !strings.HasPrefix(path, "~"+string(filepath.Separator)) {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("%s: there is no home folder: %w", path, err)
	}
	return filepath.Join(home, path[1:]), nil
}
