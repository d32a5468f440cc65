package launch

// ForgetSupervision makes this process look like one that does not call
// MaybeSupervise.
func ForgetSupervision() { supervisable.Store(false) }

// FindAmong is Find on a machine whose browsers have other names.
func FindAmong(explicit string, system ...string) (Found, error) { return findAmong(explicit, system) }
