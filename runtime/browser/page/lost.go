package page

// Lost reports whether nothing more can be asked of the tab: it is gone, or the
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
