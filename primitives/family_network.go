package primitives

// networkPrimitives lists the primitives of this family. One that is not listed does not exist.
func networkPrimitives() []*Primitive {
	return []*Primitive{
		consoleList,
		networkList,
		networkGet,
	}
}
