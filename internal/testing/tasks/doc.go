// Package tasks has what the examples of other Go libraries do, written with ours: those of rod's comparison with
// chromedp, of chromedp's API.md and of playwright-go. Its tests run them on pages of this machine, and count
// their lines beside those of the others in docs/lines.md. Nothing calls it.
package tasks
