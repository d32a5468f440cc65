//go:build !linux

package launch

func smallSharedMemory() bool { return false }
