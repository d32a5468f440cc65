package page

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/go-rod/rod/lib/proto"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/truncate"
)

// PDF implements primitives.FilePage.
func (p *Page) PDF(ctx context.Context, o primitives.PDFOptions) ([]byte, error) {
	if err := p.admitAll(ctx); err != nil {
		return nil, err
	}
	data, err := p.pdf(ctx, o)
	if err == nil { // it shows what was there when it was printed
		err = p.admitAll(ctx)
	}
	return data, err
}

func (p *Page) pdf(ctx context.Context, o primitives.PDFOptions) ([]byte, error) {
	req := proto.PagePrintToPDF{
		Landscape:               o.Landscape,
		PrintBackground:         o.Background,
		PreferCSSPageSize:       o.PreferCSSPageSize,
		PageRanges:              o.Ranges,
		DisplayHeaderFooter:     o.Header != "" || o.Footer != "",
		HeaderTemplate:          o.Header,
		FooterTemplate:          o.Footer,
		GenerateDocumentOutline: o.Outline,
		GenerateTaggedPDF:       true,
	}
	if req.DisplayHeaderFooter { // an empty template is the browser's own
		if req.HeaderTemplate == "" {
			req.HeaderTemplate = "<span></span>"
		}
		if req.FooterTemplate == "" {
			req.FooterTemplate = "<span></span>"
		}
	}
	for _, f := range []struct {
		to   **float64
		from float64
	}{{&req.Scale, o.Scale}, {&req.PaperWidth, o.Width}, {&req.PaperHeight, o.Height}} {
		if f.from > 0 {
			*f.to = &f.from
		}
	}
	if m := o.Margins; m != nil {
		req.MarginTop = &m.Top
		req.MarginRight = &m.Right
		req.MarginBottom = &m.Bottom
		req.MarginLeft = &m.Left
	}
	at, err := p.resolveFrame(ctx, "")
	if err != nil {
		return nil, cdp.Explain(err, "printing the page")
	}
	var out struct {
		Data string `json:"data"`
	}
	if err := p.doPage(ctx, at, req.ProtoReq(), req, &out); err != nil {
		if text, refused := cdp.Message(err); refused {
			if strings.Contains(text, "already being printed") {
				return nil, fault.New(fault.CapabilityUnavailable, "the page has its print dialog open").
					With("capability", "page.pdf").
					Next("close the dialog in the browser's window, or load the page again")
			}
			return nil, &fault.Error{Code: fault.InvalidArguments, Message: "the browser does not print this", Err: err,
				Evidence: map[string]any{"reason": truncate.Bytes(text, 200)}}
		}
		return nil, cdp.Explain(err, "printing the page")
	}
	data, err := base64.StdEncoding.DecodeString(out.Data)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "decoding a document")
	}
	return data, nil
}
