package primitives

// Standard returns a registry of every primitive of this host. The list is
// written down: a primitive that is not here does not exist, and a test
// compares it with the dictionary folder.
func Standard() *Registry {
	return NewRegistry(
		pageInfo,
		domObserveVisible,
		domObserveAttributes,
		domSnapshotText,
		domListSections,
		domFocus,
		locatorElementInfo,
		locatorTextContent,
		locatorValue,
		locatorWaitFor,
		browserExtractElements,
		pointerMove,
		pointerClick,
		pointerDoubleClick,
		pointerDrag,
		viewportScroll,
		textInsert,
		textType,
		textSelect,
		clipboardCopy,
		clipboardRead,
		clipboardWrite,
		clipboardPaste,
		keyboardPress,
		browserNavigate,
		browserScreenshot,
		browserDismissDialog,
		overlayMenuHide,
		overlayMenuShow,
		overlayMenuCollapse,
		overlayMenuExpand,
		overlayMenuMove,
		overlayClose,
		runtimeConfigurePacing,
		browserRunJavaScript,
		debugRunJavaScript,
	)
}
