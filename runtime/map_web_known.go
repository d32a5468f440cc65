package runtime

import "net/url"

// read are the offers that were read from the web for base, of any origin.
func (w *webImports) read(base *offer) []*offer {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*offer
	for key, e := range w.kept {
		if o := e.latest.Load(); key.base == base && o != nil {
			out = append(out, o)
		}
	}
	return out
}

// readFor is what was read from the web for base and the pages of an origin, nil
// when nothing was.
func (w *webImports) readFor(base *offer, address string) *offer {
	at, err := url.Parse(address)
	if err != nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.kept[webKey{base, at.Scheme + "://" + at.Host}]; e != nil {
		return e.latest.Load()
	}
	return nil
}
