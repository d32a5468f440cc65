package replay_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/outrider-run/outrider/evidence/replay"
	"github.com/outrider-run/outrider/runtime"
)

// Which of two frames asks for the same address first is chance: each gets the answer that it had.
func TestALateFrameDoesNotTakeTheAnswerOfItsPage(t *testing.T) {
	t.Parallel()
	var (
		mu    sync.Mutex
		notes = []string{}
	)
	asked := make(chan struct{})
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("testdata")))
	mux.HandleFunc("/part", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/frame-was-here", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-asked:
			_, _ = io.WriteString(w, "true")
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("POST /notes", func(w http.ResponseWriter, r *http.Request) {
		note, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, string(note))
		_, _ = io.WriteString(w, "true")
	})
	mux.HandleFunc("GET /notes", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_ = json.NewEncoder(w).Encode(notes)
		if strings.HasSuffix(r.Referer(), "late_frame_notes.html") {
			close(asked)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	path := recording(t, server.URL+"/late_frame.html", []runtime.Call{
		{Name: "pointer.click", Arguments: json.RawMessage(`{"locator":{"role":"button","name":"Add"}}`)},
		{
			Name:      "locator.wait_for",
			Arguments: json.RawMessage(`{"locator":{"selector":"li","text_equals":"Cat"},"timeout_ms":25000}`),
		},
		{
			Name:      "locator.wait_for",
			Arguments: json.RawMessage(`{"locator":{"text":"Notes:","frame":"iframe"},"timeout_ms":25000}`),
		},
	})
	if r := play(t, path, func(o *replay.Options) {
		o.Offline = true
	}); r.Verdict != replay.Reproduced || len(r.Calls) != 3 || !r.Calls[1].Is.OK || !r.Calls[2].Is.OK {
		t.Errorf("%s", text(t, r))
	}
}
