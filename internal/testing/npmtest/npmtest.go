// Package npmtest brings packages of npm into a folder that is kept between runs, for long tests on what other people
// have built. It decides nothing about what is done with them. Tests of agents and of widgets call it.
package npmtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Folder is where packages are kept between two runs: what the environment names, or a folder of the user's cache.
func Folder(tb testing.TB, variable, name string) string {
	tb.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			tb.Skipf("no folder for the packages: %v; name one by %s", err, variable)
		}
		dir = filepath.Join(cache, "outrider", name)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// Run runs a command in a folder. Its error has the end of what the command printed.
func Run(ctx context.Context, dir string, command ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, out[max(0, len(out)-600):])
	}
	return nil
}

// Install installs packages into a folder, once. Peers that a package asks for are those that the list has.
func Install(ctx context.Context, dir string, packages ...string) error {
	sum := sha256.Sum256([]byte(strings.Join(packages, " ")))
	done := filepath.Join(dir, ".npm-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	command := []string{
		"npm", "install", "--no-audit", "--no-fund", "--silent", "--legacy-peer-deps", "--ignore-scripts",
		"--prefix", dir,
	}
	if err := Run(ctx, dir, append(command, packages...)...); err != nil {
		return err
	}
	return os.WriteFile(done, nil, 0o644)
}
