package main

import (
	"context"
	"slices"
	"time"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/runtime"
)

// hostSettings are those of a new host: the flags, which nobody changes once they are read, and what a verb,
// a plan or a job adds. It is a value: who needs other settings makes them of these.
type hostSettings struct {
	browserFlags
	callLimit time.Duration
	secrets   *mask.Set
	watchMaps bool
	// quiet says nothing about the sandbox: no browser starts here, or it was said before.
	quiet bool
	// face: the verb serves a client, whose calls are remembered.
	face bool
	// prepare is done before addresses are opened; nil does nothing.
	prepare func(context.Context, *runtime.Host) error
	// onCall is told of every call of the host; nil for nobody.
	onCall func(runtime.Call) func(runtime.Reply)
}

// hostSettings are those of the flags alone.
func (a *app) hostSettings() hostSettings {
	return hostSettings{browserFlags: a.browser, callLimit: a.callLimit, secrets: a.secrets}
}

// at are the settings with addresses in place of those of --open.
func (s hostSettings) at(addresses []string) hostSettings {
	s.open = addresses
	return s
}

// withPlanMaps takes note of the maps that a plan names, which the command line names: they are
// the user's, also where the project file names them too. They are added where there are no
// others, or where also says so.
func (s hostSettings) withPlanMaps(paths []string, also bool) hostSettings {
	s.projectMaps = slices.DeleteFunc(slices.Clone(s.projectMaps), func(path string) bool {
		return slices.ContainsFunc(paths, func(named string) bool { return sameFile(path, named) })
	})
	if also || len(s.maps) == 0 {
		s.maps = slices.Concat(s.maps, paths)
	}
	return s
}

// withoutStorage are the settings of a host whose sessions bring storage states of their own.
func (s hostSettings) withoutStorage() hostSettings {
	s.storageState = ""
	s.saveStorageState = ""
	s.login = ""
	return s
}
