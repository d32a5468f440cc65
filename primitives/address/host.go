package address

import (
	"fmt"
	"strings"

	"golang.org/x/net/idna"
)

// ASCIIHost is a name of a host as it stands in addresses of a browser: labels of other
// letters are encoded (bücher.example is xn--bcher-kva.example). Wildcards at the ends of a label stay.
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
		bare := strings.Trim(label, "*")
		if ascii, err := idna.Lookup.ToASCII(bare); err == nil {
			labels[i] = strings.Replace(label, bare, ascii, 1)
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

// Part is a part of an address, or a pattern of one, as it stands in addresses of a browser: the host as
// in ASCIIHost, other letters of a path or a query as %-sequences. What comes before the first slash is a
// host, unless it begins with ? or # or has a =.
func Part(text string) string {
	if isASCII(text) {
		return text
	}
	text = ASCII(text)
	start := 0
	if i := strings.Index(text, "://"); i >= 0 {
		start = i + 3
	} else if strings.HasPrefix(text, "//") {
		start = 2
	}
	end := len(text)
	if i := strings.IndexAny(text[start:], `/\?#=&`); i >= 0 {
		end = start + i
	}
	if end == len(text) || !strings.ContainsRune("=&", rune(text[end])) {
		text = text[:start] + ASCIIHost(text[start:end]) + text[end:]
	}
	var out strings.Builder
	for i := range len(text) {
		if c := text[i]; c < 0x80 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}
