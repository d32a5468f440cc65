package state

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	tabsession "github.com/outrider-run/outrider/primitives/session"
	"github.com/outrider-run/outrider/projection"
	"github.com/outrider-run/outrider/sites"
)

// markers are the markers of the document that a tab shows, by id. They are
// filled by reads of projections that declare some and die with the document.
// A marker holds no place: its recipe finds one at every use.
type markers struct {
	mu       sync.Mutex
	document string // token of the document they belong to
	byID     map[string]registeredMarker
}

type registeredMarker struct {
	projection.Marker
	projection string
	in         *sites.Map // declares the projection
	at         time.Time
}

// replace registers the markers of a projection in place of its earlier ones.
// An id that another projection uses too is taken over.
func (m *markers) replace(
	document string, in *sites.Map, projectionName string, list []projection.Marker, at time.Time,
) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.document != document || m.byID == nil {
		m.document, m.byID = document, map[string]registeredMarker{}
	}
	for id, r := range m.byID {
		if r.projection == projectionName {
			delete(m.byID, id)
		}
	}
	for _, marker := range list {
		m.byID[marker.ID] = registeredMarker{marker, projectionName, in, at}
	}
}

// find returns a marker of the document; the ids there are when there is none
// of this name.
func (m *markers) find(document, id string) (registeredMarker, []string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.document != document {
		return registeredMarker{}, []string{}, false
	}
	if r, ok := m.byID[id]; ok {
		return r, nil, true
	}
	ids := []string{}
	for id := range m.byID {
		ids = append(ids, fault.Clip(id, 100))
	}
	slices.Sort(ids)
	return registeredMarker{}, ids[:min(len(ids), 50)], false
}

// documentToken identifies the document that the tab shows.
func documentToken(ctx context.Context, page primitives.Page) (string, error) {
	var out struct {
		Token string `json:"token"`
	}
	err := page.Call(ctx, "", "document_token", nil, &out)
	return out.Token, err
}

// Marker finds the place of a marker; see session.Session.
func (p *Projections) Marker(ctx context.Context, id, kind string) (tabsession.MarkerPlace, error) {
	page, err := p.tab.LivePage(ctx)
	if err != nil {
		return tabsession.MarkerPlace{}, err
	}
	document, err := documentToken(ctx, page)
	if err != nil {
		return tabsession.MarkerPlace{}, err
	}
	m, registered, ok := p.markers.find(document, id)
	if !ok {
		return tabsession.MarkerPlace{}, fault.New(
			fault.MarkerNotFound, "no marker of this id is registered in this document",
		).With("marker", fault.Clip(id, 100)).With("registered", registered).
			Next("read the state projection that declares the marker; markers end with their document")
	}
	if kind != "" && m.Type != kind {
		return tabsession.MarkerPlace{}, fault.New(
			fault.MarkerTypeMismatch, "the marker is a %s marker, not a %s marker", m.Type, kind,
		).With("marker", fault.Clip(id, 100)).With("type", m.Type).With("expected", kind)
	}
	// Whoever uses it, the map says what is done: it keeps to the map's origins.
	point, fe := projection.ResolveRecipe(p.Within(ctx, m.in, m.in, page.Tab().URL), recipeInvoker{p}, m.Marker)
	if fe != nil {
		return tabsession.MarkerPlace{}, fe
	}
	place := tabsession.MarkerPlace{ID: m.ID, Type: m.Type, ResolvedAt: time.Now()}
	if point != nil {
		place.Location = &primitives.Point{X: point.X, Y: point.Y}
	}
	return place, nil
}

// recipeInvoker runs the steps of a recipe. They are one movement to whoever
// watches, so no pacing lies between them; the primitive that resolves the
// marker was paced.
type recipeInvoker struct {
	*Projections
}

// Invoke implements projection.Invoker.
func (v recipeInvoker) Invoke(ctx context.Context, name string, args json.RawMessage) primitives.Result {
	page, err := v.tab.LivePage(ctx)
	if err != nil {
		return primitives.Result{Primitive: name, Err: fault.From(err)}
	}
	return v.Registry.Invoke(ctx, page, name, args)
}
