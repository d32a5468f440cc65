package primitives

// pointerPrimitives lists the primitives of this family. One that is not listed does not exist.
func pointerPrimitives() []*Primitive {
	return []*Primitive{
		pointerMove,
		pointerWheel,
		pointerClick,
		pointerDoubleClick,
		pointerDrag,
		markerQuery,
		cursorMoveTo,
		pointerMoveTo,
	}
}
