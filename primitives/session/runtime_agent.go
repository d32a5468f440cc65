package session

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

// The extension carries a voice agent of its own. This host has none and says
// so, whoever asks: an agent drives it from outside.

type runtimeAgentOut struct {
	OK bool `json:"ok"`
}

func noAgent(name string) (runtimeAgentOut, error) {
	return runtimeAgentOut{}, Unavailable(
		name, "runtime.agent", "this host has no agent of its own; connect one to the bridge",
	)
}

type runtimeAgentStartIn struct {
	TextOnly *bool `json:"text_only"`
}

type runtimeAgentUserMessageIn struct {
	Text string `json:"text"`
	Mode string `json:"mode"`
}

var (
	runtimeAgentStart = primitives.Define("runtime.agent.start", func(
		context.Context, primitives.Page, runtimeAgentStartIn,
	) (runtimeAgentOut, error) {
		return noAgent("runtime.agent.start")
	})
	runtimeAgentStop = primitives.Define("runtime.agent.stop", func(
		context.Context, primitives.Page, struct{},
	) (runtimeAgentOut, error) {
		return noAgent("runtime.agent.stop")
	})
	runtimeAgentUserMessage = primitives.Define("runtime.agent.user_message", func(
		context.Context, primitives.Page, runtimeAgentUserMessageIn,
	) (runtimeAgentOut, error) {
		return noAgent("runtime.agent.user_message")
	})
	runtimeAgentMemoryClear = primitives.Define("runtime.agent.memory_clear", func(
		context.Context, primitives.Page, struct{},
	) (runtimeAgentOut, error) {
		return noAgent("runtime.agent.memory_clear")
	})
)
