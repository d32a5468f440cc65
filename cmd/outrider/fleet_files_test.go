package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	cmd, rest, err := a.root(nil).Find(args)
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
		t.Errorf(
			"compose.yaml: the worker is stopped by %q after %q and reaches %q, %v",
			w.Signal, w.Grace, w.Environment["OUTRIDER_FLEET"], err,
		)
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
			at := parsed(t, "kubernetes.yaml", c.Args).Flag("ops").Value.String()
			if len(c.Ports) != 1 || !strings.HasSuffix(at, ":9464") || c.Ports[0].Port != 9464 {
				t.Errorf("kubernetes.yaml: health is served at %s and asked for at %v", at, c.Ports)
			}
		}
		for _, trigger := range one.Spec.Triggers {
			consumers++
			lane := queue.Lane{Queue: fleet.DefaultQueue, Priority: fleet.Normal, Kind: remote.Kind}
			if m := trigger.Metadata; m["stream"] != wire.JobsStream ||
				m["consumer"] != strings.ReplaceAll(lane.Name(), ".", "__") {
				t.Errorf(
					"kubernetes.yaml: the scaler reads %s %s, the fleet has %s %s",
					m["stream"], m["consumer"], wire.JobsStream, lane.Name(),
				)
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

// container is how a file starts a container.
type container struct {
	where string
	args  []string
	given time.Duration // until it is killed
	bound bool          // nothing is writable but /tmp, and no privilege can come
}

// composed are the containers of a compose file that run our image.
func composed(t *testing.T, path string) []container {
	t.Helper()
	var file struct {
		Services map[string]struct {
			Image    string
			Command  []string
			Grace    string   `yaml:"stop_grace_period"`
			ReadOnly bool     `yaml:"read_only"`
			Drop     []string `yaml:"cap_drop"`
			Security []string `yaml:"security_opt"`
			Temp     []string `yaml:"tmpfs"`
		}
	}
	if err := yaml.Unmarshal([]byte(source(t, path)), &file); err != nil {
		t.Fatal(err)
	}
	var out []container
	for name, s := range file.Services {
		if !strings.Contains(s.Image, "outrider") {
			continue
		}
		given, err := time.ParseDuration(s.Grace)
		if err != nil {
			t.Errorf("%s: %s: %v", path, name, err)
		}
		bound := s.ReadOnly && slices.Contains(s.Drop, "ALL") &&
			slices.Contains(s.Security, "no-new-privileges:true") &&
			slices.Contains(s.Temp, "/tmp")
		out = append(out, container{path + ": " + name, s.Command, given, bound})
	}
	return out
}

// orchestrated are the containers of Kubernetes manifests.
func orchestrated(t *testing.T, path string) []container {
	t.Helper()
	var out []container
	for d := yaml.NewDecoder(strings.NewReader(source(t, path))); ; {
		var one struct {
			Spec struct {
				Template struct {
					Spec struct {
						Grace    int `yaml:"terminationGracePeriodSeconds"`
						Security struct {
							NonRoot bool                  `yaml:"runAsNonRoot"`
							Seccomp struct{ Type string } `yaml:"seccompProfile"`
						} `yaml:"securityContext"`
						Containers []struct {
							Name     string
							Args     []string
							Security struct {
								Escalation *bool                   `yaml:"allowPrivilegeEscalation"`
								ReadOnly   bool                    `yaml:"readOnlyRootFilesystem"`
								Caps       struct{ Drop []string } `yaml:"capabilities"`
							} `yaml:"securityContext"`
							Mounts []struct {
								Path string `yaml:"mountPath"`
							} `yaml:"volumeMounts"`
						}
					}
				}
			}
		}
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		pod := one.Spec.Template.Spec
		for _, c := range pod.Containers {
			s := c.Security
			temp := false
			for _, m := range c.Mounts {
				temp = temp || m.Path == "/tmp"
			}
			escalates := s.Escalation == nil || *s.Escalation
			bound := pod.Security.NonRoot && pod.Security.Seccomp.Type != "" && !escalates
			bound = bound && temp && s.ReadOnly && slices.Contains(s.Caps.Drop, "ALL")
			out = append(out, container{path + ": " + c.Name, c.Args, time.Duration(pod.Grace) * time.Second, bound})
		}
	}
}

// TestContainersStart: every container has a command line that the command reads, a browser that starts without
// user namespaces, no privilege that it does without, and time to end well.
func TestContainersStart(t *testing.T) {
	all := slices.Concat(
		composed(t, "dist/fleet/compose.yaml"), orchestrated(t, "dist/fleet/kubernetes.yaml"),
		composed(t, "dist/services/compose.yaml"), orchestrated(t, "dist/services/kubernetes.yaml"))
	if len(all) != 8 {
		t.Errorf("%d containers, want 8", len(all))
	}
	for _, c := range all {
		cmd := parsed(t, c.where, c.args)
		if f := cmd.Flag("no-sandbox"); f != nil && f.Value.String() != "true" {
			t.Errorf("%s: the browser wants user namespaces, which containers do not have", c.where)
		}
		if !c.bound {
			t.Errorf("%s: it may write or become more than it needs", c.where)
		}
		endsInTime(t, c.where, cmd, c.given)
		if ops := cmd.Flag("ops"); ops == nil || ops.Value.String() != "0.0.0.0:9464" {
			t.Errorf("%s: nobody can ask whether it is well", c.where)
		}
	}
}

// endsInTime: whoever stops a program gives it longer than it takes to end what it has begun.
func endsInTime(t *testing.T, where string, cmd *cobra.Command, given time.Duration) {
	t.Helper()
	name := "drain-timeout"
	if cmd.Name() == "worker" {
		name = "drain"
	}
	takes, err := cmd.Flags().GetDuration(name)
	if err != nil || takes < 10*time.Second || takes >= given {
		t.Errorf("%s: it takes %s to end, and is given %s, %v", where, takes, given, err)
	}
}

// TestUnitsOfServices: the units have commands that the command reads, and time to end well.
func TestUnitsOfServices(t *testing.T) {
	for _, name := range []string{"hub", "connect", "mcp"} {
		path := "dist/services/outrider-" + name + ".service"
		unit := source(t, path)
		start := regexp.MustCompile(`(?m)^ExecStart=/usr/bin/outrider (.*)$`).FindStringSubmatch(unit)
		stop := regexp.MustCompile(`(?m)^TimeoutStopSec=(\d+)$`).FindStringSubmatch(unit)
		if start == nil || stop == nil || !strings.Contains(unit, "\nKillMode=mixed\n") {
			t.Fatalf("%s has no command, time or way to stop:\n%s", path, unit)
		}
		given, err := time.ParseDuration(stop[1] + "s")
		if err != nil {
			t.Fatal(err)
		}
		cmd := parsed(t, path, strings.Fields(start[1]))
		if cmd.Name() != name {
			t.Errorf("%s starts %s", path, cmd.Name())
		}
		endsInTime(t, path, cmd, given)
	}
}
