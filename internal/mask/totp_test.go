package mask_test

import (
	"encoding/base32"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/mask"
)

// The codes of RFC 6238, appendix B.
func TestCodesAreThoseOfTheStandard(t *testing.T) {
	seeds := map[string]string{
		"SHA1":   "12345678901234567890",
		"SHA256": "12345678901234567890123456789012",
		"SHA512": "1234567890123456789012345678901234567890123456789012345678901234",
	}
	for _, c := range []struct {
		at        int64
		algorithm string
		want      string
	}{
		{59, "SHA1", "94287082"}, {59, "SHA256", "46119246"}, {59, "SHA512", "90693936"},
		{1111111109, "SHA1", "07081804"}, {1111111109, "SHA256", "68084774"}, {1111111109, "SHA512", "25091201"},
		{1111111111, "SHA1", "14050471"}, {1111111111, "SHA256", "67062674"}, {1111111111, "SHA512", "99943326"},
		{1234567890, "SHA1", "89005924"}, {1234567890, "SHA256", "91819424"}, {1234567890, "SHA512", "93441116"},
		{2000000000, "SHA1", "69279037"}, {2000000000, "SHA256", "90698825"}, {2000000000, "SHA512", "38618901"},
		{20000000000, "SHA1", "65353130"}, {20000000000, "SHA256", "77737706"}, {20000000000, "SHA512", "47863826"},
	} {
		key := base32.StdEncoding.EncodeToString([]byte(seeds[c.algorithm]))
		got, ok := mask.CodeOf(
			"otpauth://totp/shop:ada?digits=8&algorithm="+c.algorithm+"&secret="+key, time.Unix(c.at, 0),
		)
		if !ok || got != c.want {
			t.Errorf("%s at %d: %q, expected %q", c.algorithm, c.at, got, c.want)
		}
	}
	// As apps show it: in groups, in small letters, without padding.
	if got, ok := mask.CodeOf("gezd gnbv gy3t qojq gezd gnbv gy3t qojq", time.Unix(59, 0)); !ok || got != "287082" {
		t.Errorf("in groups: %q, expected 287082", got)
	}
	for _, odd := range []string{
		"", "hunter2!", "otpauth://totp/x?secret=GEZDGNBV&digits=3", "otpauth://totp/x?secret=GEZDGNBV&algorithm=MD5",
		"otpauth://totp/x?secret=GEZDGNBV&period=0", "otpauth://hotp/x?secret=GEZDGNBV",
	} {
		if got, ok := mask.CodeOf(odd, time.Unix(59, 0)); ok {
			t.Errorf("%q gives %s: expected nothing", odd, got)
		}
	}
}

// A code is as secret as its seed, and for the same pages.
func TestCodesAreSecret(t *testing.T) {
	s := &mask.Set{}
	if err := s.Add("SEED", "GEZDGNBVGY3TQOJQ", "https://app.example"); err != nil {
		t.Fatal(err)
	}
	text := "code {{totp:SEED}}."
	if !s.Uses(text) || strings.Join(mask.Used(text), " ") != "SEED" {
		t.Errorf("%q uses no secret: expected SEED", text)
	}
	got, err := s.Reveal(text, "https://app.example/login")
	code := strings.TrimSuffix(strings.TrimPrefix(got, "code "), ".")
	if err != nil || len(code) != 6 || strings.Trim(code, "0123456789") != "" {
		t.Fatalf("%q %v: expected a code of six digits", got, err)
	}
	if said := s.Mask("sent " + code); said != "sent {{secret:SEED}}" {
		t.Errorf("the code is shown: %q", said)
	}
	if got, err := s.Reveal(text, "https://evil.example/"); err == nil {
		t.Errorf("%q for another page: expected permission_denied", got)
	}
	if err := s.Add("WORD", "hunter2!"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Reveal("{{totp:WORD}}", "https://app.example/"); err == nil {
		t.Errorf("%q of a secret that is no seed: expected invalid_input", got)
	} else if strings.Contains(err.Error(), "hunter2!") {
		t.Errorf("the error shows the secret: %v", err)
	}
}
