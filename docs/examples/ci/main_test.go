package main

import (
	"testing"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }
