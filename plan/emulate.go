package plan

import (
	"context"
	"reflect"

	"github.com/outrider-run/outrider/internal/devices"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Emulate implements Session.
func (w *workspace) Emulate(ctx context.Context, e primitives.Emulation) error {
	return w.host.Emulate(ctx, w.Workspace, e)
}

// Emulate implements Session.
func (p *profile) Emulate(ctx context.Context, e primitives.Emulation) error {
	p.emulates = true
	return p.Host.Emulate(ctx, nil, e)
}

// emulate has a session of the case emulate what its matrix and its clock say.
func (r *run) emulate(ctx context.Context, s Session) error {
	with, err := r.emulation()
	if err != nil || reflect.ValueOf(with).IsZero() {
		return err
	}
	return s.Emulate(ctx, with)
}

func (r *run) emulation() (primitives.Emulation, error) {
	var out primitives.Emulation
	if m := r.c.Combination; m != nil {
		if d, ok := devices.Named(m.Device); ok {
			out.Viewport = &primitives.ViewportEmulation{
				Width:             d.Width,
				Height:            d.Height,
				DeviceScaleFactor: d.Scale,
				Mobile:            d.Mobile,
				Touch:             d.Touch,
			}
			out.UserAgent = &primitives.UserAgentEmulation{UserAgent: d.UserAgent}
		}
		if m.Locale != "" {
			out.Locale = &primitives.LocaleEmulation{Locale: m.Locale}
		}
		if m.Timezone != "" {
			out.Timezone = &primitives.TimezoneEmulation{Timezone: m.Timezone}
		}
		if m.ColorScheme != "" {
			out.Media = &primitives.MediaEmulation{ColorScheme: m.ColorScheme}
		}
	}
	clock := r.c.Plan.Clock
	if clock == nil {
		return out, nil
	}
	out.Clock = &primitives.ClockEmulation{Mode: clock.Mode, Seed: clock.Seed}
	at, err := r.scope.Text(clock.At)
	if err == nil && at != "" {
		out.Clock.At, err = spec.ClockTime(at)
	}
	if err != nil {
		return out, fault.New(fault.InvalidInput, "clock: at %v", err)
	}
	return out, nil
}
