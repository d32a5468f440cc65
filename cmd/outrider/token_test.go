package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/outrider-run/outrider/cmd/outrider/config"
)

// TestNearerToken: which of two tokens counts is decided by where they come
// from, not by which flag they have.
func TestNearerToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("of the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name        string
		token, file config.Origin
		want        string // "" when it is refused
	}{
		{"flag before environment", config.FromCommandLine, config.FromEnvironment, "given"},
		{"file flag before environment", config.FromEnvironment, config.FromCommandLine, "of the file"},
		{"environment before user's file", config.FromEnvironment, config.FromUserFile, "given"},
		{"both of the environment", config.FromEnvironment, config.FromEnvironment, "of the file"},
		{"both flags", config.FromCommandLine, config.FromCommandLine, ""},
		{"token alone", config.FromUserFile, config.ByDefault, "given"},
		{"file alone", config.ByDefault, config.FromUserFile, "of the file"},
	} {
		a := &app{origins: config.Origins{"token": c.token, "token-file": c.file}}
		token, path := "given", file
		if c.token == config.ByDefault {
			token = ""
		}
		if c.file == config.ByDefault {
			path = ""
		}
		got, err := a.nearerToken(token, path)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
		_, err = a.pairingToken(token, path)
		if refused := c.token == config.FromCommandLine; (err != nil) != refused {
			t.Errorf("%s: as a pairing token: got %v, want refused %t", c.name, err, refused)
		}
	}
}
