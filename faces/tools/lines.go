package tools

import (
	"fmt"
)

const (
	// mostTitle and mostAddress are the characters of a title and of an address in an
	// answer. page.info has them whole.
	mostTitle   = 200
	mostAddress = 500
	// mostRow are the characters of one row among others.
	mostRow = 400
	// leastLine is kept for the first line of a page, however few tokens are left.
	leastLine = 40
)

// cutLine is a text of at most so many characters, and how many more there are.
func cutLine(text string, most int) string {
	if len(text) <= most {
		return text
	}
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return fmt.Sprintf("%s… [%d more characters]", string(r[:most]), len(r)-most)
}

// inBrief cuts the title and the address of a result: a page makes them as long as it likes.
func inBrief(result map[string]any) map[string]any {
	for name, most := range map[string]int{"title": mostTitle, "url": mostAddress} {
		if text, ok := result[name].(string); ok {
			result[name] = cutLine(text, most)
		}
	}
	return result
}

// cutToTokens is a line of at most so many tokens.
func cutToTokens(line string, most int) string {
	low, high := 0, len([]rune(line))
	for low < high {
		middle := (low + high + 1) / 2
		if EstimateTokens(cutLine(line, middle)) <= most {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return cutLine(line, low)
}
