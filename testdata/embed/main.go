package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/outrider-run/outrider"
)

func main() {
	ctx := context.Background()
	s, err := outrider.Open(ctx, outrider.Options{Open: os.Args[1:2], Maps: os.Args[2:3]})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	out, actionErr := s.Action(ctx, "board.list_cards", map[string]any{"list": "doing"})
	state, stateErr := s.State(ctx, "board.state")
	fmt.Println(string(out), string(state.Value), actionErr, stateErr)
}
