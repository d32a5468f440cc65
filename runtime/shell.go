package runtime

import (
	"net/url"
	"path"
	"strings"

	"github.com/outrider-run/outrider/primitives/quirks"
)

// ShellLacks says what the headless shell lacks of a profile and of the pages that are opened at the start; empty for
// nothing. It is browser.Options.Full.
func ShellLacks(profile string, open []string) string {
	if profile == quirks.ExtensionProfile {
		return "what pages find in Chrome (--profile extension)"
	}
	for _, address := range open {
		if u, err := url.Parse(address); err == nil && strings.EqualFold(path.Ext(u.Path), ".pdf") {
			return "a viewer of PDF files (--open)"
		}
	}
	return ""
}
