package address_test

import (
	"testing"

	"github.com/outrider-run/outrider/primitives/address"
)

func TestPart(t *testing.T) {
	for in, want := range map[string]string{
		"example.test/a":            "example.test/a",
		"http://bücher.test:80/a":   "http://xn--bcher-kva.test:80/a",
		"http://ann@bücher.test/":   "http://ann@xn--bcher-kva.test/",
		"bücher.test:8080":          "xn--bcher-kva.test:8080",
		"bücher":                    "xn--bcher-kva",
		"BÜCHER.test":               "xn--bcher-kva.test",
		"http*://*.bücher.test/**":  "http*://*.xn--bcher-kva.test/**",
		"bücher.test/bücher":        "xn--bcher-kva.test/b%C3%BCcher",
		"//bücher.test/a":           "//xn--bcher-kva.test/a",
		"/bücher":                   "/b%C3%BCcher",
		"q=bücher":                  "q=b%C3%BCcher",
		"?q=bücher":                 "?q=b%C3%BCcher",
		"https://www.bücher.test?ü": "https://www.xn--bcher-kva.test?%C3%BC",
	} {
		if got := address.Part(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
