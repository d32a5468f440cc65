package report

import (
	"encoding/base64"
	"path/filepath"
)

// Comparison is a screenshot beside the one that was kept, and what differs.
type Comparison struct {
	Name string `json:"name"`
	// Files are where the pictures were written: what was kept, what the page shows, and what differs.
	Files []string `json:"files,omitempty"`
	// Shown are the same three as pictures of an HTML report; -1 where there is none.
	Shown []int `json:"shown,omitempty"`

	pictures [3][]byte
}

// NewComparison is a comparison of PNG files; difference is nil where the sizes are not the same.
func NewComparison(name string, kept, now, difference []byte) *Comparison {
	return &Comparison{Name: name, pictures: [3][]byte{kept, now, difference}}
}

// Write writes the pictures as files whose names begin with path.
func (c *Comparison) Write(to Folder, path string, warn func(format string, args ...any)) {
	if err := to.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		warn("the pictures of %s could not be written: %w", c.Name, err)
		return
	}
	for i, kind := range []string{"expected", "actual", "difference"} {
		if c.pictures[i] == nil {
			continue
		}
		file := path + "-" + kind + ".png"
		if err := to.WriteFile(file, c.pictures[i], 0o644); err != nil {
			warn("the picture %s could not be written: %w", file, err)
			continue
		}
		c.Files = append(c.Files, file)
	}
}

// compared is a comparison as the page of a report has it.
func (g *gallery) compared(c *Comparison) *Comparison {
	if c == nil || c.pictures[0] == nil {
		return c
	}
	shown := &Comparison{Name: c.Name, Files: c.Files}
	for _, file := range c.pictures {
		at := -1
		if file != nil {
			at = g.add(picture{DataURL: "data:image/png;base64," + base64.StdEncoding.EncodeToString(file)})
		}
		shown.Shown = append(shown.Shown, at)
	}
	return shown
}

// add is the place of a picture, which a page has once.
func (g *gallery) add(p picture) int {
	i, ok := g.at[p.DataURL]
	if !ok {
		i = len(g.pictures)
		g.at[p.DataURL] = i
		g.pictures = append(g.pictures, p)
	}
	return i
}
