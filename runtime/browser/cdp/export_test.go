package cdp

// ScanTop exposes the frame scanner to fuzzing.
func ScanTop(b []byte) (method, session string, id int64, ok bool) {
	h, ok := scanFrame(b)
	return string(h.method), string(h.session), h.id, ok
}
