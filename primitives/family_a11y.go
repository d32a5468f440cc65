package primitives

// a11yPrimitives lists the primitives of this family. One that is not listed does not exist.
func a11yPrimitives() []*Primitive {
	return []*Primitive{
		a11yTree,
		a11yQuery,
		a11yWatch,
		a11yEventsRead,
		a11yAnnouncementsSubscribe,
		a11yAnnouncementsConfigure,
	}
}
