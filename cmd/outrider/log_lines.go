package main

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

// logLines is standard error with --log-format json: each line that is no record of the log becomes one, so that who
// reads the log reads JSON alone.
type logLines struct {
	log  *slog.Logger
	mu   sync.Mutex
	rest []byte // of a line that has not ended
}

// flush ends the last line.
func (l *logLines) flush() { _, _ = l.Write([]byte("\n")) }

// longestLogLine is where a line ends that has no end.
const longestLogLine = 64 << 10

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 && len(l.rest) < longestLogLine {
			return len(p), nil
		}
		if i < 0 {
			i = len(l.rest) - 1
		}
		line := strings.TrimSpace(strings.TrimPrefix(string(l.rest[:i+1]), "outrider: "))
		l.rest = l.rest[i+1:]
		if line != "" {
			l.log.Warn(line)
		}
	}
}
