package jsonata

import "maps"

// specialUpper holds the characters whose upper case is more than one
// character (Unicode SpecialCasing, without conditions).
var specialUpper = map[rune]string{
	'ß': "SS", 'ŉ': "ʼN", 'ǰ': "J̌", 'ΐ': "Ϊ́", 'ΰ': "Ϋ́", 'և': "ԵՒ",
	'ẖ': "H̱", 'ẗ': "T̈", 'ẘ': "W̊", 'ẙ': "Y̊", 'ẚ': "Aʾ",
	'ὐ': "Υ̓", 'ὒ': "Υ̓̀", 'ὔ': "Υ̓́", 'ὖ': "Υ̓͂",
	'ﬀ': "FF", 'ﬁ': "FI", 'ﬂ': "FL", 'ﬃ': "FFI", 'ﬄ': "FFL", 'ﬅ': "ST", 'ﬆ': "ST",
	'ﬓ': "ՄՆ", 'ﬔ': "ՄԵ", 'ﬕ': "ՄԻ", 'ﬖ': "ՎՆ", 'ﬗ': "ՄԽ",
}

// The Greek letters with iota subscript: the iota becomes a capital of its own.
func init() {
	for i, base := range []rune{0x1F08, 0x1F28, 0x1F68} {
		for k := range rune(8) {
			low := []rune{0x1F80, 0x1F90, 0x1FA0}[i]
			specialUpper[low+k] = string([]rune{base + k, 'Ι'})
			specialUpper[low+8+k] = string([]rune{base + k, 'Ι'})
		}
	}
	maps.Copy(specialUpper, map[rune]string{
		0x1FB3: "ΑΙ",
		0x1FBC: "ΑΙ",
		0x1FC3: "ΗΙ",
		0x1FCC: "ΗΙ",
		0x1FF3: "ΩΙ",
		0x1FFC: "ΩΙ",
		0x1FB2: "\u1FBAΙ",
		0x1FB4: "ΆΙ",
		0x1FC2: "\u1FCAΙ",
		0x1FC4: "ΉΙ",
		0x1FF2: "\u1FFAΙ",
		0x1FF4: "ΏΙ",
		0x1FB6: "Α\u0342",
		0x1FB7: "Α\u0342Ι",
		0x1FC6: "Η\u0342",
		0x1FC7: "Η\u0342Ι",
		0x1FF6: "Ω\u0342",
		0x1FF7: "Ω\u0342Ι",
		0x1FD2: "Ι\u0308\u0300",
		0x1FD3: "Ι\u0308\u0301",
		0x1FD6: "Ι\u0342",
		0x1FD7: "Ι\u0308\u0342",
		0x1FE2: "Υ\u0308\u0300",
		0x1FE3: "Υ\u0308\u0301",
		0x1FE4: "Ρ\u0313",
		0x1FE6: "Υ\u0342",
		0x1FE7: "Υ\u0308\u0342",
	})
}
