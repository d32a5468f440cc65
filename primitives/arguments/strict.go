package arguments

import (
	"bytes"
	"encoding/json"
	"errors"
)

func DecodeStrict(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if len(bytes.Trim(raw[d.InputOffset():], " \t\r\n")) > 0 {
		return errors.New("text after the arguments")
	}
	return nil
}
