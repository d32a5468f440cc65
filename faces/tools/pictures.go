package tools

import (
	"encoding/base64"
	"strings"
	"sync"
)

// maxPictures bounds the pictures that are kept.
const maxPictures = 20

// pictures are the last pictures taken.
type pictures struct {
	mu   sync.Mutex
	ids  []string
	byID map[string]picture
}

type picture struct {
	data []byte
	kind string
}

// pictureURI begins the names of pictures.
const pictureURI = "outrider://screenshots/"

// keepPicture remembers a picture and returns the URI it is read by.
func (s *Set) keepPicture(data []byte, kind string) string {
	id := s.opts.NewID()
	ps := &s.pictures
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.byID == nil {
		ps.byID = map[string]picture{}
	}
	ps.byID[id] = picture{data, kind}
	ps.ids = append(ps.ids, id)
	if len(ps.ids) > maxPictures {
		delete(ps.byID, ps.ids[0])
		ps.ids = ps.ids[1:]
	}
	return pictureURI + id
}

// Picture is a picture that was taken lately, by its URI, with its MIME type.
func (s *Set) Picture(uri string) (data []byte, kind string, ok bool) {
	s.pictures.mu.Lock()
	defer s.pictures.mu.Unlock()
	p, ok := s.pictures.byID[strings.TrimPrefix(uri, pictureURI)]
	return p.data, p.kind, ok
}

// TakePicture takes the picture of a screenshot out of its result: a model reads
// pictures as content, not as base64 text. The upstream extension says it a
// second time in screenshot_compaction.
func TakePicture(result map[string]any) (image []byte, kind string) {
	data, _ := result["data_url"].(string)
	kind, image = decodePicture(data)
	if image == nil {
		return nil, ""
	}
	delete(result, "data_url")
	if again, ok := result["screenshot_compaction"].(map[string]any); ok {
		delete(again, "dataUrl")
	}
	return image, kind
}

// decodePicture reads a base64 data URL of an image; nil for anything else.
func decodePicture(url string) (kind string, image []byte) {
	head, encoded, ok := strings.Cut(url, ";base64,")
	kind, isData := strings.CutPrefix(head, "data:")
	image, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || !isData || err != nil || !strings.HasPrefix(kind, "image/") || len(image) == 0 {
		return "", nil
	}
	return kind, image
}
