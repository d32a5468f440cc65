package page

import (
	"context"
	"encoding/base64"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type pagePDFIn struct {
	Format            string                 `json:"format"`
	Width             float64                `json:"width_inches"`
	Height            float64                `json:"height_inches"`
	Landscape         bool                   `json:"landscape"`
	Background        *bool                  `json:"background"`
	Scale             float64                `json:"scale"`
	Margins           *primitives.PDFMargins `json:"margins_inches"`
	Pages             string                 `json:"pages"`
	PreferCSSPageSize bool                   `json:"prefer_css_page_size"`
	Header            string                 `json:"header_template"`
	Footer            string                 `json:"footer_template"`
	Outline           bool                   `json:"outline"`
	File              string                 `json:"file"`
	MaxBytes          int                    `json:"max_bytes"`
}

type pagePDFOut struct {
	MimeType string `json:"mime_type"`
	Bytes    int    `json:"bytes"`
	Base64   string `json:"base64,omitempty"`
	Path     string `json:"path,omitempty"`
}

// paper is width and height in inches, upright.
var paper = map[string][2]float64{
	"Letter": {8.5, 11}, "Legal": {8.5, 14}, "Tabloid": {11, 17},
	"A3": {11.7, 16.54}, "A4": {8.27, 11.7}, "A5": {5.83, 8.27},
}

const defaultPDF = 5 << 20

// pagePDF prints the page as it would go to a printer.
var pagePDF = primitives.Define("page.pdf", func(
	ctx context.Context, p primitives.Page, in pagePDFIn,
) (pagePDFOut, error) {
	opts := primitives.PDFOptions{
		Landscape:         in.Landscape,
		Background:        in.Background == nil || *in.Background,
		PreferCSSPageSize: in.PreferCSSPageSize,
		Scale:             in.Scale,
		Width:             in.Width,
		Height:            in.Height,
		Margins:           in.Margins,
		Ranges:            in.Pages,
		Header:            in.Header,
		Footer:            in.Footer,
		Outline:           in.Outline,
	}
	if in.Format != "" {
		if in.Width > 0 || in.Height > 0 {
			return pagePDFOut{}, fault.New(fault.InvalidArguments, "format and a size exclude each other")
		}
		opts.Width, opts.Height = paper[in.Format][0], paper[in.Format][1]
	}
	data, err := p.PDF(ctx, opts)
	if err != nil {
		return pagePDFOut{}, err
	}
	out := pagePDFOut{MimeType: "application/pdf", Bytes: len(data)}
	if in.File != "" {
		out.Path, err = p.SaveFile(in.File, data)
		return out, err
	}
	limit := in.MaxBytes
	if limit == 0 {
		limit = defaultPDF
	}
	if len(data) > limit {
		return pagePDFOut{}, fault.New(fault.PayloadTooLarge, "the document is larger than max_bytes").
			With("bytes", len(data)).With("max_bytes", limit).
			Next("name a file for the download folder, or print fewer pages")
	}
	out.Base64 = base64.StdEncoding.EncodeToString(data)
	return out, nil
})
