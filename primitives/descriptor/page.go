package descriptor

// OnPage reports whether the address predicates of the descriptor hold for an
// address.
func (d Descriptor) OnPage(url string) bool { return d.onPage(url) }
