package primitives

// browserPrimitives lists the primitives of this family. One that is not listed does not exist.
func browserPrimitives() []*Primitive {
	return []*Primitive{
		browserExtractElements,
		browserNavigate,
		browserOpenTab,
		browserCloseTab,
		browserClaimedTabsList,
		browserClaimedTabsActivate,
		browserScreenshot,
		browserDismissDialog,
		browserRunJavaScript,
		debugRunJavaScript,
	}
}
