//go:build !linux

package browser

func smallSharedMemory() bool { return false }
