package report_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/evidence/report"
)

// grey is a picture of one colour, twice as large as the viewport that it shows.
func grey(t *testing.T) *report.Screenshot {
	t.Helper()
	canvas := image.NewRGBA(image.Rect(0, 0, 200, 100))
	for i := range canvas.Pix {
		canvas.Pix[i] = 0x80
	}
	var b bytes.Buffer
	if err := png.Encode(&b, canvas); err != nil {
		t.Fatal(err)
	}
	return &report.Screenshot{
		DataURL: "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()),
		Width:   100,
		Height:  50,
	}
}

// A red test's picture becomes a file with the outline of the target in it, to which the
// JUnit report refers.
func TestPicturesAreFilesWithOutlines(t *testing.T) {
	dir := t.TempDir()
	shot := grey(t)
	shot.Outlines = []report.Box{{X: 20, Y: 10, Width: 30, Height: 20}}
	run := report.Run{Suites: []report.Suite{{Name: "s", Tests: []report.Test{
		{Name: "fine", Outcome: report.Passed, Screenshot: grey(t)},
		{Name: "the button/../x", Outcome: report.Failed, Message: "no match", Screenshot: shot},
	}}}}
	files := report.Files{"junit": filepath.Join(dir, "out", "check.xml")}
	if failed := files.Write(report.Anywhere, nil, run); failed != nil {
		t.Fatal(failed)
	}
	want := filepath.Join(dir, "out", "check-pictures", "001-the_button_.._x.png")
	junit, err := os.ReadFile(files["junit"])
	if err != nil {
		t.Fatal(err)
	}
	line := "<system-out>[[ATTACHMENT|" + want + "]]"
	if strings.Count(string(junit), line) != 1 || strings.Count(string(junit), "ATTACHMENT") != 1 {
		t.Errorf("the report does not refer once to %s:\n%s", want, junit)
	}
	content, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	// In pixels the target is (40,20)-(100,60); the outline is around it.
	for _, at := range []struct {
		x, y     int
		outlined bool
	}{
		{39, 40, true},
		{100, 40, true},
		{70, 19, true},
		{70, 60, true},
		{70, 40, false},
		{30, 40, false},
		{70, 70, false},
	} {
		red := saved.At(at.x, at.y) != color.RGBA{0x80, 0x80, 0x80, 0x80}
		if r, g, _, _ := saved.At(at.x, at.y).RGBA(); red && r <= g {
			red = false
		}
		if red != at.outlined {
			t.Errorf("the pixel %d,%d is %v: outlined should be %v", at.x, at.y, saved.At(at.x, at.y), at.outlined)
		}
	}
}

// What was saved for --artifacts is not written a second time beside the report.
func TestPicturesAreSavedOnce(t *testing.T) {
	dir := t.TempDir()
	run := report.Run{Suites: []report.Suite{
		{Name: "s", Tests: []report.Test{{Name: "a", Outcome: report.Failed, Screenshot: grey(t)}}},
	}}
	if err := run.SaveScreenshots(report.Anywhere, filepath.Join(dir, "artifacts")); err != nil {
		t.Fatal(err)
	}
	failed := (report.Files{"junit": filepath.Join(dir, "check.xml")}).Write(report.Anywhere, nil, run)
	if failed != nil {
		t.Fatal(failed)
	}
	if _, err := os.Stat(filepath.Join(dir, "check-pictures")); !os.IsNotExist(err) {
		t.Errorf("the pictures were written again: %v", err)
	}
	junit, _ := os.ReadFile(filepath.Join(dir, "check.xml"))
	if !strings.Contains(string(junit), filepath.Join("artifacts", "001-a.png")) {
		t.Errorf("the report does not refer to the saved picture:\n%s", junit)
	}
}

// A picture that cannot be written is said, and takes no report with it.
func TestPicturesThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "check-pictures"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	run := report.Run{Suites: []report.Suite{
		{Name: "s", Tests: []report.Test{{Name: "a", Outcome: report.Failed, Screenshot: grey(t)}}},
	}}
	failed := (report.Files{"junit": filepath.Join(dir, "check.xml")}).Write(report.Anywhere, nil, run)
	if len(failed) != 1 || !strings.Contains(failed[0].Error(), "the picture of a could not be written") {
		t.Errorf("got %v", failed)
	}
	if _, err := os.Stat(filepath.Join(dir, "check.xml")); err != nil {
		t.Error(err)
	}
}
