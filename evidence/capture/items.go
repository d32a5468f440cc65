package capture

import (
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/evidence/record"
)

// Item records a message of a protocol. name is that of the call that it brings or answers, "" for none.
func (r *Recorder) Item(at time.Time, received bool, name string, item []byte) {
	r.queue.add(func() {
		raw := json.RawMessage(item)
		if !json.Valid(item) {
			raw = jsonOf(string(item))
		}
		out := record.Item{Direction: "out", Item: r.output(name, raw)}
		if received {
			out.Direction = "in"
		}
		r.log.PutAt(at, record.KindItem, 0, out, resources(out.Item)...)
	})
	r.queue.awaitSpace()
}
