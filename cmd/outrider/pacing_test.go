package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestPacingThatIsGiven: 0 counts like any other value, wherever it comes from,
// and only a pacing that nobody gave is left to the profile.
func TestPacingThatIsGiven(t *testing.T) {
	for _, c := range []struct {
		name, env, project, user string
		args                     []string
		want                     *time.Duration
	}{
		{name: "none"},
		{name: "flag", args: []string{"--pacing", "0ms"}, want: new(time.Duration(0))},
		{name: "environment", env: "0s", want: new(time.Duration(0))},
		{name: "project file", project: "pacing: 0s\n", want: new(time.Duration(0))},
		{name: "user's file", user: "pacing: 0s\n", want: new(time.Duration(0))},
		{name: "flag before environment", env: "2s", args: []string{"--pacing", "0"}, want: new(time.Duration(0))},
		{name: "environment before project file", env: "2s", project: "pacing: 0s\n", want: new(2 * time.Second)},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, ".config"))
			t.Setenv("HOME", dir)
			t.Setenv("OUTRIDER_PACING", c.env)
			userDir, err := os.UserConfigDir()
			if err != nil {
				t.Fatal(err)
			}
			for path, content := range map[string]string{
				projectFile: c.project,
				filepath.Join(userDir, "outrider", "config.yaml"): c.user,
			} {
				if content == "" {
					continue
				}
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			a := &app{stdout: io.Discard, stderr: io.Discard}
			cmd := &cobra.Command{}
			a.addBrowserFlags(cmd)
			if err := cmd.ParseFlags(append(c.args, "--profile", "extension")); err != nil {
				t.Fatal(err)
			}
			if err := a.configure(cmd); err != nil {
				t.Fatal(err)
			}
			options, err := a.runtimeOptions(a.hostSettings())
			if err != nil {
				t.Fatal(err)
			}
			defer options.Engine.Close()
			switch got := options.Pacing; {
			case c.want == nil && got != nil:
				t.Errorf("got %s, want the profile's", *got)
			case c.want != nil && (got == nil || *got != *c.want):
				t.Errorf("got %v, want %s", got, *c.want)
			}
		})
	}
}
