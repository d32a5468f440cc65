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

// Install installs Chromium where it can do so without a prompt: as root with apt-get.
// Elsewhere it returns missing, which names the command. What the installer printed
// goes to out when it failed.
func Install(ctx context.Context, missing error, out io.Writer) error {
	apt, err := exec.LookPath("apt-get")
	if runtime.GOOS != "linux" || os.Geteuid() != 0 || err != nil {
		return missing
	}
	_, _ = io.WriteString(out, "outrider: installing chromium with apt-get\n")
	for _, args := range [][]string{
		{"update"},
		{"install", "-y", "--no-install-recommends", "chromium", "fonts-liberation"},
	} {
		var printed bytes.Buffer
		cmd := exec.CommandContext(ctx, apt, args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		cmd.Stdout, cmd.Stderr = &printed, &printed
		if err := cmd.Run(); err != nil {
			tail := printed.Bytes()
			if len(tail) > 2000 {
				tail = tail[len(tail)-2000:]
			}
			_, _ = out.Write(append(tail, '\n'))
			return fault.Wrap(fault.BrowserNotFound, err, "installing chromium with apt-get").
				Next("install Chromium by hand, or set OUTRIDER_BROWSER to its path")
		}
	}
	return nil
}
