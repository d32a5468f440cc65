package address

import (
	"strings"

	"golang.org/x/net/idna"
)

// ASCIIHost is a name of a host as it stands in addresses of a browser: labels of other
// letters are encoded (bücher.example is xn--bcher-kva.example). Labels with wildcards stay.
func ASCIIHost(host string) string {
	if isASCII(host) {
		return host
	}
	host = strings.NewReplacer("。", ".", "．", ".", "｡", ".").Replace(host)
	labels := strings.Split(host, ".")
	for i, label := range labels {
		if isASCII(label) {
			continue
		}
		if ascii, err := idna.Lookup.ToASCII(label); err == nil {
			labels[i] = ascii
		}
	}
	return strings.Join(labels, ".")
}

// ASCII is an address whose host is as in ASCIIHost. What is no address stays.
func ASCII(raw string) string {
	if isASCII(raw) {
		return raw
	}
	start, end := authority(raw)
	if start == 0 && strings.Contains(raw, "://") { // a scheme with wildcards, as in a pattern
		start = strings.Index(raw, "://") + 3
		end = start
		for end < len(raw) && strings.IndexByte(`/\\?#`, raw[end]) < 0 {
			end++
		}
	}
	at := start + strings.LastIndexByte(raw[start:end], '@') + 1
	return raw[:at] + ASCIIHost(raw[at:end]) + raw[end:]
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}
