//go:build unix && !linux

package launch

func groupIsDead(int) bool { return false }
