package bridgeclient_test

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/internal/testing/hosttest"
	"github.com/outrider-run/outrider/runtime"
)

func domEvent(n int) runtime.Event {
	return runtime.Event{
		Kind:       runtime.DOMEvent,
		ID:         fmt.Sprintf("e-%d", n),
		Tab:        hosttest.Tab(1, "https://a.example/", "A"),
		Name:       "cart.changed",
		Payload:    json.RawMessage(`{}`),
		ObservedAt: time.Now(),
	}
}

// slowDialect stops the process for a while whenever a status is encoded.
type slowDialect struct {
	bridgeclient.Dialect
	pause atomic.Int64
}

func (d *slowDialect) Status(host bridgeclient.Host, tab runtime.TabStatus, at time.Time) []byte {
	time.Sleep(time.Duration(d.pause.Load()))
	return d.Dialect.Status(host, tab, at)
}
