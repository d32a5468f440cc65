package filewatch

// Counts reports whether a change of name would make Watch of paths call.
func Counts(paths []string, name string) (bool, error) {
	w, err := newWatcher(paths)
	if err != nil {
		return false, err
	}
	defer w.notify.Close()
	return w.counts(name), nil
}
