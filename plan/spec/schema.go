package spec

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/schema"
)

// SchemaID is the address of the schema.
const SchemaID = "https://raw.githubusercontent.com/outrider-run/outrider/main/docs/reference/plan.schema.json"

// Schema is the JSON Schema of plans, made from the types of this package. What it says of
// a step as a whole is for editors: the reader says the same in words of its own.
func Schema() []byte { return published() }

var (
	published = sync.OnceValue(func() []byte { return schemaText(true) })
	compiled  = sync.OnceValue(func() *schema.Schema {
		s, err := schema.Compile(schemaText(false))
		if err != nil {
			panic(err) // it is made from types of ours
		}
		return s
	})
)

func schemaText(wholeSteps bool) []byte {
	g := generator{defs: &object{}}
	root := g.fields(reflect.TypeFor[Plan]())
	if step, ok := g.defs.values["step"].(*object); ok && wholeSteps {
		oneVerb(step)
	}
	root.put("$schema", "https://json-schema.org/draft/2020-12/schema")
	root.put("$id", SchemaID)
	root.put("title", "Outrider plan")
	root.put("$comment", "Generated from package plan/spec by make generate. Do not edit.")
	root.put("$defs", g.defs)
	text, err := jsonout.File(root, "  ")
	if err != nil {
		panic(err) // texts and numbers
	}
	return text
}

// verbs are the members of which a step has one at most.
var verbs = []string{"action", "state", "call", "request", "check", "for_each"}

// oneVerb says of a step that it does something, and one thing.
func oneVerb(step *object) {
	has := func(names ...string) *object {
		properties := map[string]any{}
		for _, name := range names {
			properties[name] = map[string]any{}
			if name == "check" { // check: false is none
				properties[name] = map[string]any{"const": true}
			}
		}
		out := &object{}
		out.put("type", "object")
		out.put("required", names)
		out.put("properties", properties)
		return out
	}
	var some, both []any
	for i, name := range verbs {
		some = append(some, has(name))
		for _, other := range verbs[i+1:] {
			both = append(both, map[string]any{"not": has(name, other)})
		}
	}
	step.put("anyOf", append(some, has("open"), has("expect")))
	step.put("allOf", both)
	of := &object{}
	of.put("summary", []string{"state"})
	for _, name := range []string{"expect_status", "requires", "strict_checks", "fail_on_drift"} {
		of.put(name, []string{"check"})
	}
	step.put("dependentRequired", of)
}

// object is a JSON object with its members in order.
type object struct {
	names  []string
	values map[string]any
}

func (o *object) put(name string, v any) {
	if o.values == nil {
		o.values = map[string]any{}
	}
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = v
}

// MarshalJSON implements json.Marshaler.
func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			b.WriteByte(',')
		}
		k, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(o.values[name])
		if err != nil {
			return nil, err
		}
		b.Write(append(append(k, ':'), v...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

type generator struct{ defs *object }

// required are the members that have to be there.
var required = map[string]bool{
	"Plan.steps": true, "ForEach.in": true, "ForEach.steps": true, "NetworkRequest.url": true, "Route.url": true,
	"Serve.command": true, "Request.url": true,
	"Region.x": true, "Region.y": true, "Region.width": true, "Region.height": true,
	"Quarantine.owner": true, "Quarantine.until": true, "Quarantine.why": true,
}

func (g *generator) fields(t reflect.Type) *object {
	out, properties := &object{}, &object{}
	var must []string
	out.put("type", "object")
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		p := g.of(f.Type)
		if ref, ok := p.values["$ref"]; ok {
			p = &object{}
			p.put("$ref", ref)
		}
		p.put("description", f.Tag.Get("doc"))
		for _, bound := range [][2]string{{"min", "minimum"}, {"max", "maximum"}} {
			if n, err := strconv.Atoi(f.Tag.Get(bound[0])); err == nil {
				p.put(bound[1], n)
			}
		}
		if values := f.Tag.Get("enum"); values != "" {
			p.put("enum", strings.Split(values, ","))
		}
		if name == "steps" {
			p.put("minItems", 1)
		}
		properties.put(name, p)
		if required[t.Name()+"."+name] {
			must = append(must, name)
		}
	}
	if must != nil {
		out.put("required", must)
	}
	out.put("properties", properties)
	out.put("additionalProperties", false)
	return out
}

// of is the schema of values of a type.
func (g *generator) of(t reflect.Type) *object {
	out := &object{}
	switch t {
	case reflect.TypeFor[Duration]():
		out.put("type", "string")
		out.put("pattern", `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`)
		return out
	case reflect.TypeFor[Expectations]():
		one := []any{map[string]any{"type": "string", "minLength": 1}, g.ref(reflect.TypeFor[Expectation]())}
		list := map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"anyOf": one}}
		out.put("anyOf", append(append([]any{}, one...), list))
		return out
	case reflect.TypeFor[Routes]():
		one := g.ref(reflect.TypeFor[Route]())
		out.put("anyOf", []any{one, map[string]any{"type": "array", "minItems": 1, "items": one}})
		return out
	case reflect.TypeFor[Serves]():
		one := g.ref(reflect.TypeFor[Serve]())
		out.put("anyOf", []any{one, map[string]any{"type": "array", "minItems": 1, "items": one}})
		return out
	case reflect.TypeFor[Command]():
		out.put("anyOf", []any{
			map[string]any{"type": "string", "minLength": 1},
			map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"type": "string"}},
		})
		return out
	case reflect.TypeFor[*Data]():
		out.put("anyOf", []any{
			map[string]any{"type": "string", "minLength": 1},
			map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"type": "object"}},
		})
		return out
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.of(t.Elem())
	case reflect.String:
		out.put("type", "string")
	case reflect.Bool:
		out.put("type", "boolean")
	case reflect.Int:
		out.put("type", "integer")
	case reflect.Slice:
		out.put("type", "array")
		out.put("items", g.of(t.Elem()))
	case reflect.Map:
		out.put("type", "object")
		if t.Elem().Kind() != reflect.Interface {
			out.put("additionalProperties", g.of(t.Elem()))
		}
	case reflect.Struct:
		return g.ref(t)
	}
	return out
}

// ref is a reference to the schema of a struct.
func (g *generator) ref(t reflect.Type) *object {
	name := strings.ToLower(t.Name()[:1]) + t.Name()[1:]
	if _, known := g.defs.values[name]; !known {
		g.defs.put(name, nil) // a step has steps in it
		g.defs.put(name, g.fields(t))
	}
	out := &object{}
	out.put("$ref", "#/$defs/"+name)
	return out
}
