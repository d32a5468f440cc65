package verify

import "github.com/outrider-run/outrider/sites/manifest"

// HasSetup reports whether something must happen before the check can fail. What
// has not been prepared may pass, which is as good as ever, but that it does not
// shows nothing about the site.
func HasSetup(k *manifest.Check) bool { return len(k.SetupSteps)+len(k.SetupRest) > 0 }
