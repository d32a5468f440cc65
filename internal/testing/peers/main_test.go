package peers_test

import (
	"os"
	"testing"

	"github.com/outrider-run/outrider/internal/testing/peerstest"
)

func TestMain(m *testing.M) { os.Exit(peerstest.Main(m)) }
