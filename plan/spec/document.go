package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/outrider-run/outrider/internal/lazyregexp"
)

// places are the lines of a document's values, by their JSON pointers.
type places struct {
	file  string
	lines map[string]int
}

// at is the place of a pointer, or of the value around it that is there.
func (p *places) at(pointer string) Place {
	for at := pointer; ; {
		if line, ok := p.lines[at]; ok {
			return Place{File: p.file, Line: line, Pointer: pointer}
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return Place{File: p.file, Line: 1, Pointer: pointer}
		}
		at = at[:i]
	}
}

// Limits of a plan file: it is written by hand, or generated from something that was.
const (
	maxFile  = 4 << 20
	maxNodes = 200_000
	maxDepth = 100
)

// readDocument reads a YAML or JSON file as JSON values.
func readDocument(path string) (any, *places, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the plan: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading the plan: %w", err)
	}
	if len(text) > maxFile {
		return nil, nil, fmt.Errorf("%s has more than %d bytes", path, maxFile)
	}
	v, p, err := parseDocument(path, text)
	return v, p, err
}

var yamlLine = lazyregexp.New(`^yaml: line (\d+): (.*)$`)

func parseDocument(path string, text []byte) (any, *places, error) {
	if strings.EqualFold(filepath.Ext(path), ".json") {
		return parseJSON(path, text)
	}
	p := &places{file: path, lines: map[string]int{}}
	dec := yaml.NewDecoder(strings.NewReader(string(text)))
	var node yaml.Node
	if err := dec.Decode(&node); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, p, Problems{{Place{File: path, Line: 1}, "the plan is empty"}}
		}
		if m := yamlLine().FindStringSubmatch(err.Error()); m != nil {
			line, _ := strconv.Atoi(m[1])
			return nil, p, Problems{{Place{File: path, Line: line}, m[2]}}
		}
		return nil, p, Problems{{Place{File: path, Line: 1}, strings.TrimPrefix(err.Error(), "yaml: ")}}
	}
	r := reader{places: p}
	v := r.value(&node, "")
	r.alone(dec)
	if err := r.problems.sorted(); err != nil {
		return nil, p, err
	}
	return v, p, nil
}

// alone refuses what follows the first document: nothing would be done with it.
func (r *reader) alone(dec *yaml.Decoder) {
	var second yaml.Node
	err := dec.Decode(&second)
	if errors.Is(err, io.EOF) {
		return
	}
	if err == nil && second.Kind == yaml.DocumentNode && second.Content[0].ShortTag() == "!!null" {
		return // a line --- at the end begins a document with nothing in it
	}
	line := second.Line
	if err != nil {
		line = 1
		if m := yamlLine().FindStringSubmatch(err.Error()); m != nil {
			line, _ = strconv.Atoi(m[1])
		}
	}
	r.fail(&yaml.Node{Line: line}, "", "a second document begins here: expected one document in a file")
}

// reader makes JSON values of YAML nodes.
type reader struct {
	places   *places
	problems Problems
	nodes    int
}

func (r *reader) fail(n *yaml.Node, pointer, format string, args ...any) any {
	r.problems = append(r.problems, Problem{Place{r.places.file, n.Line, pointer}, fmt.Sprintf(format, args...)})
	return nil
}

func (r *reader) value(n *yaml.Node, pointer string) any {
	if _, ok := r.places.lines[pointer]; !ok {
		r.places.lines[pointer] = n.Line
	}
	if r.nodes++; r.nodes > maxNodes {
		if r.nodes == maxNodes+1 {
			return r.fail(n, pointer, "the plan has more than %d values", maxNodes)
		}
		return nil
	}
	if strings.Count(pointer, "/") > maxDepth { // an alias can be inside what it names
		r.nodes = maxNodes + 1
		return r.fail(n, pointer[:min(len(pointer), 40)], "the plan is more than %d levels deep", maxDepth)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return r.value(n.Content[0], pointer)
	case yaml.AliasNode:
		return r.value(n.Alias, pointer)
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, c := range n.Content {
			out[i] = r.value(c, pointer+"/"+strconv.Itoa(i))
		}
		return out
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			if k.Kind != yaml.ScalarNode || k.Tag == "!!merge" {
				return r.fail(k, pointer, "the name of a member is no text")
			}
			at := pointer + "/" + escapePointer(k.Value)
			if _, twice := out[k.Value]; twice {
				return r.fail(k, at, "%s is there twice", k.Value)
			}
			r.places.lines[at] = k.Line
			out[k.Value] = r.value(v, at)
		}
		return out
	}
	return r.scalar(n, pointer)
}

func (r *reader) scalar(n *yaml.Node, pointer string) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return r.fail(n, pointer, "%v", err)
		}
		return b
	case "!!int", "!!float":
		if isNumber(n.Value) {
			return json.Number(n.Value)
		}
		if isEndless(n.Value) {
			return r.fail(n, pointer, "%s is no number of JSON", n.Value)
		}
		return n.Value // such as 02134, +49301234 and 0x1F: read as a number, it would come back as another text
	case "!!str", "!!timestamp":
		return n.Value
	}
	return r.fail(n, pointer, "a value of the type %s cannot be in a plan", n.Tag)
}

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
