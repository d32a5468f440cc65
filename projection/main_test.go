package projection_test

import (
	"testing"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/projection/expr"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

func engine(tb testing.TB) expr.Engine {
	tb.Helper()
	e, err := expr.New(expr.Native, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = e.Close() })
	return e
}
