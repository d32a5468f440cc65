package manifest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Signal is an event of the page that may be forwarded. Its payload is data,
// never an instruction.
type Signal struct {
	Name        string
	Description string
	Direction   Direction // html_to_agent unless declared
	Event       string    // name of the DOM event
	// Ingestion is enabled or disabled_by_default, which is also the default.
	Ingestion  string
	Target     *Target
	Payload    json.RawMessage
	Protocol   json.RawMessage
	Source     *Source
	Extensions Extensions

	// PayloadSchema is the compiled payload; nil when none is declared.
	PayloadSchema *Schema
}

// Enabled reports whether the signal is forwarded without a request.
func (s *Signal) Enabled() bool { return s.Ingestion == "enabled" }

func (c *checker) signal(o *object) Signal {
	s := Signal{
		Name:        o.declared("name", &c.signals, "signal"),
		Description: o.description(),
		Direction:   Direction(o.oneOf("direction", string(HTMLToAgent), string(Bidirectional), string(AgentToHTML))),
		Ingestion:   o.oneOf("ingestion", "enabled", "disabled_by_default"),
		Source:      readObject(o, "source", c.source),
		Protocol:    o.rawObject("protocol"),
	}
	if s.Direction == "" {
		s.Direction = HTMLToAgent
	}
	if v, ok := o.get("event"); ok && v.n.kind != kindNull {
		s.Event = v.string()
		if v.n.kind == kindString && strings.TrimSpace(s.Event) == "" {
			v.fail(fault.MissingEvent, "the name of the event must not be blank")
		}
	} else if s.Enabled() {
		o.missing("event", fault.MissingEvent, "an enabled signal needs the name of its event")
	} else if ok {
		v.fail(fault.WrongType, "must be a string, not null")
	} else {
		c.found.warn(
			o.at.member("event").String(), int(o.n.start), fault.MissingEvent,
			"without an event the signal can never be seen",
		)
	}
	if s.Ingestion == "" {
		s.Ingestion = "disabled_by_default"
	}
	s.Target = readObject(o, "target", func(e *object) *Target {
		c.targets[s.Name] = true
		return c.target(e, false)
	})
	s.Payload, s.PayloadSchema = o.schema("payload")
	s.Extensions = o.done()
	return s
}

// Attachment is an affordance that the runtime adds to the page.
type Attachment struct {
	ID          string
	Kind        string // overlay_launcher, annotation, shortcut, status_badge, or another documented kind
	Description string
	Target      *Target
	Affordance  *Affordance
	Lifecycle   Lifecycle
	// Signals are names of signals by what they report; a plain list is kept
	// under its indexes.
	Signals    map[string]string
	Extensions Extensions
}

// Affordance is what a person sees.
type Affordance struct {
	Label        string
	Title        string
	Placement    string
	MaxInstances *int
	Opens        *Opens
	Extensions   Extensions
}

// Opens is the tool a click calls.
type Opens struct {
	Tool       string
	Arguments  json.RawMessage
	Extensions Extensions
}

func (c *checker) attachment(o *object) Attachment {
	a := Attachment{
		ID:          o.declared("id", &c.attachments, "attachment"),
		Kind:        o.string("kind"),
		Description: o.description(),
	}
	if v, ok := o.get("target"); !ok || v.n.kind == kindNull {
		o.missing("target", fault.MissingTarget, "an attachment needs a target to attach to")
	} else if e := v.object(); e != nil {
		if len(e.n.kids) == 0 {
			v.fail(fault.MissingTarget, "an empty target is no place to attach to")
		}
		c.targets[a.ID] = true
		a.Target = c.target(e, false)
	}
	if v, ok := o.get("lifecycle"); !ok || v.n.kind == kindNull {
		o.missing("lifecycle", fault.MissingLifecycle, "an attachment needs a lifecycle policy")
	} else if e := v.object(); e != nil {
		if len(e.n.kids) == 0 {
			v.fail(fault.MissingLifecycle, "an empty lifecycle is no policy")
		}
		a.Lifecycle = c.lifecycle(e)
	}
	a.Affordance = readObject(o, "affordance", c.affordance)
	a.Signals = read(o, "signals", c.attachmentSignals)
	a.Extensions = o.done()
	return a
}

func (c *checker) affordance(o *object) *Affordance {
	f := &Affordance{
		Label:        o.string("label"),
		Title:        o.string("title"),
		Placement:    o.placement(),
		MaxInstances: o.integer("max_instances", 1),
	}
	f.Opens = readObject(o, "opens", func(e *object) *Opens {
		p := &Opens{Arguments: e.rawObject("arguments")}
		if v, ok := e.need("tool"); ok {
			p.Tool = v.identifier()
			// The runtime's own tools, such as overlay.open, are no tools of
			// the map.
			if known := c.opts.Known; known != nil && p.Tool != "" && !known(p.Tool) {
				c.refer(v, p.Tool, &c.tools, "tool", v.fail)
			}
		}
		p.Extensions = e.done()
		return p
	})
	f.Extensions = o.done()
	return f
}

// placements are those of insertAdjacentElement; afterend is the default.
var placements = []string{"afterend", "beforebegin", "afterbegin", "beforeend"}

func (o *object) placement() string {
	return read(o, "placement", func(v value) string {
		s := v.string()
		if v.n.kind == kindString && !slices.Contains(placements, s) {
			v.warn(
				fault.InvalidValue, "%s is no placement that is known here, which means %s: there are %s",
				quote(s), placements[0], strings.Join(placements, ", "),
			)
		}
		return s
	})
}

func (c *checker) attachmentSignals(v value) map[string]string {
	out := map[string]string{}
	add := func(key string, e value) {
		name := e.string()
		c.refer(e, name, &c.signals, "signal", e.warn)
		out[key] = name
	}
	switch v.n.kind {
	case kindArray:
		for _, e := range v.items() {
			add(e.at.String()[len(v.at.String())+1:], e)
		}
	case kindObject:
		for i, name := range v.n.names {
			add(name, value{c, v.n.kids[i], v.at.member(name)})
		}
	default:
		v.fail(fault.WrongType, "must be an array or an object of signal names, not %s", v.n.kind)
	}
	return out
}
