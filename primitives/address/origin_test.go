package address

import (
	"testing"
)

// TestOrigin: addresses are read as browsers do.
func TestOrigin(t *testing.T) {
	for address, want := range map[string]string{
		"https://shop.test/sale/50%":       "https://shop.test",
		"https://shop.test/a#50%":          "https://shop.test",
		"https://shop.test?q=a b":          "https://shop.test",
		" HTTPS://Shop.Test:443/x\n":       "https://shop.test",
		"http://shop.test:0080/":           "http://shop.test",
		"http://shop.test:8080#x":          "http://shop.test:8080",
		"http://shop.test:/":               "http://shop.test",
		`http:\\shop.test\@evil.test/`:     "http://shop.test",
		"http://shop.test@evil.test/":      "http://evil.test",
		"http://a:b@shop.test:81/":         "http://shop.test:81",
		"http://[::1]/":                    "http://[::1]",
		"http://[::1]:81/@x":               "http://[::1]:81",
		"ht\ntp://shop.test/":              "http://shop.test",
		"http://shop.test:99999/":          "",
		"http://shop.test:x/":              "",
		"http://":                          "",
		"http://sh op.test/":               "",
		"/sale/50%":                        "",
		"data:text/plain,http://shop.test": "",
		"blob:https://shop.test/1234":      "",
		"https://b\u00fccher.example/x":    "https://xn--bcher-kva.example",
		"":                                 "",
	} {
		if got := Origin(address); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}
