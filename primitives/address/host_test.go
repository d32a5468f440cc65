package address_test

import (
	"testing"

	"github.com/outrider-run/outrider/primitives/address"
)

func TestContainsAndMatches(t *testing.T) {
	const page = "https://www.xn--bcher-kva.test/%C3%BC?q=1"
	for text, want := range map[string]bool{
		"bücher.test": true, "BÜCHER.test/ü": true, "": true, "bucher": false, "/ü?q=1": true, "/u": false,
	} {
		if got := address.Contains(page, text); got != want {
			t.Errorf("%s contains %q: %v, want %v", page, text, got, want)
		}
	}
	for pattern, want := range map[string]bool{
		"": true, " ": true, page: true, "https://*.bücher.test/*": true, "*://*bücher.test/*": true,
		"*.bücher*": true, "https://*.bücher.test/ü": false, "https://*.bücher.test/Ü*": false,
		"https://*.bücher.test/*ü*q=1": true, "*1": true, "1": false,
	} {
		if got := address.Matches(page, pattern); got != want {
			t.Errorf("%s matches %q: %v, want %v", page, pattern, got, want)
		}
	}
}

func TestPart(t *testing.T) {
	for in, want := range map[string]string{
		"example.test/a":            "example.test/a",
		"http://bücher.test:80/a":   "http://xn--bcher-kva.test:80/a",
		"http://ann@bücher.test/":   "http://ann@xn--bcher-kva.test/",
		"bücher.test:8080":          "xn--bcher-kva.test:8080",
		"bücher":                    "xn--bcher-kva",
		"BÜCHER.test":               "xn--bcher-kva.test",
		"*bücher.test/*":            "*xn--bcher-kva.test/*",
		"bücher*":                   "xn--bcher-kva*",
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
