package projection

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// Hash is the state hash of the reference runtime: djb2 over the UTF-16 code
// units of JSON.stringify(state). The order of members counts, white space and
// the spelling of numbers do not. It distinguishes states that differ by chance,
// not on purpose. It is "" for what is not JSON.
func Hash(state json.RawMessage) string {
	v, err := parseValue(state)
	if err != nil {
		return ""
	}
	return v.hash()
}

func (v *value) hash() string { return hashText(v.append(nil)) }

func hashText(text []byte) string {
	h := uint32(5381)
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			h = h*33 + uint32(c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r > 0xffff {
			r -= 0x10000
			h = h*33 + uint32(0xd800+r>>10)
			r = 0xdc00 + r&0x3ff
		}
		h = h*33 + uint32(r)
		i += n
	}
	return "djb2:" + strconv.FormatUint(uint64(h), 16)
}
