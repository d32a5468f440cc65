package report

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// The most that GitHub shows of one step, and the most that a summary lists.
const (
	mostAnnotations = 10
	mostListed      = 100
)

// Annotations are workflow commands: GitHub shows each beside its line. Of each level it
// shows few. The last one says then how many there are besides, and where: in the reports
// that are elsewhere.
func Annotations(r Run, elsewhere ...string) []byte {
	var b bytes.Buffer
	all := r.Findings()
	for _, level := range []string{"error", "warning"} {
		var mine []Finding
		for _, f := range all {
			if f.Level == level {
				mine = append(mine, f)
			}
		}
		more := 0
		if len(mine) > mostAnnotations {
			more = len(mine) - (mostAnnotations - 1)
			mine = mine[:mostAnnotations-1]
		}
		for _, f := range mine {
			annotate(&b, f)
		}
		if more > 0 {
			where := "--report html=FILE shows them"
			if len(elsewhere) > 0 {
				where = "see " + strings.Join(elsewhere, " and ")
			}
			fmt.Fprintf(&b, "::%s title=outrider::%s\n", level, data(line(fmt.Sprintf("%d more: %s", more, where))))
		}
	}
	return b.Bytes()
}

func annotate(b *bytes.Buffer, f Finding) {
	var props []string
	if f.Place.File != "" {
		props = append(props, "file="+property(filepath.ToSlash(fromHere(f.Place.File))))
	}
	if f.Place.Line > 0 {
		props = append(props, "line="+strconv.Itoa(f.Place.Line))
	}
	props = append(props, "title="+property(f.Rule))
	fmt.Fprintf(b, "::%s %s::%s\n", f.Level, strings.Join(props, ","), data(line(f.Message)))
}

// data and property escape as the runner of GitHub expects.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(line(s)))
}

// Summary is the run in the Markdown of a job's summary.
func Summary(r Run) []byte {
	var b bytes.Buffer
	word := "✅ "
	if !r.OK {
		word = "❌ "
	}
	fmt.Fprintf(&b, "### %s%s\n\n%s · %s\n\n", word, markdown(r.Title), r.Total(), span(r.DurationMS))
	listed, left := 0, 0
	r.Each(func(path []string, t *Test) {
		if !t.Outcome.shows() && t.Outcome != Drifted {
			return
		}
		if listed == mostListed {
			left++
			return
		}
		if listed == 0 {
			fmt.Fprint(&b, "| outcome | test | why | place |\n|---|---|---|---|\n")
		}
		listed++
		place := t.Place
		if len(t.Failures) > 0 && t.Failures[0].Place.File != "" {
			place = t.Failures[0].Place
		}
		fmt.Fprintf(
			&b, "| %s | %s | %s | %s |\n", t.Outcome, markdown(strings.Join(append(path, t.Name), " › ")),
			markdown(t.Message), markdown(place.String()),
		)
	})
	if left > 0 {
		fmt.Fprintf(&b, "\nand %d more\n", left)
	}
	fmt.Fprintln(&b)
	return b.Bytes()
}

// markdown is text in a cell of a table: nothing of it is a tag, a link or a
// mention.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range Shorten(line(s), 300) {
		switch r {
		case '&', '<', '>', '|', '*', '_', '`', '[', ']', '(', ')', '#', '@', '\\', '~', '!', ':', '/':
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// span is a duration for people.
func span(ms int64) string {
	switch {
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case ms < 60_000:
		return fmt.Sprintf("%.1f s", float64(ms)/1000)
	}
	return fmt.Sprintf("%d min %d s", ms/60_000, ms%60_000/1000)
}
