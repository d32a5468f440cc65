package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// State shows a state or a summary as tables.
func State(w io.Writer, output json.RawMessage) error {
	var r struct {
		Projection string          `json:"projection"`
		Hash       string          `json:"state_hash"`
		ObservedAt string          `json:"observed_at"`
		Name       string          `json:"summary_name"`
		Summary    json.RawMessage `json:"summary"`
		State      json.RawMessage `json:"state"`
	}
	if err := json.Unmarshal(output, &r); err != nil {
		return fmt.Errorf("reading the result: %w", err)
	}
	head, value := r.Projection, r.State
	if r.Name != "" {
		head, value = head+" · "+r.Name, r.Summary
	}
	fmt.Fprintf(w, "%s  %s  %s\n", head, r.ObservedAt, r.Hash)
	return Tables(w, value)
}

// Diff shows a difference, one line for each thing that changed.
func Diff(w io.Writer, output json.RawMessage) error {
	var r struct {
		Deltas []struct {
			Type   string `json:"type"`
			From   string `json:"from"`
			Path   string `json:"path"`
			Entity struct {
				Kind  string `json:"kind"`
				Title any    `json:"title"`
			} `json:"entity"`
			Value json.RawMessage `json:"value"`
			Patch struct {
				Value json.RawMessage `json:"value"`
			} `json:"patch"`
		} `json:"semantic_deltas"`
		Truncated bool `json:"truncated"`
	}
	if err := json.Unmarshal(output, &r); err != nil {
		return fmt.Errorf("reading the result: %w", err)
	}
	if r.Truncated {
		fmt.Fprintln(w, "the difference is too large to show")
		return nil
	}
	if len(r.Deltas) == 0 {
		fmt.Fprintln(w, "nothing changed")
		return nil
	}
	signs := map[string]string{"entity_added": "+", "entity_removed": "-", "entity_moved": ">", "field_replaced": "~"}
	rows := make([][]string, 0, len(r.Deltas))
	for _, d := range r.Deltas {
		sign, ok := signs[d.Type]
		if !ok {
			sign = "?"
		}
		path, what := d.Path, d.Entity.Kind
		if d.Entity.Title != nil {
			what += " " + fmt.Sprint(d.Entity.Title)
		}
		switch d.Type {
		case "entity_moved":
			path = d.From + " → " + d.Path
		case "entity_added":
			if v := decodeOrdered(d.Patch.Value); v != nil && !nested(v) {
				path += " = " + cell(v)
			}
		case "field_replaced":
			path += " = " + cell(decodeOrdered(d.Value))
			if d.Entity.Title == nil {
				what = "" // the path says the kind
			}
		}
		rows = append(rows, []string{sign, Printable(path), Shorten(Printable(what), MaxCell)})
	}
	Aligned(w, "", rows)
	return nil
}
