package primitives

// keyboardPrimitives lists the primitives of this family. One that is not listed does not exist.
func keyboardPrimitives() []*Primitive {
	return []*Primitive{
		keyboardPress,
		keyboardPressGated,
	}
}
