//go:build unix && !linux

package browser

func groupIsDead(int) bool { return false }
