// Package checkcache remembers by content which texts of maps an earlier process of the same program found nothing
// wrong with, so that they are not checked again at every start. It decides nothing: what is used is compiled when it
// is used, and is refused then if it is wrong. The command opens it, and package mapset asks it.
package checkcache

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// most is how many texts are remembered: of 1,000 maps with five workflows each, 20 times.
const most = 100_000

// key is what is kept of a text: the start of the hash of the program, of how it was checked, and of the text.
type key [16]byte

// Texts are those that were checked. It is safe for concurrent use. A nil one knows none and remembers none.
type Texts struct {
	file string
	seed [sha256.Size]byte // of the program

	mu    sync.Mutex
	known map[key]bool // true for those that this process has met
	added bool
}

// User opens what this user's processes of this very program remember. Where that cannot be, it is nil.
func User(version string) *Texts {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	info, err := os.Stat(program)
	if err != nil {
		return nil
	}
	return Open(
		filepath.Join(cache, "outrider", "checked-maps"),
		fmt.Sprintf("%s %d %d", version, info.Size(), info.ModTime().UnixNano()),
	)
}

// Open reads what a file remembers of this program. A file that is not there, is broken or is of another program
// remembers nothing, and is replaced.
func Open(file, program string) *Texts {
	t := &Texts{file: file, seed: sha256.Sum256([]byte(program)), known: map[key]bool{}}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > int64(len(t.seed)+most*len(key{})) {
		return t
	}
	data, err := os.ReadFile(file)
	rest, ok := bytes.CutPrefix(data, t.seed[:])
	if err != nil || !ok || len(rest)%len(key{}) != 0 {
		return t
	}
	for ; len(rest) > 0; rest = rest[len(key{}):] {
		t.known[key(rest)] = false
	}
	return t
}

func (t *Texts) key(how string, text []byte) (k key) {
	h := sha256.New()
	h.Write(t.seed[:])
	fmt.Fprintf(h, "%d:%s", len(how), how)
	h.Write(text)
	copy(k[:], h.Sum(nil))
	return k
}

// Has reports whether nothing was wrong with a text when it was checked in this way.
func (t *Texts) Has(how string, text []byte) bool {
	if t == nil {
		return false
	}
	k := t.key(how, text)
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.known[k]
	if ok {
		t.known[k] = true
	}
	return ok
}

// Add remembers a text that nothing is wrong with.
func (t *Texts) Add(how string, text []byte) {
	if t == nil {
		return
	}
	k := t.key(how, text)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known[k], t.added = true, true
}

// Save writes what was added. When that is too much, what this process has not met is forgotten, and when it still is,
// nothing is written.
func (t *Texts) Save() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.added {
		return nil
	}
	t.added = false
	crowded := len(t.known) > most
	data := bytes.Clone(t.seed[:])
	for k, met := range t.known {
		if met || !crowded {
			data = append(data, k[:]...)
		}
	}
	if len(data) > len(t.seed)+most*len(key{}) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(t.file), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(t.file), ".checked-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), t.file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
