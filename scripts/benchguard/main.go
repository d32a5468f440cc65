// Command benchguard compares what benchmarks cost beside their floor with what they cost
// when somebody last looked. It reads the output of go test -bench, several runs of it, and
// measures nothing itself. make bench-guard and make bench-ratios call it.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Row is what runs of one benchmark gave: cost beside the floor, or share of it.
type Row struct {
	// Unit is ratio-of-fastest, of which less is better, or of-floor, of which more is.
	// The fastest tenth of the rounds is the least that other work on the machine changes.
	Unit   string  `json:"unit"`
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Runs   int     `json:"runs"`
}

// leastMargin is how much of its median a row may always get worse.
const leastMargin = 0.05

// bound is the last value that is not worse: beyond the worst run by as much as the runs
// differ among themselves.
func (r Row) bound() float64 {
	margin := max(r.High-r.Low, leastMargin*r.Median)
	if r.Unit == "of-floor" {
		return r.Low - margin
	}
	return r.High + margin
}

func (r Row) worse(now float64) bool {
	if r.Unit == "of-floor" {
		return now < r.bound()
	}
	return now > r.bound()
}

// File is the form of testdata/bench/ratios.json.
type File struct {
	About string         `json:"about"`
	Rows  map[string]Row `json:"rows"`
}

var (
	processors = regexp.MustCompile(`-\d+$`) // go test adds their number to names
	metric     = regexp.MustCompile(`([\d.]+) (ratio-of-fastest|of-floor)\b`)
)

// read collects the rows of the output of go test -bench. It passes the output on.
func read(in io.Reader, echo io.Writer) (map[string]Row, error) {
	values := map[string][]float64{}
	units := map[string]string{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		fmt.Fprintln(echo, lines.Text())
		fields := strings.Fields(lines.Text())
		m := metric.FindStringSubmatch(lines.Text())
		if m == nil || len(fields) == 0 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fields[0], err)
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		values[name], units[name] = append(values[name], v), m[2]
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return nil, errors.New("the input has no benchmark with a ratio: see make bench-guard")
	}
	rows := map[string]Row{}
	for name, all := range values {
		slices.Sort(all)
		rows[name] = Row{Unit: units[name], Median: all[len(all)/2], Low: all[0], High: all[len(all)-1], Runs: len(all)}
	}
	return rows, nil
}

// compare says in a line for each row what became of it, and how many got worse or were
// not measured.
func compare(out io.Writer, then, now map[string]Row) (bad int) {
	for _, name := range slices.Sorted(maps.Keys(then)) {
		was, is := then[name], now[name]
		switch {
		case is.Runs == 0:
			bad++
			fmt.Fprintf(out, "MISSING  %s: no run of it; it was %.2f\n", name, was.Median)
		case was.worse(is.Median):
			bad++
			fmt.Fprintf(
				out, "WORSE    %s: %.2f (%.2f to %.2f in %d runs), it was %.2f (%.2f to %.2f); the bound is %.2f\n",
				name, is.Median, is.Low, is.High, is.Runs, was.Median, was.Low, was.High, was.bound(),
			)
		default:
			fmt.Fprintf(
				out, "ok       %s: %.2f, it was %.2f; the bound is %.2f\n", name, is.Median, was.Median, was.bound(),
			)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, known := then[name]; !known {
			fmt.Fprintf(out, "new      %s: %.2f; make bench-ratios adds it\n", name, now[name].Median)
		}
	}
	return bad
}

func run(args []string, in io.Reader, out io.Writer) (code int, err error) {
	set := flag.NewFlagSet("benchguard", flag.ContinueOnError)
	set.SetOutput(out)
	update := set.Bool("update", false, "write the file instead of comparing with it")
	about := set.String("about", "", "with -update: machine and day, for the file")
	if err := set.Parse(args); err != nil || set.NArg() != 1 {
		return 2, errors.New("usage: go test -bench … | benchguard [-update] [-about TEXT] FILE")
	}
	now, err := read(in, out)
	if err != nil {
		return 2, err
	}
	var then File
	raw, err := os.ReadFile(set.Arg(0))
	if err == nil {
		err = json.Unmarshal(raw, &then)
	} else if *update && errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return 2, err
	}
	if *update {
		if *about != "" {
			then.About = *about
		}
		if then.Rows == nil {
			then.Rows = map[string]Row{}
		}
		maps.Copy(then.Rows, now)
		text, err := json.MarshalIndent(then, "", "  ")
		if err != nil {
			return 2, err
		}
		return 0, os.WriteFile(set.Arg(0), append(text, '\n'), 0o644)
	}
	if bad := compare(out, then.Rows, now); bad > 0 {
		fmt.Fprintf(out, "%d of %d rows got worse or were not measured\n", bad, len(then.Rows))
		return 1, nil
	}
	return 0, nil
}

func main() {
	code, err := run(os.Args[1:], os.Stdin, os.Stdout) // layering:allow: a command
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchguard:", err)
	}
	os.Exit(code) // layering:allow: a command
}
