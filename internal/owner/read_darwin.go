package owner

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// read reads a process with sysctl(3).
func read(pid int) (parent, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return parent{}, err
	}
	began := info.Proc.P_starttime
	p := parent{Process: Process{PID: pid, Started: uint64(began.Sec)*1e6 + uint64(began.Usec)}}
	p.of = int(info.Eproc.Ppid)
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(raw) < 4 {
		p.program = string(bytes.TrimRight(info.Proc.P_comm[:], "\x00"))
		return p, nil
	}
	// The number of arguments, the path of the program, zeros, and the arguments.
	count := int(binary.NativeEndian.Uint32(raw))
	rest := raw[4:]
	at := bytes.IndexByte(rest, 0)
	if at < 0 {
		return parent{}, fmt.Errorf("the arguments of process %d cannot be read", pid)
	}
	rest = bytes.TrimLeft(rest[at:], "\x00")
	for _, arg := range bytes.SplitN(rest, []byte{0}, count+1) {
		if len(p.args) < count {
			p.args = append(p.args, string(arg))
		}
	}
	p.program = programOf(p.args)
	return p, nil
}
