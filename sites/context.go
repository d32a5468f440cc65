package sites

import (
	"slices"
	"strings"

	"github.com/outrider-run/outrider/sites/location"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Situation is where an agent is, as far as it is known. What is unknown
// is left empty, and blocks that depend on it are not selected.
type Situation struct {
	URL         string
	States      []string // current, by the names the page's maps offer them
	Targets     []string // names of targets that are there
	Attachments []string // ids of attachments that are installed
	Task        string   // what the agent is about, in its own words
}

// ContextBlock is documentation that a map offers for a situation. It permits
// nothing: what may be called is what the list says.
type ContextBlock struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	Body  string `json:"body"`
	// AvailableTools and NextStates are names as the page's maps offer them.
	AvailableTools []string   `json:"available_tools,omitempty"`
	NextStates     []string   `json:"next_states,omitempty"`
	MapPath        string     `json:"map_path"`
	Source         *SourceRow `json:"source,omitempty"`
}

// Limits of what is selected, so that documentation never crowds out the answer
// it comes with.
const (
	MaxContextBlocks = 32
	MaxContextBytes  = 24_000 // of titles and bodies together
)

// Context selects the context blocks of the maps of a page: those whose
// load_when holds, in order of scope, map and declaration. Lists of one condition
// are alternatives, different conditions hold together, and a block without
// conditions always holds. dropped counts the blocks beyond the limits. It is a
// pure function of its arguments.
func (l *Library) Context(s Situation) (blocks []ContextBlock, dropped int) {
	bytes := 0
	for _, m := range l.For(s.URL) {
		l.contexts(m, func(e *Exposed[manifest.Context]) {
			namespace := ""
			if e.Source.ID != "" {
				namespace = e.Source.Namespace
			}
			if !loads(&e.Entry.LoadWhen, s, namespace) {
				return
			}
			size := len(e.Entry.Title) + len(e.Entry.Body)
			if len(blocks) == MaxContextBlocks || bytes+size > MaxContextBytes {
				dropped++
				return
			}
			bytes += size
			blocks = append(blocks, ContextBlock{
				ID:             e.Name,
				Title:          e.Entry.Title,
				Body:           e.Entry.Body,
				AvailableTools: joinAll(namespace, e.Entry.AvailableTools),
				NextStates:     joinAll(namespace, e.Entry.NextStates),
				MapPath:        m.Path,
				Source:         sourceRow(e.Source),
			})
		})
	}
	return blocks, dropped
}

// contexts calls yield with every context block that m offers.
func (l *Library) contexts(m *Map, yield func(*Exposed[manifest.Context])) {
	if c := l.composed[m]; c != nil {
		for i := range c.Contexts {
			yield(&c.Contexts[i])
		}
		return
	}
	self := &Source{Map: m, Trust: m.trust()}
	for i := range m.Manifest.Context {
		x := &m.Manifest.Context[i]
		yield(&Exposed[manifest.Context]{Name: x.ID, Entry: x, Source: self})
	}
}

// loads reports whether the conditions of a block hold. namespace is that of the
// import it came by: its own names stand for those the page's maps offer.
func loads(w *manifest.LoadWhen, s Situation, namespace string) bool {
	names := func(wanted, there []string) bool {
		return len(wanted) == 0 ||
			slices.ContainsFunc(wanted, func(name string) bool { return slices.Contains(there, join(namespace, name)) })
	}
	if !names(w.States, s.States) || !names(w.Targets, s.Targets) || !names(w.Attachments, s.Attachments) {
		return false
	}
	if len(w.URLContains) > 0 && !slices.ContainsFunc(w.URLContains, func(part string) bool {
		return s.URL != "" && location.URLContains(part, s.URL)
	}) {
		return false
	}
	if len(w.URLMatches) > 0 && !slices.ContainsFunc(w.URLMatches, func(pattern string) bool {
		return s.URL != "" && location.URLMatches(pattern, s.URL)
	}) {
		return false
	}
	return len(w.Tasks) == 0 || slices.ContainsFunc(w.Tasks, func(task string) bool { return aboutTask(task, s.Task) })
}

// aboutTask reports whether the words of a declared task occur in what the agent
// gave as its task, in any order: search.results is about "Search the results".
func aboutTask(declared, given string) bool {
	words := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127)
		})
	}
	want, have := words(declared), words(given)
	if len(want) == 0 {
		return false
	}
	for _, w := range want {
		if !slices.Contains(have, w) {
			return false
		}
	}
	return true
}

func joinAll(namespace string, names []string) []string {
	if namespace == "" {
		return names
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = join(namespace, n)
	}
	return out
}
