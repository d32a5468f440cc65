package shell

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Take is the result of a step as members. What a command asked to save is in its file then, and the result names it.
// An error that is no fault is of that file.
func (a Answer) Take() (map[string]any, error) {
	result := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(a.Result))
	d.UseNumber()
	if err := d.Decode(&result); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "reading the result of the session")
	}
	if a.Step.one {
		if err := oneElement(result); err != nil {
			return nil, err
		}
	}
	if a.Step.Save == "" {
		return result, nil
	}
	file, err := a.save(result)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Step.Line, err)
	}
	for _, name := range []string{"base64", "resource", "path"} {
		delete(result, name)
	}
	result["file"] = file
	return result, nil
}

// oneElement refuses an answer about no element, or about several.
func oneElement(result map[string]any) error {
	switch count := plainly(result["count"]); count {
	case "1":
		return nil
	case "0":
		return fault.New(fault.TargetNotFound, "no element fits").Next("look with outrider snapshot or find")
	default:
		return fault.New(fault.MultipleTargets, "%s elements fit", count).Next("give --nth, or a ref of a snapshot")
	}
}

// save writes the picture, the document or the download of an answer to the file that its step names.
func (a Answer) save(result map[string]any) (string, error) {
	to := a.Step.Save
	if len(a.Image) > 0 {
		return to, outfile.Write(to, a.Image, 0o644)
	}
	if text, ok := result["base64"].(string); ok {
		content, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return "", err
		}
		return to, outfile.Write(to, content, 0o644)
	}
	from, _ := result["path"].(string)
	if from == "" {
		return "", fmt.Errorf("the answer has nothing to save")
	}
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		to = filepath.Join(to, filepath.Base(from))
	}
	in, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer in.Close()
	return to, outfile.Fill(to, 0o644, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}

// Print returns an answer as text for a person or a model. result is that of Take.
func (a Answer) Print(result map[string]any) string {
	if file, ok := result["file"].(string); ok {
		return "saved " + file
	}
	if a.Step.Show != nil {
		return a.Step.Show(result)
	}
	return a.Text
}

// Line is a session on one line, at a time and for a version of the program.
func (i Info) Line(now time.Time, version string) string {
	age, unused := short(now.Sub(i.Started)), short(now.Sub(i.Used))
	line := fmt.Sprintf("%s pid %d, %s old, unused for %s", i.Name, i.PID, age, unused)
	if i.Owner != 0 {
		line += fmt.Sprintf(", of process %d", i.Owner)
	}
	if i.Memory > 0 {
		line += fmt.Sprintf(", %d MB", i.Memory>>20)
	}
	if i.Version != version {
		line += ", version " + i.Version
	}
	if i.URL != "" {
		line += fmt.Sprintf(", %d pages, %q %s", i.Pages, i.Title, i.URL)
	}
	return line
}

func short(d time.Duration) string { return max(d, 0).Round(time.Second).String() }
