package shell

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Routes answer requests of the session's pages in place of the network.
type Routes interface {
	// Add puts a route in force, written as in a plan, before those that are there.
	Add(ctx context.Context, route json.RawMessage) error
	// Remove ends the routes with an address pattern, all for "", and answers how many.
	Remove(ctx context.Context, url string) (int, error)
	// List is what is in force, as it is encoded.
	List() any
}

// Steps about routes are done by the session itself.
const (
	addRoute    = "route.add"
	removeRoute = "route.remove"
	listRoutes  = "route.list"
)

// aboutRoutes reports whether a step is about routes, which are of all pages.
func aboutRoutes(tool string) bool {
	return tool == addRoute || tool == removeRoute || tool == listRoutes
}

// routeVerb answers requests in place of the network.
func routeVerb() Verb {
	return Verb{
		Name: "route", Usage: "[PATTERN | remove PATTERN | remove all]",
		Short: "Answer requests in place of the network, or let them fail; list and end that",
		flags: func(f *pflag.FlagSet, g *Given) {
			f.IntVar(&g.status, "status", 0, "HTTP status of the answer (default 200)")
			f.StringVar(&g.body, "body", "", "body of the answer")
			f.StringVar(&g.file, "file", "", "file with the body")
			f.StringVar(&g.contentType, "content-type", "", "content type (default: by the body or the file)")
			f.StringArrayVar(&g.headers, "header", nil, "NAME=VALUE of the answer (repeatable)")
			f.StringVar(&g.abort, "abort", "", "let the request fail: failed, timedout, connectionrefused ...")
			f.Lookup("abort").NoOptDefVal = "failed"
			f.StringVar(&g.method, "method", "", "only requests of this method")
			f.IntVar(&g.times, "times", 0, "at most so many requests")
			f.StringVar(&g.delay, "delay", "", "wait before the answer, such as 500ms")
		},
		steps: routeSteps,
	}
}

func routeSteps(g *Given, words []string) ([]Step, error) {
	if len(words) == 0 {
		return []Step{{Tool: listRoutes, Show: routeLines}}, nil
	}
	if words[0] == "remove" {
		if len(words) != 2 {
			return nil, wrong("name the pattern of the routes that end, or all")
		}
		args := map[string]any{}
		if words[1] != "all" {
			args["url"] = words[1]
		}
		return []Step{{Tool: removeRoute, Arguments: args, Show: removedLine}}, nil
	}
	args := map[string]any{"url": words[0]}
	put(args, "status", g.status)
	put(args, "body", g.body)
	put(args, "content_type", g.contentType)
	put(args, "abort", g.abort)
	put(args, "method", g.method)
	put(args, "times", g.times)
	put(args, "delay", g.delay)
	if g.file != "" {
		path, err := filepath.Abs(g.file)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return nil, wrong("%v", err)
		}
		args["path"] = path
	}
	headers := map[string]string{}
	for _, h := range g.headers {
		name, value, ok := strings.Cut(h, "=")
		if !ok || name == "" {
			return nil, wrong("%q is no header: expected NAME=VALUE", h)
		}
		headers[name] = value
	}
	if len(headers) > 0 {
		args["headers"] = headers
	}
	if len(args) == 1 {
		return nil, wrong("say what comes of the requests: --status, --body, --file, --abort or --delay")
	}
	return []Step{{Tool: addRoute, Arguments: args, Show: routeLines}}, none(words[1:])
}

// routeLines are routes, one a line.
func routeLines(result map[string]any) string {
	list, _ := result["routes"].([]any)
	var lines []string
	for _, one := range list {
		r, _ := one.(map[string]any)
		line := plainly(r["route"]) + ", answered " + plainly(r["answered"])
		if near, _ := r["missed"].([]any); len(near) > 0 {
			missed, _ := near[0].(map[string]any)
			line += "; " + plainly(missed["method"]) + " " + plainly(missed["url"]) + " came, but " +
				plainly(missed["why"])
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return "no route is in force"
	}
	return strings.Join(lines, "\n")
}

func removedLine(result map[string]any) string { return plainly(result["removed"]) + " removed" }

// route does a step about routes; false for any other.
func (s *Server) route(ctx context.Context, step Step) (result any, is bool, failed *fault.Error) {
	switch step.Tool {
	case addRoute:
		encoded, err := json.Marshal(step.Arguments)
		if err == nil {
			err = s.Routes.Add(ctx, encoded)
		}
		if err != nil {
			return nil, true, fault.From(err)
		}
	case removeRoute:
		url, _ := step.Arguments["url"].(string)
		gone, err := s.Routes.Remove(ctx, url)
		if err == nil && gone == 0 && url != "" {
			err = fault.New(fault.TargetNotFound, "no route has the pattern %s", url).
				With("routes", s.Routes.List()).Next("outrider route lists them")
		}
		if err != nil {
			return nil, true, fault.From(err)
		}
		return map[string]any{"removed": gone}, true, nil
	case listRoutes:
	default:
		return nil, false, nil
	}
	return map[string]any{"routes": s.Routes.List()}, true, nil
}
