package main

import (
	"os"
	"path/filepath"
	"testing"
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
		token, file valueOrigin
		want        string // "" when it is refused
	}{
		{"flag before environment", fromCommandLine, fromEnvironment, "given"},
		{"file flag before environment", fromEnvironment, fromCommandLine, "of the file"},
		{"environment before user's file", fromEnvironment, fromUserFile, "given"},
		{"both of the environment", fromEnvironment, fromEnvironment, "of the file"},
		{"both flags", fromCommandLine, fromCommandLine, ""},
		{"token alone", fromUserFile, byDefault, "given"},
		{"file alone", byDefault, fromUserFile, "of the file"},
	} {
		a := &app{origins: valueOrigins{"token": c.token, "token-file": c.file}}
		token, path := "given", file
		if c.token == byDefault {
			token = ""
		}
		if c.file == byDefault {
			path = ""
		}
		got, err := a.nearerToken(token, path)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
		_, err = a.pairingToken(token, path)
		if refused := c.token == fromCommandLine; (err != nil) != refused {
			t.Errorf("%s: as a pairing token: got %v, want refused %t", c.name, err, refused)
		}
	}
}
