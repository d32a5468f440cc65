package plain

import (
	"encoding/json"
	"os"
	"testing"
)

// TestWhatIsHiddenIsWrittenOut reads a table.
func TestWhatIsHiddenIsWrittenOut(t *testing.T) {
	data, err := os.ReadFile("../../testdata/bridge/hidden.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ What, Text, Shown string }
	if err := json.Unmarshal(data, &rows); err != nil || len(rows) == 0 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	for _, row := range rows {
		if got := Text(row.Text); got != row.Shown {
			t.Errorf("%s: %q, expected %q", row.What, got, row.Shown)
		}
		encoded, err := json.Marshal(row.Text)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal([]byte(Text(string(encoded))), &back); err != nil || back != row.Text {
			t.Errorf("%s: as JSON it reads %q, %v", row.What, back, err)
		}
	}
	if got := Line("a\nb\r\nc\x1b"); got != `a b c\u001b` {
		t.Errorf("on one line: %q", got)
	}
}
