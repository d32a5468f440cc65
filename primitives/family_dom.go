package primitives

// domPrimitives lists the primitives of this family. One that is not listed does not exist.
func domPrimitives() []*Primitive {
	return []*Primitive{
		domObserveVisible,
		domObserveAttributes,
		domSnapshotText,
		domListSections,
		domFocus,
		domSelectOption,
		viewportScroll,
	}
}
