package report

import (
	"encoding/json"
	"slices"

	"github.com/outrider-run/outrider/internal/mask"
)

// Masked is the run with its texts masked: what pages, maps and plans say. Outcomes, kinds,
// times and numbers stay, so that each format is what its readers expect, whatever word or
// number a secret is. So do paths of files, which a secret that is a word may be in by chance.
func (r Run) Masked(m *mask.Set) Run {
	r.Title = m.Mask(r.Title)
	r.Suites = slices.Clone(r.Suites)
	for i := range r.Suites {
		r.Suites[i] = r.Suites[i].masked(m)
	}
	if r.Result != nil {
		if raw, err := json.Marshal(r.Result); err == nil { // else the format says why
			r.Result = m.MaskStrings(raw)
		}
	}
	return r
}

func (s Suite) masked(m *mask.Set) Suite {
	s.Name = m.Mask(s.Name)
	s.URL = m.Mask(s.URL)
	s.File = m.MaskLong(s.File)
	s.Tests = slices.Clone(s.Tests)
	for i := range s.Tests {
		s.Tests[i] = s.Tests[i].masked(m)
	}
	return s
}

func (t Test) masked(m *mask.Set) Test {
	t.Name = m.Mask(t.Name)
	t.ID = m.Mask(t.ID)
	t.Description = m.Mask(t.Description)
	t.Message = m.Mask(t.Message)
	t.URL = m.Mask(t.URL)
	t.Place, t.PictureFile = t.Place.masked(m), m.MaskLong(t.PictureFile)
	t.Failures, t.Steps = slices.Clone(t.Failures), slices.Clone(t.Steps)
	for i := range t.Failures {
		f := &t.Failures[i]
		f.Message = m.Mask(f.Message)
		f.Expected = m.Mask(f.Expected)
		f.Found = m.Mask(f.Found)
		f.Place = f.Place.masked(m)
	}
	for i := range t.Steps {
		t.Steps[i] = t.Steps[i].masked(m)
	}
	t.Repairs, t.Texts = maskedTexts(t.Repairs, m), maskedTexts(t.Texts, m)
	return t
}

func (p Place) masked(m *mask.Set) Place {
	p.File = m.MaskLong(p.File)
	p.Pointer = m.Mask(p.Pointer)
	p.Lines = slices.Clone(p.Lines)
	for i := range p.Lines {
		p.Lines[i].Text = m.Mask(p.Lines[i].Text)
	}
	return p
}

func maskedTexts(texts []Text, m *mask.Set) []Text {
	texts = slices.Clone(texts)
	for i := range texts {
		texts[i].Body = m.Mask(texts[i].Body)
	}
	return texts
}
