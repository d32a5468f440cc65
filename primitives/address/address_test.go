package address_test

import (
	"testing"

	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
)

func TestWeb(t *testing.T) {
	for _, c := range []struct {
		in, out string
		code    fault.Code
	}{
		{"https://e.test/a b?q#f", "https://e.test/a b?q#f", ""},
		{"HTTP://E.test", "HTTP://E.test", ""},
		{" http://e.test \n", "http://e.test", ""},
		{"ht\ntps://e.test", "https://e.test", ""},
		{"about:blank", "about:blank", ""},
		{"About:Blank#x", "About:Blank#x", ""},
		{"http://[::1]:80/", "http://[::1]:80/", ""},
		{"http://bücher.test/", "http://bücher.test/", ""},
		{"http://e.test/%zz", "http://e.test/%zz", ""},
		{"", "", fault.InvalidInput},
		{"e.test", "", fault.InvalidInput},
		{"/a", "", fault.InvalidInput},
		{"//e.test", "", fault.InvalidInput},
		{"http://", "", fault.InvalidInput},
		{"https:///path", "", fault.InvalidInput},
		{":", "", fault.InvalidInput},
		{"1a:b", "", fault.InvalidInput},
		{"about:", "", fault.PermissionDenied},
		{"about:blankx", "", fault.PermissionDenied},
		{"about:srcdoc", "", fault.PermissionDenied},
		{"javascript:alert(1)", "", fault.PermissionDenied},
		{"\x01JaVa\tScript:1", "", fault.PermissionDenied},
		{"data:,x", "", fault.PermissionDenied},
		{"file:///etc", "", fault.PermissionDenied},
		{"FILE:x", "", fault.PermissionDenied},
		{"chrome://gpu", "", fault.PermissionDenied},
		{"edge:x", "", fault.PermissionDenied},
		{"blob:http://e.test/1", "", fault.PermissionDenied},
		{"filesystem:http://e.test/1", "", fault.PermissionDenied},
		{"view-source:http://e.test", "", fault.PermissionDenied},
		{"ws://e.test", "", fault.PermissionDenied},
		{"mailto:a@b", "", fault.PermissionDenied},
		{"devtools://x", "", fault.PermissionDenied},
		{"chrome-extension://x/y", "", fault.PermissionDenied},
	} {
		got, err := address.Web(c.in)
		if got != c.out || fault.CodeOf(err) != c.code {
			t.Errorf("%q: got %q %v, want %q %q", c.in, got, err, c.out, c.code)
		}
	}
}
