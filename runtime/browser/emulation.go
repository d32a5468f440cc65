package browser

import (
	"context"
	"reflect"
	"strings"

	"github.com/outrider-run/outrider/internal/devices"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/emulate"
)

var chromiumVersion = lazyregexp.New(`Chrome/([\d.]+)`)

// EmulateIn has the tabs of a browser context, "" for the profile's own, emulate from here on: those that
// are open, and each further one, popups too, from its first document on. Nothing at all ends what it
// began. A user agent may have devices.Version for the version of this browser.
func (b *Browser) EmulateIn(ctx context.Context, contextID string, with primitives.Emulation) error {
	with, err := b.withVersion(ctx, with) // a tab that begins cannot wait for it
	if err != nil {
		return err
	}
	if with.Clock != nil {
		with.Clock, err = emulate.Clock(*with.Clock)
		if err != nil {
			return err
		}
	}
	own := b.ownContext(contextID)
	b.mu.Lock()
	ended := reflect.ValueOf(with).IsZero()
	if b.emulated == nil {
		b.emulated = map[string]primitives.Emulation{}
	}
	if delete(b.emulated, own); !ended {
		b.emulated[own] = with
	}
	b.mu.Unlock()
	for _, t := range b.Tabs() {
		if b.ownContext(t.context) != own {
			continue
		}
		if ended {
			err = t.ClearEmulation(ctx, nil)
		} else {
			err = t.Emulate(ctx, with)
		}
		if err != nil && !t.Lifetime().Over() {
			return err
		}
	}
	return nil
}

// emulatedIn is what a tab of a browser context emulates from the start.
func (b *Browser) emulatedIn(own string) primitives.Emulation {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.emulated[own]
}

// workerClock are the commands by which a worker has the clock of its tab.
func (t *Tab) workerClock(s *cdp.Session) []cdp.Command { return t.emulator.WorkerCommands(s) }

// withVersion is an emulation with the version of this browser in place of devices.Version.
func (b *Browser) withVersion(ctx context.Context, with primitives.Emulation) (primitives.Emulation, error) {
	agent, err := b.agent.Read(ctx, b.client)
	if err != nil || with.UserAgent == nil || !strings.Contains(with.UserAgent.UserAgent, devices.Version) {
		return with, err
	}
	version := "0"
	if m := chromiumVersion().FindStringSubmatch(agent); m != nil {
		version = m[1]
	}
	own := *with.UserAgent
	own.UserAgent = strings.ReplaceAll(own.UserAgent, devices.Version, version)
	with.UserAgent = &own
	return with, nil
}
