package primitives

// overlayPrimitives lists the primitives of this family. One that is not listed does not exist.
func overlayPrimitives() []*Primitive {
	return []*Primitive{
		overlayMenuHide,
		overlayMenuShow,
		overlayMenuCollapse,
		overlayMenuExpand,
		overlayMenuMove,
		overlayClose,
		overlayOpen,
		overlayRegisterLauncher,
	}
}
