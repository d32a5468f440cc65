package primitives

// locatorPrimitives lists the primitives of this family. One that is not listed does not exist.
func locatorPrimitives() []*Primitive {
	return []*Primitive{
		locatorElementInfo,
		locatorTextContent,
		locatorValue,
		locatorWaitFor,
	}
}
