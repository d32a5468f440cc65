package primitives

// storagePrimitives lists the primitives of this family. One that is not listed does not exist.
func storagePrimitives() []*Primitive {
	return []*Primitive{
		storageReadFile,
		storageList,
		storageImportBundle,
		cookieList,
		cookieSet,
		cookieDelete,
		cookieClear,
		storageStateGet,
		storageStateSet,
	}
}
