// Package view shows the tab of a host to a person in another browser, and does there what the person does: pointer,
// keys, text, answers to dialogs. It records nothing and decides nothing about the page. The verb record serves it
// where there is no display.
package view

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

// Host is what the page is open in: a runtime.Host.
type Host interface {
	Do(ctx context.Context, call runtime.Call) runtime.Reply
	Visit(ctx context.Context, on runtime.Target, f func(context.Context, primitives.Page) error) error
}

//go:embed view.html
var document string

const (
	// pollTime is how long a request waits for another picture.
	pollTime = time.Second
	// inputTime bounds what one input may take.
	inputTime = 10 * time.Second
	// maxInput bounds the body of an input, in bytes.
	maxInput = 256 << 10
)

// View is the newest picture of a host, and the way to its page. It is safe for concurrent use.
type View struct {
	key string

	mu      sync.Mutex
	host    Host
	tab     string // runtime id of the tab in the picture
	picture browser.ScreencastFrame
	number  int
	dialog  *primitives.Dialog
	changed chan struct{} // closed with the next picture
}

// New makes a view without a picture.
func New() *View { return &View{key: rand.Text(), changed: make(chan struct{})} }

// Picture takes a picture of a tab. It waits for nothing.
func (v *View) Picture(tab string, f browser.ScreencastFrame) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tab, v.picture = tab, f
	v.wake()
}

// Dialog takes the dialog that is open, nil for none.
func (v *View) Dialog(d *primitives.Dialog) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dialog = d
	v.wake()
}

func (v *View) wake() {
	v.number++
	close(v.changed)
	v.changed = make(chan struct{})
}

// Serve serves the view at HOST:PORT of this machine until stop. Who knows the address that
// it returns sees the page and acts on it: a part of it cannot be guessed.
func (v *View) Serve(address string, h Host) (at string, stop func(), err error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return "", nil, fmt.Errorf("%q is no HOST:PORT", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", nil, fmt.Errorf(
			"%q is not this machine: expected 127.0.0.1, ::1 or localhost; forward the port to see it from elsewhere",
			address,
		)
	}
	v.mu.Lock()
	v.host = h
	v.mu.Unlock()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /"+v.key+"/{$}", v.page)
	mux.HandleFunc("GET /"+v.key+"/picture", v.pictures)
	mux.HandleFunc("POST /"+v.key+"/input", v.input)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			_ = listener.Close()
		}
	})
	return "http://" + listener.Addr().String() + "/" + v.key + "/", func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*pollTime)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		serving.Wait()
	}, nil
}

func (v *View) page(w http.ResponseWriter, _ *http.Request) {
	nonce := rand.Text()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src blob:; connect-src 'self'; "+
		"style-src 'unsafe-inline'; script-src 'nonce-"+nonce+"'; frame-ancestors 'none'")
	w.Header().Set("Referrer-Policy", "no-referrer")
	_, _ = fmt.Fprint(w, strings.Replace(document, "<script>", `<script nonce="`+nonce+`">`, 1))
}

// pictures answers the newest picture when it is another than the one that is known.
func (v *View) pictures(w http.ResponseWriter, r *http.Request) {
	known, _ := strconv.Atoi(r.URL.Query().Get("after")) // 0 without one
	late := time.NewTimer(pollTime)
	defer late.Stop()
	v.mu.Lock()
	for waiting := true; waiting && v.number <= known; {
		changed := v.changed
		v.mu.Unlock()
		select {
		case <-changed:
		case <-late.C:
			waiting = false
		case <-r.Context().Done():
			waiting = false
		}
		v.mu.Lock()
	}
	f := v.picture
	number := v.number
	dialog := v.dialog
	v.mu.Unlock()
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Number", strconv.Itoa(number))
	w.Header().Set("X-Size", strconv.Itoa(f.Width)+"x"+strconv.Itoa(f.Height))
	if dialog != nil {
		text, err := json.Marshal(map[string]string{
			"type":    dialog.Type,
			"message": dialog.Message,
			"default": dialog.DefaultPrompt,
		})
		if err == nil {
			w.Header().Set("X-Dialog", base64.StdEncoding.EncodeToString(text))
		}
	}
	data, err := base64.StdEncoding.DecodeString(string(f.Data))
	if err != nil || len(data) == 0 || number <= known {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_, _ = w.Write(data)
}

// input is one thing that a person did in the view.
type input struct {
	Type      string               `json:"type"`
	X         float64              `json:"x"`
	Y         float64              `json:"y"`
	DX        float64              `json:"dx"`
	DY        float64              `json:"dy"`
	Button    string               `json:"button"`
	Buttons   int                  `json:"buttons"`
	Clicks    int                  `json:"clicks"`
	Modifiers primitives.Modifiers `json:"modifiers"`
	Key       string               `json:"key"`
	Code      string               `json:"code"`
	KeyCode   int                  `json:"key_code"`
	Location  int                  `json:"location"`
	Text      string               `json:"text"`
	Accept    bool                 `json:"accept"`
}

func (v *View) input(w http.ResponseWriter, r *http.Request) {
	var in []input
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxInput)).Decode(&in); err != nil {
		http.Error(w, "expected a list of inputs", http.StatusBadRequest)
		return
	}
	v.mu.Lock()
	h, on := v.host, runtime.Target{RuntimeID: v.tab}
	v.mu.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), inputTime)
	defer cancel()
	for _, i := range in {
		if err := i.send(ctx, h, on); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

var pointer = map[string]primitives.MouseType{
	"move":  primitives.MouseMoved,
	"down":  primitives.MousePressed,
	"up":    primitives.MouseReleased,
	"wheel": primitives.MouseWheel,
}

func (i input) send(ctx context.Context, h Host, on runtime.Target) error {
	if i.Type == "dialog" {
		arguments, err := json.Marshal(map[string]any{"accept": i.Accept, "prompt_text": i.Text})
		if err != nil {
			return err
		}
		if reply := h.Do(ctx, runtime.Call{
			ID:        rand.Text(),
			Target:    on,
			Name:      "browser.dismiss_dialog",
			Arguments: arguments,
		}); reply.Err != nil {
			return reply.Err
		}
		return nil
	}
	return h.Visit(ctx, on, func(ctx context.Context, p primitives.Page) error {
		switch i.Type {
		case "text":
			return p.InsertText(ctx, i.Text)
		case "key_down", "key_up":
			e := primitives.KeyEvent{
				Type:      primitives.KeyUp,
				Key:       i.Key,
				Code:      i.Code,
				KeyCode:   i.KeyCode,
				Modifiers: i.Modifiers,
				Location:  i.Location,
			}
			if i.Type == "key_down" {
				e.Type, e.Text = primitives.RawKeyDown, i.typed()
				if e.Text != "" {
					e.Type = primitives.KeyDown
				}
			}
			return p.Keys(ctx, e)
		}
		kind, ok := pointer[i.Type]
		if !ok {
			return errors.New("there is no such input")
		}
		return p.Mouse(ctx, primitives.MouseEvent{
			Type:       kind,
			X:          i.X,
			Y:          i.Y,
			Button:     i.Button,
			Buttons:    i.Buttons,
			ClickCount: i.Clicks,
			Modifiers:  i.Modifiers,
			DeltaX:     i.DX,
			DeltaY:     i.DY,
		})
	})
}

// typed is the text that a key gives.
func (i input) typed() string {
	switch {
	case i.Modifiers&(primitives.ModControl|primitives.ModMeta|primitives.ModAlt) != 0:
		return ""
	case i.Key == "Enter":
		return "\r"
	case len([]rune(i.Key)) == 1:
		return i.Key
	}
	return ""
}
