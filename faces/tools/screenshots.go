package tools

import (
	"encoding/base64"
	"strings"
	"sync"
)

// maxScreenshots bounds the pictures that are kept.
const maxScreenshots = 20

// screenshotStore are the last pictures taken.
type screenshotStore struct {
	mu   sync.Mutex
	ids  []string
	byID map[string]screenshot
}

type screenshot struct {
	data []byte
	kind string
}

// screenshotURI begins the names of pictures.
const screenshotURI = "outrider://screenshots/"

// keepScreenshot remembers a picture and returns the URI it is read by.
func (s *Set) keepScreenshot(data []byte, kind string) string {
	id := s.opts.NewID()
	ps := &s.screenshots
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.byID == nil {
		ps.byID = map[string]screenshot{}
	}
	ps.byID[id] = screenshot{data, kind}
	ps.ids = append(ps.ids, id)
	if len(ps.ids) > maxScreenshots {
		delete(ps.byID, ps.ids[0])
		ps.ids = ps.ids[1:]
	}
	return screenshotURI + id
}

// Picture is a picture that was taken lately, by its URI, with its MIME type.
func (s *Set) Picture(uri string) (data []byte, kind string, ok bool) {
	s.screenshots.mu.Lock()
	defer s.screenshots.mu.Unlock()
	p, ok := s.screenshots.byID[strings.TrimPrefix(uri, screenshotURI)]
	return p.data, p.kind, ok
}

// TakePicture takes the picture of a screenshot out of its result: a model reads
// pictures as content, not as base64 text. The upstream extension says it a
// second time in screenshot_compaction.
func TakePicture(result map[string]any) (image []byte, kind string) {
	data, _ := result["data_url"].(string)
	kind, image = decodeScreenshot(data)
	if image == nil {
		return nil, ""
	}
	delete(result, "data_url")
	if again, ok := result["screenshot_compaction"].(map[string]any); ok {
		delete(again, "dataUrl")
	}
	return image, kind
}

// decodeScreenshot reads a base64 data URL of an image; nil for anything else.
func decodeScreenshot(url string) (kind string, image []byte) {
	head, encoded, ok := strings.Cut(url, ";base64,")
	kind, isData := strings.CutPrefix(head, "data:")
	image, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || !isData || err != nil || !strings.HasPrefix(kind, "image/") || len(image) == 0 {
		return "", nil
	}
	return kind, image
}
