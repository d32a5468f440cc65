package picture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/evidence/outfile"
)

// maxFile bounds a picture that is read, in bytes.
const maxFile = 64 << 20

// Key is what pictures depend on beside the page: the browser, its version and the platform, such as
// shell-156.linux-amd64. product is what the browser says it is, such as HeadlessChrome/156.0.1.2.
func Key(product string, shell bool) string {
	_, version, _ := strings.Cut(product, "/")
	major, _, _ := strings.Cut(version, ".")
	name := "chromium"
	if shell {
		name = "shell"
	}
	return name + "-" + major + "." + runtime.GOOS + "-" + runtime.GOARCH
}

// Kept is where a picture is kept.
type Kept struct {
	Folder, Name, Key string
}

// FolderOf is the folder of the pictures of a plan.
func FolderOf(plan string) string {
	return strings.TrimSuffix(plan, filepath.Ext(plan)) + ".screenshots"
}

// Path is the file of the picture.
func (k Kept) Path() string { return filepath.Join(k.Folder, k.Name+"."+k.Key+".png") }

// Read reads the picture. Where there is none, the error says which there are and that flag makes one.
func (k Kept) Read(flag string) ([]byte, error) {
	file, err := outfile.Read(k.Path(), maxFile)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	text := fmt.Sprintf("there is no screenshot %s of %s to compare with", k.Name, k.Key)
	if others := k.others(); len(others) > 0 {
		text += ", only of " + strings.Join(others, " and ")
	}
	return nil, fmt.Errorf("%s: run with %s, look at %s and keep it", text, flag, filepath.ToSlash(k.Path()))
}

// others are the keys of the pictures of that name.
func (k Kept) others() (keys []string) {
	entries, _ := os.ReadDir(k.Folder)
	for _, e := range entries {
		key, named := strings.CutPrefix(e.Name(), k.Name+".")
		key, isPicture := strings.CutSuffix(key, ".png")
		if named && isPicture {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Write keeps a picture.
func (k Kept) Write(file []byte) error {
	if err := os.MkdirAll(k.Folder, 0o755); err != nil {
		return err
	}
	return outfile.Write(k.Path(), file, 0o644)
}
