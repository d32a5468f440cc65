package tools

import "unicode"

// EstimateTokens is about how many tokens a model reads a text as. It follows the rules by
// which the vocabulary o200k takes text apart: words with the space before them, numbers
// by three digits, runs of signs, line ends with the space after them. A vocabulary of
// 200,000 words would be exact and cost more memory than the rest of the server.
func EstimateTokens(text string) int {
	n := 0.0
	runes := []rune(text)
	for i := 0; i < len(runes); {
		r := runes[i]
		switch {
		case unicode.IsLetter(r):
			from := i
			lower := false
			for i < len(runes) && unicode.IsLetter(runes[i]) {
				up := unicode.IsUpper(runes[i])
				if up && lower {
					break // a capital begins another word
				}
				lower = lower || !up
				i++
			}
			n += wordTokens(runes[from:i])
		case unicode.IsNumber(r):
			from := i
			for i < len(runes) && unicode.IsNumber(runes[i]) {
				i++
			}
			n += float64((i - from + 2) / 3)
		case r == '\n' || r == '\r':
			for i < len(runes) && unicode.IsSpace(runes[i]) {
				i++
			}
			n++
		case unicode.IsSpace(r):
			from := i
			for i < len(runes) && unicode.IsSpace(runes[i]) && runes[i] != '\n' {
				i++
			}
			if i-from > 1 {
				n++
			} else if i < len(runes) && unicode.IsNumber(runes[i]) {
				n++ // a number does not take the space before it
			}
		default:
			from, escapes := i, 0
			for i < len(runes) && !unicode.IsLetter(runes[i]) && !unicode.IsNumber(runes[i]) &&
				!unicode.IsSpace(runes[i]) {
				if runes[i] == '\\' && i+1 < len(runes) { // an escape of JSON is one sign
					escapes++
					i++
				}
				i++
			}
			if i-from == 1 && r < 0x2000 && joins(runes[i:]) {
				continue // one sign is part of a short word after it
			}
			n += signTokens(runes[from:i]) - 0.5*float64(escapes)
		}
	}
	return int(1.035*n + 0.999) // names and rare words take more than one
}

// wordTokens estimates the tokens of a word of one script.
func wordTokens(word []rune) float64 {
	switch n := float64(len(word)); {
	case word[0] > 0x2e80: // a sign for each syllable or word
		return 0.8 * n
	case word[0] > 0x24f:
		return max(1, n/3.5)
	case n <= 9:
		return 1
	default:
		return 1 + (n-9)*0.12
	}
}

// joins reports whether a word of one or two letters begins.
func joins(rest []rune) bool {
	n := 0
	for n < len(rest) && unicode.IsLetter(rest[n]) {
		n++
	}
	return n == 1 || n == 2
}

// signTokens estimates the tokens of a run of signs: one by itself joins the word after it now and
// then, pairs are often one token.
func signTokens(run []rune) float64 {
	if run[0] > 0x2000 {
		return 1.5 * float64(len(run))
	}
	return max(1, float64(len(run))*0.4)
}
