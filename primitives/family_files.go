package primitives

// filesPrimitives lists the primitives of this family. One that is not listed does not exist.
func filesPrimitives() []*Primitive {
	return []*Primitive{
		uploadSetFiles,
		downloadList,
		downloadWait,
	}
}
