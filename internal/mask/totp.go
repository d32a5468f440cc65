package mask

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"hash"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// totpOpening begins the placeholder of the code that a secret gives at the time, by RFC 6238.
const totpOpening = "{{totp:"

// seed is what codes are made of.
type seed struct {
	key    []byte
	hash   func() hash.Hash
	digits int
	period int64 // seconds
}

// parseSeed reads a seed as authenticator apps show it: base32, or an otpauth address.
func parseSeed(value string) (seed, bool) {
	out := seed{hash: sha1.New, digits: 6, period: 30}
	text := strings.TrimSpace(value)
	if rest, ok := strings.CutPrefix(text, "otpauth://totp/"); ok {
		_, query, _ := strings.Cut(rest, "?")
		q, err := url.ParseQuery(query)
		if err != nil {
			return out, false
		}
		text = q.Get("secret")
		if digits := q.Get("digits"); digits != "" {
			out.digits, _ = strconv.Atoi(digits)
		}
		if period := q.Get("period"); period != "" {
			out.period, _ = strconv.ParseInt(period, 10, 64)
		}
		switch strings.ToUpper(q.Get("algorithm")) {
		case "", "SHA1":
		case "SHA256":
			out.hash = sha256.New
		case "SHA512":
			out.hash = sha512.New
		default:
			return out, false
		}
	}
	text = strings.ToUpper(strings.NewReplacer(" ", "", "-", "", "=", "").Replace(text))
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text)
	out.key = key
	return out, err == nil && len(key) > 0 && out.digits >= 6 && out.digits <= 8 && out.period > 0
}

// code is the code at a time.
func (s seed) code(at time.Time) string {
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(at.Unix()/s.period))
	mac := hmac.New(s.hash, s.key)
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 0xf
	number := uint64(binary.BigEndian.Uint32(sum[offset:]) & 0x7fffffff)
	modulus := uint64(1)
	for range s.digits {
		modulus *= 10
	}
	return fmt.Sprintf("%0*d", s.digits, number%modulus)
}

// totp is the code that a secret gives now. It is masked from here on, as the secret is.
func (s *Set) totp(name, value string) (string, error) {
	from, ok := parseSeed(value)
	if !ok {
		return "", fault.New(
			fault.InvalidInput, "the secret %s gives no codes: expected a seed in base32, or otpauth://totp/…", name,
		)
	}
	code := from.code(time.Now())
	for of := s; of != nil; of = of.parent {
		if err := of.Hide(name, code); err != nil {
			return "", err
		}
	}
	return code, nil
}
