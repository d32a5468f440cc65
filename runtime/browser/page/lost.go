package page

// Lost reports whether commands cannot reach the tab: it was closed, or the
// connection to its browser has ended. It is true a moment before Done is
// closed.
func (p *Page) Lost() bool {
	select {
	case <-p.session.Done():
		return true
	default:
		return p.client.Err() != nil
	}
}
