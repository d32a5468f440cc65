package tenant

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nkeys"
)

var encoding = base64.RawURLEncoding

// Signer signs what a worker records, so that others who may write to the same account
// cannot make up results.
type Signer struct {
	key    nkeys.KeyPair
	Public string
}

// OpenSigner reads the key of a worker, and makes one when there is no such file.
func OpenSigner(path string) (*Signer, error) {
	seed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = makeKey(path)
		if err == nil {
			seed, err = os.ReadFile(path)
		}
	}
	var key nkeys.KeyPair
	if err == nil {
		key, err = nkeys.FromSeed([]byte(strings.TrimSpace(string(seed))))
	}
	if err != nil {
		return nil, fmt.Errorf("the signing key %s: %w", path, err)
	}
	public, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	return &Signer{key, public}, nil
}

// makeKey writes a new key to a file that is not there. Of several workers that start at once
// one makes it: the file gets its name when it is whole, and only when nobody else has it.
func makeKey(path string) error {
	key, err := nkeys.CreateUser()
	if err != nil {
		return err
	}
	seed, err := key.Seed()
	if err != nil {
		return err
	}
	made, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(made.Name()) }()
	_, err = made.Write(append(seed, '\n'))
	err = errors.Join(err, made.Close())
	if err != nil {
		return err
	}
	err = os.Link(made.Name(), path)
	if errors.Is(err, fs.ErrExist) {
		return nil // another one was faster: its key is the one
	}
	return err
}

// Sign is the signature of data, with the key that made it.
func (s *Signer) Sign(data []byte) string {
	signature, err := s.key.Sign(data)
	if err != nil {
		return ""
	}
	return s.Public + ":" + encoding.EncodeToString(signature)
}

// Verify reports whether a signature is over data and by one of the keys.
func Verify(keys []string, data []byte, signature string) error {
	public, text, _ := strings.Cut(signature, ":")
	raw, err := encoding.DecodeString(text)
	if err != nil || signature == "" {
		return errors.New("there is no signature")
	}
	for _, k := range keys {
		if k != public {
			continue
		}
		key, err := nkeys.FromPublicKey(k)
		if err != nil {
			return fmt.Errorf("the key %s: %w", k, err)
		}
		return key.Verify(data, raw)
	}
	return errors.New("it is signed by a key that is not trusted")
}
