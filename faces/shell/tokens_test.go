package shell

import (
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

// Every agent pays for what it reads first.
func TestSkillIsShort(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	ids, _, err := codec.Encode(Skill)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tokens", len(ids))
	if len(ids) > 700 {
		t.Errorf("the skill has %d tokens, at most 700 are wanted", len(ids))
	}
}
