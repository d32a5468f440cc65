package launch_test

import (
	"testing"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }
