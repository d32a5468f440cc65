package main

import (
	"testing"

	"github.com/outrider-run/outrider/runtime/browser/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }
