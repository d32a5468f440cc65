package allowance_test

import (
	"testing"
	"time"

	"github.com/outrider-run/outrider/bridgeclient/mcp/allowance"
)

func TestTheTimeBeginsWithThePage(t *testing.T) {
	ctx, end := allowance.With(t.Context(), 20*time.Millisecond)
	defer end()
	select {
	case <-ctx.Done():
		t.Error("the time has begun before the page")
	case <-time.After(60 * time.Millisecond):
	}
	allowance.Of(ctx).Begin()
	<-ctx.Done()
	if !allowance.Over(ctx) {
		t.Error("the end of the time is not told from a cancellation")
	}
	ctx, end = allowance.With(t.Context(), time.Hour)
	allowance.Of(ctx).Begin()
	end()
	if <-ctx.Done(); allowance.Over(ctx) {
		t.Error("a call that has ended is over its time")
	}
	if allowance.Of(t.Context()) != nil || allowance.Over(t.Context()) {
		t.Error("a call without a time has none")
	}
}
