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

// The variables that say which browser to use, as a path, Shell or Chromium, and where the programs of both lie.
const (
	PathEnv     = "OUTRIDER_BROWSER"
	ChromiumEnv = "OUTRIDER_CHROMIUM"
	ShellEnv    = "OUTRIDER_HEADLESS_SHELL"
)

// Shell is the headless shell of Chromium, and Chromium a Chrome or Chromium with windows: what may be named in
// place of a path.
const (
	Shell    = "shell"
	Chromium = "chromium"
)

// Found is a browser's executable and how it was found.
type Found struct {
	Path   string
	Source string // "flag", "environment", "system", "playwright cache", "puppeteer cache"
	// Shell is a headless shell, by its name.
	Shell bool
}

// Kind is Shell or Chromium.
func (f Found) Kind() string {
	if f.Shell {
		return Shell
	}
	return Chromium
}

// Find looks for a browser. wanted is a path, Shell, Chromium, or empty; then the variable PathEnv says it. Who
// wants none of them gets the headless shell where there is one, else a Chrome or Chromium. needs says what the
// headless shell lacks of what is to be done, empty for nothing. Where it lacks something it is Chromium, and a shell
// that is wanted is an error.
//
// Programs are looked for in the variable of their kind, on the system, and in the caches of Playwright and Puppeteer,
// newest first. A path that is named but cannot be run is an error, not a reason to search further. The error is
// browser_not_found and its NextStep the command that would fix it.
func Find(wanted, needs string) (Found, error) {
	return machine{chromium: systemNames(), shell: shellNames()}.find(wanted, needs)
}

// machine is where the system has browsers.
type machine struct{ chromium, shell []string }

func (m machine) find(wanted, needs string) (Found, error) {
	by, source := "--browser", "flag"
	if named := os.Getenv(PathEnv); wanted == "" || wanted == named { // also a flag that has its value from there
		wanted = named
		by, source = PathEnv, "environment"
	}
	var found Found
	var err error
	switch wanted {
	case "":
		if needs == "" {
			found, err = m.headlessShell()
			if err != nil || found.Path != "" {
				return found, err
			}
		}
		return m.chromiumFound()
	case Chromium:
		return m.chromiumFound()
	case Shell:
		found, err = m.headlessShell()
		if err == nil && found.Path == "" {
			err = fault.New(fault.BrowserNotFound, "no headless shell of Chromium was found").
				Next(shellHint() + ", name its path in " + ShellEnv + ", or leave " + by + " away")
		}
	default:
		found, err = named(wanted, by, source)
	}
	if err == nil && found.Shell && needs != "" {
		err = fault.New(fault.BrowserNotFound, "%s names the headless shell, which lacks %s", by, needs).
			With("path", found.Path).Next("use " + by + " chromium, or leave it away")
	}
	if err != nil {
		return Found{}, err
	}
	return found, nil
}

// named is the browser of a path. by says who names it.
func named(path, by, source string) (Found, error) {
	executable, err := exec.LookPath(path)
	if err != nil {
		return Found{}, fault.New(fault.BrowserNotFound, "the browser that %s names cannot be run: %v", by, err).
			With("path", path).Next("correct the path, or leave " + by +
			" away to use a browser that is found; to install one: " + installHint())
	}
	if executable == debianScript {
		if program, err := exec.LookPath(debianShell); err == nil {
			executable = program
		}
	}
	return Found{executable, source, isShell(executable)}, nil
}

// isShell reports whether a program is a headless shell, by the names that Debian, Chrome for Testing and Playwright
// give it.
func isShell(path string) bool {
	name := strings.ReplaceAll(strings.ToLower(filepath.Base(path)), "_", "-")
	return strings.Contains(name, "headless-shell")
}

func (m machine) chromiumFound() (Found, error) {
	found, err := lookUp(ChromiumEnv, m.chromium, cachePatterns())
	if err == nil && found.Path == "" {
		err = fault.New(fault.BrowserNotFound, "no Chrome or Chromium was found").Next(installHint())
	}
	return found, err
}

// headlessShell is the zero Found where there is none.
func (m machine) headlessShell() (Found, error) {
	found, err := lookUp(ShellEnv, m.shell, shellPatterns())
	found.Shell = found.Path != ""
	return found, err
}

// lookUp looks for a program: in a variable, by names of the system, and in caches.
func lookUp(variable string, system []string, caches []Found) (Found, error) {
	if path := os.Getenv(variable); path != "" {
		return named(path, variable, "environment")
	}
	for _, name := range system {
		if path, err := exec.LookPath(name); err == nil {
			return Found{Path: path, Source: "system"}, nil
		}
	}
	for _, c := range caches {
		matches, _ := filepath.Glob(c.Path)
		slices.SortFunc(matches, newestFirst)
		for _, m := range matches {
			if path, err := exec.LookPath(m); err == nil {
				return Found{Path: path, Source: c.Source}, nil
			}
		}
	}
	return Found{}, nil
}

// shellNames lists names of the headless shell on PATH and usual full paths.
func shellNames() []string {
	if runtime.GOOS == "windows" {
		return []string{"chrome-headless-shell.exe"}
	}
	return []string{debianShell, "chromium-headless-shell", "chrome-headless-shell"}
}

// debianShell is what Debian's chromium-headless-shell starts. That is a script which stays its parent: who ends the
// process that was started ends the script, and the browser goes on.
const (
	debianShell  = "/usr/lib/chromium/chromium-headless-shell"
	debianScript = "/usr/bin/chromium-headless-shell"
)

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
	return inCaches("chromium-*", "chrome/*", binaries)
}

// shellPatterns is cachePatterns for the headless shell.
func shellPatterns() []Found {
	var binaries []string
	switch runtime.GOOS {
	case "darwin":
		for _, arch := range []string{"mac-arm64", "mac-x64"} {
			binaries = append(binaries, "chrome-headless-shell-"+arch+"/chrome-headless-shell")
		}
		binaries = append(binaries, "chrome-mac/headless_shell")
	case "windows":
		binaries = []string{"chrome-headless-shell-win64/chrome-headless-shell.exe", "chrome-win/headless_shell.exe"}
	default:
		binaries = []string{
			"chrome-headless-shell-linux64/chrome-headless-shell", "chrome-linux/headless_shell",
			"chrome-linux/chrome-headless-shell",
		}
	}
	return inCaches("chromium_headless_shell-*", "chrome-headless-shell/*", binaries)
}

// inCaches are programs below the folders of their versions in the two caches.
func inCaches(playwrights, puppeteers string, binaries []string) []Found {
	home, _ := os.UserHomeDir()
	cache, _ := os.UserCacheDir()
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
		{playwright, playwrights, "playwright cache"},
		{puppeteer, puppeteers, "puppeteer cache"},
	} {
		if c.root == "" || c.root == "0" {
			continue
		}
		for _, b := range binaries {
			out = append(out, Found{Path: filepath.Join(c.root, c.versions, b), Source: c.source})
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

// shellHint is the command that installs the headless shell.
func shellHint() string {
	if _, err := exec.LookPath("apt-get"); runtime.GOOS == "linux" && err == nil {
		return strings.ReplaceAll(installHint(), "chromium", shellPackage)
	}
	return "npx playwright install --only-shell chromium"
}
