// Package devices knows telephones, tablets and desktops by the names that Playwright gives them: the size of their
// viewport, their pixel density and their user agent. devices.tsv has what Playwright publishes. It emulates nothing.
package devices

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Device is one device in one orientation.
type Device struct {
	Name   string
	Width  int // of the viewport, in CSS pixels
	Height int
	Scale  float64 // device pixels of a CSS pixel
	Mobile bool
	Touch  bool
	// UserAgent has Version where that of Chromium stands.
	UserAgent string
}

// Version stands in a user agent for the version of the browser that shows the page.
const Version = "{version}"

//go:embed devices.tsv
var published string

// Named is the device of a name, in any case of its letters.
func Named(name string) (Device, bool) {
	d, ok := list().byName[strings.ToLower(strings.TrimSpace(name))]
	return d, ok
}

// Names are the names of all devices, in the order in which Playwright lists them.
func Names() []string { return append([]string{}, list().names...) }

type devices struct {
	byName map[string]Device
	names  []string
}

func (l *devices) add(d Device) {
	l.byName[strings.ToLower(d.Name)] = d
	l.names = append(l.names, d.Name)
}

var list = sync.OnceValue(func() *devices {
	l, err := parse(published)
	if err != nil {
		panic(err) // the list is part of the source
	}
	return l
})

// parse reads the form that the head of devices.tsv describes.
func parse(text string) (*devices, error) {
	l := &devices{byName: map[string]Device{}}
	var agents []string
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		columns := strings.Split(line, "\t")
		switch {
		case strings.HasPrefix(line, "#"):
		case columns[0] == "agent" && len(columns) == 2:
			agents = append(agents, columns[1])
		case columns[0] == "device" && len(columns) == 7:
			if err := l.read(columns[1:], agents); err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
		default:
			return nil, fmt.Errorf("line %d is neither an agent nor a device", n+1)
		}
	}
	return l, nil
}

// read adds a device, and the same in landscape where it has another viewport then.
func (l *devices) read(columns, agents []string) error {
	scale, err := strconv.ParseFloat(columns[3], 64)
	if err != nil {
		return err
	}
	agent, err := strconv.Atoi(columns[5])
	if err != nil || agent < 0 || agent >= len(agents) {
		return fmt.Errorf("there is no user agent %s", columns[5])
	}
	d := Device{
		Name:      columns[0],
		Scale:     scale,
		Mobile:    strings.Contains(columns[4], "m"),
		Touch:     strings.Contains(columns[4], "t"),
		UserAgent: agents[agent],
	}
	for i, size := range columns[1:3] {
		if size == "-" {
			continue
		}
		if _, err := fmt.Sscanf(size, "%dx%d", &d.Width, &d.Height); err != nil {
			return fmt.Errorf("the viewport %s of %s: %w", size, d.Name, err)
		}
		if i == 1 {
			d.Name += " landscape"
		}
		l.add(d)
	}
	return nil
}
