package primitives

// textPrimitives lists the primitives of this family. One that is not listed does not exist.
func textPrimitives() []*Primitive {
	return []*Primitive{
		textInsert,
		textType,
		textSelect,
	}
}
