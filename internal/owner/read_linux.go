package owner

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// read reads a process in /proc, see proc(5).
func read(pid int) (parent, error) {
	folder := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return parent{}, err
	}
	// The name is in brackets and may have some itself.
	end := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	if end < 0 || len(fields) < 20 {
		return parent{}, fmt.Errorf("/proc/%d/stat cannot be read", pid)
	}
	p := parent{Process: Process{PID: pid}}
	p.of, err = strconv.Atoi(fields[1])
	if err != nil {
		return parent{}, err
	}
	p.Started, err = strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return parent{}, err
	}
	line, err := os.ReadFile(filepath.Join(folder, "cmdline"))
	if err != nil {
		return parent{}, err
	}
	p.args = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	p.program = programOf(p.args)
	if file, err := os.Readlink(filepath.Join(folder, "exe")); err == nil && p.program == "" {
		p.program = filepath.Base(file)
	}
	return p, nil
}
