package expr

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// The host and a worker speak in frames over the worker's stdin and stdout:
// two big-endian lengths, a JSON head, and a body of JSON text. One request is
// answered by one reply; the worker's first frame is a greeting without a
// request.

const (
	opCompile = "compile"
	opEval    = "eval"

	kindReady     = "ready"
	kindValue     = "value"
	kindUndefined = "undefined"
	kindTooLarge  = "too_large"
	kindForbidden = "forbidden"
	kindError     = "error"
)

type request struct {
	Op     string `json:"op"`
	Source string `json:"source"`
	Output int    `json:"output,omitempty"` // byte limit of the value
	// Millis is when the worker gives up by itself, should the host be unable
	// to end it.
	Millis int64 `json:"millis,omitempty"`
}

type reply struct {
	Kind        string `json:"kind"`
	JSONataCode string `json:"jsonata_code,omitempty"`
	Position    int    `json:"position"`
	Token       string `json:"token,omitempty"`
	Message     string `json:"message,omitempty"`
}

const (
	maxFrameHead = 1 << 20
	maxFrameBody = 256 << 20
)

func writeFrame(w io.Writer, head any, body []byte) error {
	h, err := json.Marshal(head)
	if err != nil {
		return err
	}
	b := make([]byte, 8, 8+len(h)+len(body))
	binary.BigEndian.PutUint32(b, uint32(len(h)))
	binary.BigEndian.PutUint32(b[4:], uint32(len(body)))
	b = append(append(b, h...), body...)
	_, err = w.Write(b)
	return err
}

func readFrame(r io.Reader, head any) (body []byte, err error) {
	var lengths [8]byte
	if _, err := io.ReadFull(r, lengths[:]); err != nil {
		return nil, err
	}
	n, m := binary.BigEndian.Uint32(lengths[:]), binary.BigEndian.Uint32(lengths[4:])
	if n > maxFrameHead || m > maxFrameBody {
		return nil, fmt.Errorf("frame of %d and %d bytes is too large", n, m)
	}
	h := make([]byte, n)
	if _, err := io.ReadFull(r, h); err != nil {
		return nil, err
	}
	body = make([]byte, m)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	return body, json.Unmarshal(h, head)
}
