package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/plan/remote"
)

// parsed is a command line of ours that a file starts a worker with, read by the command
// itself.
func parsed(t *testing.T, file string, args []string) *cobra.Command {
	t.Helper()
	a := &app{stdout: io.Discard, stderr: io.Discard}
	cmd, rest, err := a.root().Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil || !cmd.Runnable() {
		t.Fatalf("%s: %v: %v", file, args, err)
	}
	return cmd
}

// TestFilesOfAFleet: the files that start workers elsewhere have command lines that the
// command reads, times that fit together, and names that the fleet has.
func TestFilesOfAFleet(t *testing.T) {
	dir := filepath.Join("..", "..", "dist", "fleet")
	read := func(name string) []byte {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	// Whoever stops a worker gives it longer than it takes to drain.
	drains := func(file string, args []string, given time.Duration) {
		t.Helper()
		cmd := parsed(t, file, args)
		drain, err := cmd.Flags().GetDuration("drain")
		if err != nil || cmd.Name() != "worker" || drain >= given || drain < 10*time.Second {
			t.Errorf("%s: %s drains for %s, and is given %s, %v", file, cmd.Name(), drain, given, err)
		}
	}

	var compose struct {
		Services map[string]struct {
			Command     []string
			Environment map[string]string
			Grace       string `yaml:"stop_grace_period"`
			Signal      string `yaml:"stop_signal"`
		}
	}
	if err := yaml.Unmarshal(read("compose.yaml"), &compose); err != nil {
		t.Fatal(err)
	}
	w := compose.Services["worker"]
	grace, err := time.ParseDuration(w.Grace)
	if err != nil || w.Signal != "SIGTERM" || w.Environment["OUTRIDER_FLEET"] == "" {
		t.Errorf("compose.yaml: the worker is stopped by %q after %q and reaches %q, %v", w.Signal, w.Grace, w.Environment["OUTRIDER_FLEET"], err)
	}
	drains("compose.yaml", w.Command, grace)

	consumers := 0
	for d := yaml.NewDecoder(bytes.NewReader(read("kubernetes.yaml"))); ; {
		var one struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct {
						Grace      int `yaml:"terminationGracePeriodSeconds"`
						Containers []struct {
							Args  []string
							Ports []struct {
								Port int `yaml:"containerPort"`
							}
						}
					}
				}
				Triggers []struct{ Metadata map[string]string }
			}
		}
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, c := range one.Spec.Template.Spec.Containers {
			drains("kubernetes.yaml", c.Args, time.Duration(one.Spec.Template.Spec.Grace)*time.Second)
			if at := parsed(t, "kubernetes.yaml", c.Args).Flag("ops").Value.String(); len(c.Ports) != 1 || !strings.HasSuffix(at, ":9464") || c.Ports[0].Port != 9464 {
				t.Errorf("kubernetes.yaml: health is served at %s and asked for at %v", at, c.Ports)
			}
		}
		for _, trigger := range one.Spec.Triggers {
			consumers++
			lane := queue.Lane{Queue: fleet.DefaultQueue, Priority: fleet.Normal, Kind: remote.Kind}
			if m := trigger.Metadata; m["stream"] != wire.JobsStream || m["consumer"] != strings.ReplaceAll(lane.Name(), ".", "__") {
				t.Errorf("kubernetes.yaml: the scaler reads %s %s, the fleet has %s %s", m["stream"], m["consumer"], wire.JobsStream, lane.Name())
			}
		}
	}
	if consumers != 1 {
		t.Errorf("kubernetes.yaml has %d triggers", consumers)
	}

	unit := string(read("outrider-worker.service"))
	start := regexp.MustCompile(`(?m)^ExecStart=/usr/bin/outrider (.*)$`).FindStringSubmatch(unit)
	stop := regexp.MustCompile(`(?m)^TimeoutStopSec=(\d+)$`).FindStringSubmatch(unit)
	if start == nil || stop == nil || !strings.Contains(unit, "\nKillMode=mixed\n") {
		t.Fatalf("outrider-worker.service has no command, time or way to stop:\n%s", unit)
	}
	given, err := time.ParseDuration(stop[1] + "s")
	if err != nil {
		t.Fatal(err)
	}
	drains("outrider-worker.service", strings.Fields(start[1]), given)

	// Comments at the top of the files have command lines too.
	for _, name := range []string{"compose.yaml", "outrider-worker.service", "kubernetes.yaml"} {
		for _, m := range regexp.MustCompile(`(?m)^#\s+outrider (.*)$`).FindAllStringSubmatch(string(read(name)), -1) {
			parsed(t, name, strings.Fields(m[1]))
		}
	}
}
