package projection

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
)

// MaxDiagnostics bounds the paths under selector_counts and under missing_required_fields;
// diagnostics.truncated says that there are more.
const MaxDiagnostics = 1000

// Limits bound one read: the work in the page, and the memory in this process. Each ends it
// with state_extract_limit_exceeded.
type Limits struct {
	// Nodes are those that are visited, one for each record and each field, in one frame.
	Nodes int
	// Bytes are those of the records as JSON in UTF-8.
	Bytes int
	// Time is how long the page's thread is blocked, in one frame.
	Time time.Duration
}

// DefaultLimits are those of a read that sets none.
var DefaultLimits = Limits{Nodes: 200_000, Bytes: 8 << 20, Time: 2 * time.Second}

// DefaultMostBytes is the greatest limit of bytes that a call may ask for, unless the operator says otherwise.
const DefaultMostBytes = 16 << 20

// mostTime is the greatest limit of time.
const mostTime = 10 * time.Second

// bytesOfNode is how many bytes of the limit allow one node. Values of a table take about as many.
const bytesOfNode = 16

// MostLimits are the greatest limits that a call may ask for where records may have so many bytes. 0 is
// DefaultMostBytes.
func MostLimits(bytes int64) Limits {
	if bytes <= 0 {
		bytes = DefaultMostBytes
	}
	bytes = min(bytes, 1<<30)
	return Limits{Nodes: int(bytes / bytesOfNode), Bytes: int(bytes), Time: mostTime}
}

// Within are the limits with a default for each that is 0, and none above most.
func (l Limits) Within(most Limits) Limits {
	if l.Nodes <= 0 {
		l.Nodes = DefaultLimits.Nodes
	}
	if l.Bytes <= 0 {
		l.Bytes = DefaultLimits.Bytes
	}
	if l.Time <= 0 {
		l.Time = DefaultLimits.Time
	}
	return Limits{Nodes: min(l.Nodes, most.Nodes), Bytes: min(l.Bytes, most.Bytes), Time: min(l.Time, most.Time)}
}

// Above names a limit that is greater than most allows; "" is none.
func (l Limits) Above(most Limits) string {
	switch {
	case l.Nodes > most.Nodes:
		return "nodes"
	case l.Bytes > most.Bytes:
		return "bytes"
	case l.Time > most.Time:
		return "time_ms"
	}
	return ""
}

func (l Limits) orDefault() Limits { return l.Within(MostLimits(1 << 30)) }

// encoded is what the page is told.
func (l Limits) encoded() json.RawMessage {
	return fmt.Appendf(
		nil, `{"nodes":%d,"bytes":%d,"time_ms":%d,"diagnostics":%d}`,
		l.Nodes, l.Bytes, l.Time.Milliseconds(), MaxDiagnostics,
	)
}

// memoryOfByte is how much an expression may allocate for each byte of records that it works on.
const memoryOfByte = 4

// expression are the limits of an expression over what was read within l, that gives at most so many bytes.
func (l Limits) expression(output int) expr.Limits {
	return expr.Limits{
		Time:        evalTime,
		OutputBytes: output,
		Memory:      max(int64(l.Bytes), int64(DefaultLimits.Bytes)) * memoryOfByte,
	}
}

func (l Limits) overBytes(n int) *fault.Error {
	return fault.New(fault.StateExtractLimitExceeded, "reading the page used up its limit of bytes").
		With("limit", "bytes").With("max", l.Bytes).With("bytes", n).Next(raiseOrNarrow)
}

func (l Limits) overTime() *fault.Error {
	return fault.New(fault.StateExtractLimitExceeded, "the page did not answer within its limit of time").
		With("limit", "time").With("max", l.Time.Milliseconds()).Next(raiseOrNarrow)
}

// raiseOrNarrow is what helps at a limit.
const raiseOrNarrow = "narrow the selectors or leave fields out, or give the call greater limits: nodes, bytes or " +
	"time_ms of limits; mode state_read with rows has the greatest"
