package inspect

import "slices"

// Rank orders marks by how clearly they show what an action did.
func (m Mark) Rank() int {
	switch {
	case m.Role == "dialog" || m.Role == "alertdialog":
		return 5
	case m.Role == "alert" || m.Role == "status" || m.Live:
		return 4
	case m.Level > 0:
		return 3
	case m.Role == "region" || m.Role == "tabpanel":
		return 2
	}
	return 1
}

// key tells marks of one page apart.
func (m Mark) key() string {
	id := m.Attributes["id"]
	if id == "" {
		id = m.Attributes["data-testid"]
	}
	if id != "" {
		return "#" + id
	}
	return m.Role + "\x00" + m.Tag + "\x00" + m.Name
}

// Appeared returns the marks that are new on a page or were empty before, the clearest first.
func Appeared(before, after Page) []Mark {
	had := texts(before)
	var out []Mark
	for _, m := range after.Marks {
		if text, there := had[m.key()]; !there || text == "" && m.Text != "" {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b Mark) int { return b.Rank() - a.Rank() })
	return out
}

// Reworded are the marks that say something else than before.
func Reworded(before, after Page) []Mark {
	had := texts(before)
	var out []Mark
	for _, m := range after.Marks {
		if text := had[m.key()]; text != "" && m.Text != "" && text != m.Text {
			out = append(out, m)
		}
	}
	return out
}

func texts(p Page) map[string]string {
	out := map[string]string{}
	for _, m := range p.Marks {
		out[m.key()] = m.Text
	}
	return out
}
