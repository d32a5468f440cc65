package providerkit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
)

// answer is one answer of the provider.
type answer struct {
	ProtocolVersion string          `json:"protocol_version"`
	ID              json.RawMessage `json:"id"`
	OK              *bool           `json:"ok"`
	Result          map[string]any  `json:"result"`
	Warnings        []any           `json:"warnings"`
	Error           *struct {
		Code      string         `json:"code"`
		Message   string         `json:"message"`
		Retryable *bool          `json:"retryable"`
		Details   map[string]any `json:"details"`
	} `json:"error"`
	Event string `json:"event"`
}

var errEnded = errors.New("the provider ended")

// peer talks to the provider and counts its messages.
type peer struct {
	out     io.Writer
	reading sync.WaitGroup
	ended   chan struct{}

	mu       sync.Mutex
	next     int
	waiting  map[string]chan answer
	answered map[string]int
	nobody   chan answer // answers with a null id
	wrong    []string    // what no provider may say
	events   int
}

func newPeer(in io.Reader, out io.Writer) *peer {
	p := &peer{
		out:      out,
		ended:    make(chan struct{}),
		waiting:  map[string]chan answer{},
		answered: map[string]int{},
		nobody:   make(chan answer, 64),
	}
	p.reading.Go(func() { p.read(in) })
	return p
}

func (p *peer) read(in io.Reader) {
	defer close(p.ended)
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 1 {
			p.take(line)
		}
		if err != nil {
			return
		}
	}
}

func (p *peer) take(line []byte) {
	var a answer
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := json.Unmarshal(line, &a); err != nil {
		p.wrong = append(p.wrong, "a line is not an object of the protocol")
		return
	}
	if a.Event != "" {
		p.events++
		return
	}
	var id string
	if string(a.ID) == "null" || len(a.ID) == 0 {
		select {
		case p.nobody <- a:
		default:
		}
		return
	}
	if json.Unmarshal(a.ID, &id) != nil {
		p.wrong = append(p.wrong, "the id of an answer is not a string")
		return
	}
	p.answered[id]++
	if p.answered[id] > 1 {
		p.wrong = append(p.wrong, "request "+id+" was answered more than once")
		return
	}
	ch, ok := p.waiting[id]
	if !ok {
		p.wrong = append(p.wrong, "an answer has the id of no request")
		return
	}
	delete(p.waiting, id)
	ch <- a
}

// mistakes are those of all answers since the last call.
func (p *peer) mistakes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.wrong
	p.wrong = nil
	return out
}

// send sends a request and returns where its answer comes.
func (p *peer) send(method string, params any) (id string, came <-chan answer, err error) {
	p.mu.Lock()
	p.next++
	id = "req_" + strconv.Itoa(p.next)
	ch := make(chan answer, 1)
	p.waiting[id] = ch
	p.mu.Unlock()
	line, err := json.Marshal(map[string]any{"protocol_version": "0.1", "id": id, "method": method, "params": params})
	if err != nil {
		return id, ch, err
	}
	return id, ch, p.raw(string(line))
}

// raw sends one line as it is.
func (p *peer) raw(line string) error {
	_, err := io.WriteString(p.out, line+"\n")
	return err
}

// ask sends a request and waits for its answer.
func (p *peer) ask(ctx context.Context, limit time.Duration, method string, params any) (answer, error) {
	_, came, err := p.send(method, params)
	if err != nil {
		return answer{}, fmt.Errorf("sending %s: %w", method, err)
	}
	return p.await(ctx, limit, method, came)
}

func (p *peer) await(ctx context.Context, limit time.Duration, method string, came <-chan answer) (answer, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a := <-came:
		return a, nil
	case <-timer.C:
		return answer{}, fmt.Errorf("%s was not answered within %s", method, limit)
	case <-p.ended:
		select {
		case a := <-came:
			return a, nil
		default:
			return answer{}, fmt.Errorf("%s: %w", method, errEnded)
		}
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
}
