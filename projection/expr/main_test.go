package expr_test

import (
	"os"
	"testing"

	"github.com/outrider-run/outrider/projection/expr"
)

func TestMain(m *testing.M) {
	expr.MaybeWorker()
	os.Exit(m.Run())
}
