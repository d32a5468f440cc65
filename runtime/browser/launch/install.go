package launch

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/outrider-run/outrider/primitives/fault"
)

// shellPackage is Debian's package of the headless shell, of the same version as chromium.
const shellPackage = "chromium-headless-shell"

// debianChromium is there where Debian's chromium is installed.
const debianChromium = "/usr/lib/chromium/chromium"

// Install installs Chromium where it can do so without a prompt: as root with apt-get.
// Elsewhere it returns missing, which names the command. What the installer printed
// goes to out when it failed.
func Install(ctx context.Context, missing error, out io.Writer) error {
	apt := installer()
	if apt == "" {
		return missing
	}
	_, _ = io.WriteString(out, "outrider: installing chromium with apt-get\n")
	for _, args := range [][]string{
		{"update"},
		{"install", "-y", "--no-install-recommends", "chromium", "fonts-liberation"},
	} {
		if printed, err := run(ctx, apt, args); err != nil {
			_, _ = out.Write(append(printed, '\n'))
			return fault.Wrap(fault.BrowserNotFound, err, "installing chromium with apt-get").
				Next("install Chromium by hand, or set OUTRIDER_BROWSER to its path")
		}
	}
	return nil
}

// InstallShell installs the headless shell beside Debian's chromium, under the same conditions. Nobody needs it, so
// what fails is only said.
func InstallShell(ctx context.Context, out io.Writer) {
	apt := installer()
	if _, err := os.Stat(debianChromium); apt == "" || err != nil {
		return
	}
	_, _ = io.WriteString(out, "outrider: installing "+shellPackage+" with apt-get\n")
	if _, err := run(ctx, apt, []string{"install", "-y", "--no-install-recommends", shellPackage}); err != nil {
		_, _ = io.WriteString(out, "outrider: "+shellPackage+" was not installed; Chromium does its work\n")
	}
}

// installer is apt-get where it needs no password, else empty.
func installer() string {
	apt, err := exec.LookPath("apt-get")
	if runtime.GOOS != "linux" || os.Geteuid() != 0 || err != nil {
		return ""
	}
	return apt
}

// run runs apt-get and returns the end of what it printed.
func run(ctx context.Context, apt string, args []string) (printed []byte, err error) {
	var all bytes.Buffer
	cmd := exec.CommandContext(ctx, apt, args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	cmd.Stdout, cmd.Stderr = &all, &all
	err = cmd.Run()
	printed = all.Bytes()
	if len(printed) > 2000 {
		printed = printed[len(printed)-2000:]
	}
	return printed, err
}
