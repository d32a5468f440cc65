package primitives

import "context"

// The extension carries a voice agent of its own. This host has none and says
// so, whoever asks: an agent drives it from outside.

type runtimeAgentOut struct {
	OK bool `json:"ok"`
}

func noAgent(name string) (runtimeAgentOut, error) {
	return runtimeAgentOut{}, unavailable(name, "runtime.agent", "this host has no agent of its own; connect one to the bridge")
}

type runtimeAgentStartIn struct {
	TextOnly *bool `json:"text_only"`
}

type runtimeAgentUserMessageIn struct {
	Text string `json:"text"`
	Mode string `json:"mode"`
}

var (
	runtimeAgentStart = Define("runtime.agent.start", func(context.Context, Page, runtimeAgentStartIn) (runtimeAgentOut, error) {
		return noAgent("runtime.agent.start")
	})
	runtimeAgentStop = Define("runtime.agent.stop", func(context.Context, Page, struct{}) (runtimeAgentOut, error) {
		return noAgent("runtime.agent.stop")
	})
	runtimeAgentUserMessage = Define("runtime.agent.user_message", func(context.Context, Page, runtimeAgentUserMessageIn) (runtimeAgentOut, error) {
		return noAgent("runtime.agent.user_message")
	})
	runtimeAgentMemoryClear = Define("runtime.agent.memory_clear", func(context.Context, Page, struct{}) (runtimeAgentOut, error) {
		return noAgent("runtime.agent.memory_clear")
	})
)
