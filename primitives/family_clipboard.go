package primitives

// clipboardPrimitives lists the primitives of this family. One that is not listed does not exist.
func clipboardPrimitives() []*Primitive {
	return []*Primitive{
		clipboardCopy,
		clipboardRead,
		clipboardWrite,
		clipboardPaste,
		transferWrite,
		transferRead,
		transferInsert,
		transferClear,
	}
}
