package tools

import (
	"testing"
	"time"
)

func TestTheTimeBeginsWithThePage(t *testing.T) {
	ctx, end := withAllowance(t.Context(), 20*time.Millisecond)
	defer end()
	select {
	case <-ctx.Done():
		t.Error("the time has begun before the page")
	case <-time.After(60 * time.Millisecond):
	}
	allowanceOf(ctx).Begin()
	<-ctx.Done()
	if !allowanceOver(ctx) {
		t.Error("the end of the time is not told from a cancellation")
	}
	ctx, end = withAllowance(t.Context(), time.Hour)
	allowanceOf(ctx).Begin()
	end()
	if <-ctx.Done(); allowanceOver(ctx) {
		t.Error("a call that has ended is over its time")
	}
	if allowanceOf(t.Context()) != nil || allowanceOver(t.Context()) {
		t.Error("a call without a time has none")
	}
}
