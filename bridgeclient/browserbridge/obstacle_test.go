package browserbridge_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/bridgeclient/browserbridge"
)

func TestObstacles(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(transcripts, "obstacles.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name, URL, Title, Markdown string
			Repeat                     int
			Elements                   []browserbridge.Element
			CaptchaFrame               bool `json:"captcha_frame"`
			Want                       *struct{ Type, Confidence string }
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	ordinary, kinds := 0, map[string]int{}
	for _, c := range file.Cases {
		got := browserbridge.DetectObstacle(browserbridge.Sighting{
			URL:          c.URL,
			Title:        c.Title,
			Markdown:     strings.Repeat(c.Markdown, c.Repeat),
			Elements:     c.Elements,
			CaptchaFrame: c.CaptchaFrame,
		})
		switch {
		case c.Want == nil:
			ordinary++
			if got != nil && got.Confidence == "high" {
				t.Errorf("%s: an ordinary page is judged %s, high: %s", c.Name, got.Type, got.Message)
			} else if got != nil {
				t.Errorf("%s: got %s, low, want nothing: %s", c.Name, got.Type, got.Message)
			}
		case got == nil || got.Type != c.Want.Type || got.Confidence != c.Want.Confidence:
			t.Errorf("%s: got %+v, want %+v", c.Name, got, *c.Want)
		default:
			kinds[c.Want.Type+"/"+c.Want.Confidence]++
		}
	}
	if len(file.Cases) < 200 || ordinary < 90 || len(kinds) != 4 {
		t.Errorf("%d cases, %d of them ordinary, kinds %v: want 200, 90 and 4 kinds", len(file.Cases), ordinary, kinds)
	}
}
