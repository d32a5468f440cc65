package remote

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/primitives/fault"
)

// carried is a reporter whose job has these files.
type carried map[string][]byte

func (c carried) Act(context.Context, fleet.Step) error { return nil }
func (c carried) Step(fleet.Step)                       {}
func (c carried) Text(string)                           {}
func (c carried) Tenant() string                        { return "" }
func (c carried) File(_ context.Context, name string) ([]byte, error) {
	return c[name], nil
}

// TestAJobNamesNoFilesOfTheWorker: whatever a job that somebody made by hand says, nothing
// outside of its own files is read, and no browser is opened.
func TestAJobNamesNoFilesOfTheWorker(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "rows.json")
	if err := os.WriteFile(secret, []byte(`[{"name": "secret-of-the-worker"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(
		filepath.Join(dir, "other.yaml"), []byte("steps: [{call: page.info, name: secret-of-the-worker}]"), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	for name, plan := range map[string]string{
		"data":                "data: " + secret + "\nsteps: [{call: page.info}]",
		"data above":          "data: ../../../../../../../../.." + secret + "\nsteps: [{call: page.info}]",
		"setup":               "setup: [" + dir + "/other.yaml]\nsteps: [{call: page.info}]",
		"teardown":            "teardown: [" + dir + "/other.yaml]\nsteps: [{call: page.info}]",
		"storage state":       "storage_state: " + secret + "\nsteps: [{call: page.info}]",
		"a session's storage": "sessions: {b: {storage_state: " + secret + "}}\nsteps: [{call: page.info}]",
		"a route's body":      "route: {url: '**', path: " + secret + "}\nsteps: [{call: page.info}]",
		"a step's recording":  "steps: [{call: page.info, route: {url: '**', har: " + secret + "}}]",
		"the environment":     "vars: {home: \"${env.HOME}\"}\nsteps: [{call: page.info}]",
		"a reference": "secrets: {PW: {file: " + secret +
			"}}\nsteps: [{call: page.info, name: \"${env.PATH}\", args: {x: \"${env.PATH}\"}}]",
	} {
		t.Run(name, func(t *testing.T) {
			archive := newPacker()
			if err := archive.file("plans/plan.yaml", []byte(plan)); err != nil {
				t.Fatal(err)
			}
			data, err := archive.close()
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(payload{
				Case: &testCase{Plan: "plans/plan.yaml", Given: "plan.yaml", ID: "x", Name: "x"},
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := NewRunner(Options{Temp: t.TempDir(), Open: func(context.Context, Request) (Host, error) {
				t.Error("a browser was opened")
				return Host{}, errors.New("no")
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			got := r.Run(t.Context(), fleet.Job{Payload: raw}, carried{plansArchive: data})
			if got.Err == nil || fault.CodeOf(got.Err) != fault.InvalidInput ||
				strings.Contains(got.Err.Error(), "secret-of-the-worker") {
				t.Fatalf("got %v", got.Err)
			}
			if text := got.Err.Error(); !strings.Contains(text, "none of the plan's own files") &&
				!strings.Contains(text, "the environment has no variable") || !strings.Contains(text, "plan.yaml:") {
				t.Errorf("the error does not say what and where: %s", text)
			}
		})
	}
}

// TestNamesInAnArchiveStayInside: an archive that somebody made by hand writes nothing
// outside of the job's folder.
func TestNamesInAnArchiveStayInside(t *testing.T) {
	for _, name := range []string{"../out", "/etc/out", "a/../../out"} {
		p := newPacker()
		if err := p.file(name, []byte("x")); err != nil {
			t.Fatal(err)
		}
		data, err := p.close()
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "job")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := unpack(dir, data); !errors.Is(err, fault.UnsafePath) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFilesLieToEachOtherAsTheyDo(t *testing.T) {
	got, err := layout([]string{"plans/a/one.yaml", "plans/common/login.yaml", "state.json"})
	if err != nil || got["plans/a/one.yaml"] != "plans/plans/a/one.yaml" ||
		got["plans/common/login.yaml"] != "plans/plans/common/login.yaml" || got["state.json"] != "plans/state.json" {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := layout([]string{"plans/a/one.yaml"}); err != nil || got["plans/a/one.yaml"] != "plans/one.yaml" {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestMergingSkippedAndLostJobs: a submission whose jobs did not all run has a report of
// each of them.
func TestMergingSkippedAndLostJobs(t *testing.T) {
	raw, err := json.Marshal(payload{
		Case: &testCase{Plan: "plans/p.yaml", Given: "p.yaml", ID: "p.yaml#2", Name: "p [2]"},
	})
	if err != nil {
		t.Fatal(err)
	}
	j := fleet.Job{Run: "r", ID: "0002", Name: "p [2]", Payload: raw}
	lost := read(
		t.Context(), nil, j,
		fleet.Record{Name: j.Name, Outcome: &fleet.Outcome{Error: fault.New(fault.WorkerLost, "it is gone")}},
		func(fleet.Record) error { return nil },
	)
	o := Merge([]Ended{skipped(j), lost}, time.Now())
	text, err := json.Marshal(o.JSON())
	if err != nil || !bytes.Contains(text, []byte(`"totals":{"failed":1,"skipped":1}`)) ||
		!bytes.Contains(text, []byte(`"id":"p.yaml#2"`)) || !bytes.Contains(text, []byte(`"code":"worker_lost"`)) {
		t.Errorf("got %s, %v", text, err)
	}
	if o.OK || len(o.Report.Suites) != 2 || o.Report.Suites[0].Name == o.Report.Suites[1].Name {
		t.Errorf("the report has %+v", o.Report.Suites)
	}
}

// What an archive unfolds to is bounded by what it says and by what is written, whatever it
// weighs: 215 bytes of holes are 4 GB.
func TestAnArchiveUnfoldsToNoMoreThanItMay(t *testing.T) {
	cut := func(size int64) []byte {
		var out bytes.Buffer
		in := tar.NewWriter(&out)
		if err := in.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "x", Mode: 0o644, Size: size}); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for _, c := range []struct {
		name    string
		archive []byte
		want    fault.Code
	}{
		{"an entry of holes", holes(t), fault.UnsafePath},
		{"a size that is more than all may be", cut(maxBytes + 1), fault.PayloadTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			zip := gzip.NewWriter(&out)
			if _, err := zip.Write(c.archive); err != nil {
				t.Fatal(err)
			}
			if err := zip.Close(); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := unpack(dir, out.Bytes()); fault.CodeOf(err) != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
				t.Error("the entry was written")
			}
		})
	}
}

// holes is an archive with an entry of one block that says it is 4 GB: its header stands behind
// one of PAX records, which the writer of the standard library does not write.
func holes(t *testing.T) []byte {
	t.Helper()
	record := func(key, value string) string {
		rest := " " + key + "=" + value + "\n"
		return strconv.Itoa(len(rest)+2) + rest
	}
	records := record("GNU.sparse.major", "1") + record("GNU.sparse.minor", "0") + record("GNU.sparse.name", "x") +
		record("GNU.sparse.realsize", "4294967296")
	var out bytes.Buffer
	in := tar.NewWriter(&out)
	for _, e := range []struct {
		name, text string
	}{{"PaxHeaders/x", records}, {"x", "1\n4294967296\n0\n" + strings.Repeat("\x00", 497)}} {
		if err := in.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg,
			Name:     e.name,
			Mode:     0o644,
			Size:     int64(len(e.text)),
			Format:   tar.FormatUSTAR,
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	archive := out.Bytes()
	const kind, sum = 156, 148
	archive[kind] = tar.TypeXHeader
	copy(archive[sum:], "        ")
	total := 0
	for _, b := range archive[:512] {
		total += int(b)
	}
	copy(archive[sum:], fmt.Sprintf("%06o\x00 ", total))
	return archive
}
