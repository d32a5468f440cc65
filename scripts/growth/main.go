// Command growth draws the tables of make bench-growth, one SVG for each column of
// milliseconds or megabytes that belong together, and writes them as a page of Markdown.
// It is a module of its own, so that the library that draws is nobody else's dependency.
package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// curves are the tables, in the order of the page, with what they show.
var curves = []struct{ name, title string }{
	{"tabs", "Tabs that are open"},
	{"elements", "Elements of the page"},
	{"rows", "Rows that are extracted"},
	{"maps", "Maps that are loaded"},
	{"steps", "Steps of a workflow"},
	{"calls", "Calls in one session"},
	{"navigations", "Navigations in one session"},
	{"cycles", "Tabs opened and closed in one session"},
}

func main() {
	if len(os.Args) != 3 && len(os.Args) != 4 {
		fail(fmt.Errorf("usage: growth TABLES PAGE.md [UNIT]"))
	}
	tables := os.Args[1]
	page := os.Args[2]
	units := []string{"ms", "MB"}
	if len(os.Args) == 4 {
		units = os.Args[3:] // the times of a busy machine say nothing
	}
	about, err := os.ReadFile(filepath.Join(tables, "about.txt"))
	if err != nil {
		fail(err)
	}
	var text strings.Builder
	text.WriteString("# Growth\n\nHow time and memory grow. `make bench-growth` measures, draws and writes this " +
		"page.\n\n" + strings.TrimSpace(string(about)) + "\n")
	for _, c := range curves {
		rows, err := read(filepath.Join(tables, c.name+".csv"))
		if err != nil {
			fail(err)
		}
		rows = only(rows, units)
		if len(rows[0]) == 1 {
			continue
		}
		text.WriteString("\n## " + c.title + "\n\n" + markdown(rows) + "\n")
		for _, unit := range units {
			picture := filepath.Join(filepath.Dir(page), "growth", c.name+"-"+strings.ToLower(unit)+".svg")
			drawn, err := draw(rows, c.title, unit, picture)
			if err != nil {
				fail(err)
			}
			if drawn {
				fmt.Fprintf(&text, "![%s, in %s](growth/%s)\n", c.title, unit, filepath.Base(picture))
			}
		}
	}
	if err := os.WriteFile(page, []byte(text.String()), 0o644); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "growth:", err)
	os.Exit(1) // layering:allow: a command
}

func read(file string) ([][]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err == nil && len(rows) < 3 {
		err = fmt.Errorf("%s has no curve", file)
	}
	return rows, err
}

// only keeps the first column and those of the units.
func only(rows [][]string, units []string) [][]string {
	kept := make([][]string, len(rows))
	for column, name := range rows[0] {
		if column > 0 &&
			!slices.ContainsFunc(units, func(unit string) bool { return strings.HasSuffix(name, ", "+unit) }) {
			continue
		}
		for i, row := range rows {
			kept[i] = append(kept[i], row[column])
		}
	}
	return kept
}

func markdown(rows [][]string) string {
	var out strings.Builder
	for i, row := range rows {
		out.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			out.WriteString("|" + strings.Repeat("---:|", len(row)) + "\n")
		}
	}
	return out.String()
}

// draw draws the columns of one unit; false when there is none.
func draw(rows [][]string, title, unit, file string) (bool, error) {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text = rows[0][0]
	p.Y.Label.Text = unit
	p.Legend.Top, p.Legend.Left = true, true
	p.Y.Min = 0
	var lines []any
	least, most := math.Inf(1), 0.0
	for column := 1; column < len(rows[0]); column++ {
		name, is := strings.CutSuffix(rows[0][column], ", "+unit)
		if !is {
			continue
		}
		var points plotter.XYs
		for _, row := range rows[1:] {
			x, err := strconv.ParseFloat(row[0], 64)
			if err != nil {
				return false, err
			}
			y, err := strconv.ParseFloat(row[column], 64)
			if err != nil {
				return false, err
			}
			least, most = min(least, x), max(most, x)
			points = append(points, plotter.XY{X: x, Y: y})
		}
		slices.SortFunc(points, func(a, b plotter.XY) int { return int(math.Copysign(1, a.X-b.X)) })
		lines = append(lines, name, points)
	}
	if len(lines) == 0 {
		return false, nil
	}
	if least > 0 && most/least > 50 { // from one to a thousand
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	if err := plotutil.AddLinePoints(p, lines...); err != nil {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return false, err
	}
	return true, p.Save(18*vg.Centimeter, 9*vg.Centimeter, file)
}
