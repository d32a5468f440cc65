package files

// SafeName exposes what becomes of a suggested file name.
var SafeName = safeName
