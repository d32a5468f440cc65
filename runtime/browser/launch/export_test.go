package launch

// ForgetShell makes this machine look like one without a shell.
func ForgetShell() { shell = "/no/shell" }

// FindAmong is Find on a machine whose browsers have other names.
func FindAmong(wanted, needs string, chromium, shell []string) (Found, error) {
	return machine{chromium, shell}.find(wanted, needs)
}

// ForgetPrograms makes this program one that does not call MaybeSupervise.
func ForgetPrograms() { supervisable.Store(false) }

// Restore undoes both.
func Restore() { shell = "/bin/sh"; supervisable.Store(true) }
