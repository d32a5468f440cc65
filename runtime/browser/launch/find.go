package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// PathEnv names the browser to use when no path is given.
const PathEnv = "OUTRIDER_BROWSER"

// Found is a browser's executable and how it was found.
type Found struct {
	Path   string
	Source string // "flag", "environment", "system", "playwright cache", "puppeteer cache"
}

// Find looks for a browser: explicit, then the environment variable PathEnv,
// then the system's Chrome or Chromium, then the caches of Playwright and
// Puppeteer, newest first. A path that is named but cannot be run is an error,
// not a reason to search further. The error is browser_not_found and its NextStep
// the command that would fix it.
func Find(explicit string) (Found, error) { return findAmong(explicit, systemNames()) }

func findAmong(explicit string, system []string) (Found, error) {
	named := os.Getenv(PathEnv)
	if explicit == named {
		explicit = "" // a flag that has its value from the environment
	}
	for _, c := range []Found{{explicit, "flag"}, {named, "environment"}} {
		if c.Path == "" {
			continue
		}
		path, err := exec.LookPath(c.Path)
		if err != nil {
			by := map[string]string{"flag": "--browser", "environment": PathEnv}[c.Source]
			return Found{}, fault.New(fault.BrowserNotFound, "the browser that %s names cannot be run: %v", by, err).
				With("path", c.Path).Next("correct the path, or leave " + by +
				" away to use a browser that is found; to install one: " + installHint())
		}
		return Found{path, c.Source}, nil
	}
	for _, name := range system {
		if path, err := exec.LookPath(name); err == nil {
			return Found{path, "system"}, nil
		}
	}
	for _, c := range cachePatterns() {
		matches, _ := filepath.Glob(c.Path)
		slices.SortFunc(matches, newestFirst)
		for _, m := range matches {
			if path, err := exec.LookPath(m); err == nil {
				return Found{path, c.Source}, nil
			}
		}
	}
	return Found{}, fault.New(fault.BrowserNotFound, "no Chrome or Chromium was found").Next(installHint())
}

// systemNames lists names to look up on PATH and usual full paths.
func systemNames() []string {
	switch runtime.GOOS {
	case "darwin":
		var names []string
		for _, root := range []string{"", os.Getenv("HOME")} {
			for _, app := range []string{"Google Chrome", "Chromium", "Google Chrome for Testing", "Microsoft Edge"} {
				names = append(names, root+"/Applications/"+app+".app/Contents/MacOS/"+app)
			}
		}
		return append(names, "google-chrome", "chromium")
	case "windows":
		var names []string
		for _, env := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
			root := os.Getenv(env)
			if root == "" {
				continue
			}
			for _, app := range []string{`Google\Chrome`, `Chromium`} {
				names = append(names, filepath.Join(root, app, `Application\chrome.exe`))
			}
			names = append(names, filepath.Join(root, `Microsoft\Edge\Application\msedge.exe`))
		}
		return append(names, "chrome.exe", "msedge.exe")
	}
	return []string{
		"google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "chrome",
		"/opt/google/chrome/chrome", "/usr/lib/chromium/chromium", "/snap/bin/chromium", "microsoft-edge-stable",
	}
}

// cachePatterns lists where other tools keep browsers they downloaded.
func cachePatterns() []Found {
	home, _ := os.UserHomeDir()
	cache, _ := os.UserCacheDir()
	binaries := []string{"chrome-linux/chrome", "chrome-linux64/chrome"}
	switch runtime.GOOS {
	case "darwin":
		binaries = nil
		for _, dir := range []string{"chrome-mac", "chrome-mac-arm64", "chrome-mac-x64"} {
			for _, app := range []string{"Chromium", "Google Chrome for Testing"} {
				binaries = append(binaries, dir+"/"+app+".app/Contents/MacOS/"+app)
			}
		}
	case "windows":
		binaries = []string{"chrome-win/chrome.exe", "chrome-win64/chrome.exe"}
	}
	// Without HOME there is no cache; a relative path would run what the working
	// directory holds.
	playwright := os.Getenv("PLAYWRIGHT_BROWSERS_PATH")
	if (playwright == "" || playwright == "0") && cache != "" {
		playwright = filepath.Join(cache, "ms-playwright")
	}
	puppeteer := os.Getenv("PUPPETEER_CACHE_DIR")
	if puppeteer == "" && home != "" {
		puppeteer = filepath.Join(home, ".cache", "puppeteer")
	}
	var out []Found
	for _, c := range []struct{ root, versions, source string }{
		{playwright, "chromium-*", "playwright cache"},
		{puppeteer, "chrome/*", "puppeteer cache"},
	} {
		if c.root == "" || c.root == "0" {
			continue
		}
		for _, b := range binaries {
			out = append(out, Found{filepath.Join(c.root, c.versions, b), c.source})
		}
	}
	return out
}

// newestFirst orders cache paths by the numbers in them, so that revision 1200
// comes before 999.
func newestFirst(a, b string) int {
	na, nb := numbers(a), numbers(b)
	return slices.CompareFunc(nb, na, func(x, y string) int {
		if len(x) != len(y) {
			return len(x) - len(y)
		}
		return strings.Compare(x, y)
	})
}

func numbers(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

func installHint() string {
	switch runtime.GOOS {
	case "darwin":
		return "brew install --cask google-chrome"
	case "windows":
		return "winget install Google.Chrome"
	}
	sudo := "sudo "
	if os.Geteuid() == 0 {
		sudo = ""
	}
	for _, m := range []struct{ tool, command string }{
		{"apt-get", "apt-get install -y chromium"},
		{"dnf", "dnf install -y chromium"},
		{"pacman", "pacman -S --noconfirm chromium"},
		{"apk", "apk add chromium"},
		{"zypper", "zypper install -y chromium"},
	} {
		if _, err := exec.LookPath(m.tool); err == nil {
			return sudo + m.command
		}
	}
	return "npx playwright install chromium"
}
