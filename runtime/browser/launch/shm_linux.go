package launch

import "syscall"

// smallSharedMemory reports whether /dev/shm is too small for renderers, as in
// containers, where it has 64 MiB and pages crash when it is full.
func smallSharedMemory() bool {
	var s syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &s); err != nil {
		return true
	}
	return s.Bavail*uint64(s.Bsize) < 512<<20
}
