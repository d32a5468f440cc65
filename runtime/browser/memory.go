package browser

import "context"

// Memory is how many bytes the documents and scripts of the tab hold, frames included:
// the heaps of their isolates, what these keep outside of them, and their buffers.
func (t *Tab) Memory(ctx context.Context) (int64, error) {
	var sum float64
	for _, s := range t.Sessions() {
		var heap struct {
			Used     float64 `json:"usedSize"`
			Embedder float64 `json:"embedderHeapUsedSize"`
			Buffers  float64 `json:"backingStorageSize"`
		}
		if err := t.browser.client.Do(ctx, s.ID, "Runtime.getHeapUsage", nil, &heap); err != nil {
			return 0, err
		}
		sum += heap.Used + heap.Embedder + heap.Buffers
	}
	return int64(sum), nil
}
