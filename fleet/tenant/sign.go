package tenant

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	var key nkeys.KeyPair
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if key, err = nkeys.CreateUser(); err == nil {
			if seed, err = key.Seed(); err == nil {
				err = os.WriteFile(path, append(seed, '\n'), 0o600)
			}
		}
	case err == nil:
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

// Sign is the signature of data, with the key that made it.
func (s *Signer) Sign(data []byte) string {
	signature, err := s.key.Sign(data)
	if err != nil {
		return ""
	}
	return s.Public + ":" + encoding.EncodeToString(signature)
}

// Verify says whether a signature is over data and by one of the keys.
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
