package primitives

// sessionPrimitives lists the primitives of this family. One that is not listed does not exist.
func sessionPrimitives() []*Primitive {
	return []*Primitive{
		runtimeConfigurePacing,
		taskAdd,
		taskNext,
		taskComplete,
		taskList,
		taskClear,
		runtimeSessionName,
		runtimeSessionFinalizeTabs,
		runtimeSessionLog,
		runtimeAgentStart,
		runtimeAgentStop,
		runtimeAgentUserMessage,
		runtimeAgentMemoryClear,
	}
}
