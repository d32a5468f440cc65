package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// listVar adds a repeatable flag. The one of pflag writes each empty list as CSV when the flag is added, which
// for all verbs costs 700 kB at each start.
func listVar(f *pflag.FlagSet, to *[]string, name, usage string) {
	f.Var(&listValue{to: to}, name, usage)
}

// listValue implements pflag.Value and pflag.SliceValue.
type listValue struct {
	to    *[]string
	given bool
}

// Set adds a value. The first one replaces those of the configuration.
func (v *listValue) Set(value string) error {
	if !v.given {
		*v.to = nil
	}
	v.given = true
	return v.Append(value)
}

func (v *listValue) Append(value string) error {
	*v.to = append(*v.to, value)
	return nil
}

func (v *listValue) Replace(values []string) error {
	*v.to = slices.Clone(values)
	return nil
}

func (v *listValue) GetSlice() []string { return slices.Clone(*v.to) }

func (v *listValue) Type() string { return "stringArray" }

func (v *listValue) String() string { return strings.Join(*v.to, ",") }
