package mcp_test

import (
	"bufio"
	"context"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/faces/mcp"
)

var repeated = regexp.MustCompile(`REPEAT\((.),([0-9]+)\)`)

func unfolded(line string) string {
	return repeated.ReplaceAllStringFunc(line, func(s string) string {
		parts := repeated.FindStringSubmatch(s)
		n, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], n)
	})
}

// A line that is no message is answered, and the next one too.
func TestTheServerGoesOnAfterEveryLine(t *testing.T) {
	var table struct {
		Lines []struct{ Of, Line, Answer string }
	}
	readTable(t, "lines.json", &table)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server, err := mcp.New(ctx, mcp.Options{Host: oddSite{}, NewID: newID, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- server.ServeStdio(ctx, fromClient, toClient) }()
	defer func() { _ = toServer.Close() }()
	answers := bufio.NewReader(fromServer)
	send := func(line string) {
		if _, err := io.WriteString(toServer, line+"\n"); err != nil {
			t.Fatalf("the server no longer reads: %v", err)
		}
	}
	ask := func(line string) string {
		send(line)
		answer, err := answers.ReadString('\n')
		if err != nil {
			t.Fatalf("after %.80s: %v", line, err)
		}
		return answer
	}
	ask(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, l := range table.Lines {
		if l.Answer == "" {
			send(unfolded(l.Line))
		} else if got := ask(unfolded(l.Line)); !strings.Contains(got, l.Answer) {
			t.Errorf("%s: answered %.300s, want %s", l.Of, got, l.Answer)
		}
		if got := ask(`{"jsonrpc":"2.0","id":"next","method":"ping"}`); !strings.Contains(got, `"id":"next","result"`) {
			t.Fatalf("%s: the next line is answered %s", l.Of, got)
		}
	}
	if err := toServer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the end of the input: %v", err)
	}
	if err := server.Close(context.WithoutCancel(ctx)); err != nil {
		t.Error(err)
	}
}
