package primitives

// pagePrimitives lists the primitives of this family. One that is not listed does not exist.
func pagePrimitives() []*Primitive {
	return []*Primitive{
		pageInfo,
		pageFetch,
		pageEvaluate,
		pageSnapshot,
		pageExtract,
		pageWait,
		pageSelect,
		pageHover,
		pageHistory,
		pagePDF,
	}
}
