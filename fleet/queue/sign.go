package queue

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/outrider-run/outrider/fleet"
)

// Signed is what the signature of an outcome is over: the job, the outcome's
// verdict, and the digests of its result and files.
func Signed(job string, o fleet.Outcome) []byte {
	type file struct{ Name, SHA256 string }
	var files []file
	for _, name := range slices.Sorted(maps.Keys(o.Files)) {
		files = append(files, file{name, o.Files[name].SHA256})
	}
	digest := ""
	if o.ResultAt != nil {
		digest = o.ResultAt.SHA256
	}
	raw, err := json.Marshal(struct {
		Job    string
		OK     bool
		Result json.RawMessage
		Digest string
		Files  []file
	}{job, o.OK, o.Result, digest, files})
	if err != nil {
		return nil
	}
	return raw
}
