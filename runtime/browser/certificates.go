package browser

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// certificateCommands make a session ask us about certificates that are not valid. There
// are none when no origin is trusted: then the browser decides, and refuses.
func (b *Browser) certificateCommands(session string) []cdp.Command {
	if b.insecure == nil {
		return nil
	}
	return []cdp.Command{
		{Session: session, Method: "Security.enable"},
		{Session: session, Method: "Security.setOverrideCertificateErrors", Params: []byte(`{"override":true}`)},
	}
}

// onCertificateError answers for one request. What is not answered would wait for ever.
func (b *Browser) onCertificateError(session string, params []byte) {
	var e struct {
		ID    int    `json:"eventId"`
		Error string `json:"errorType"`
		URL   string `json:"requestURL"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	action := "cancel"
	if b.insecure.Trusts(e.URL) {
		action = "continue"
	} else if a := b.sessions[session]; a != nil {
		a.tab.CertificateRefused("net::" + strings.TrimPrefix(e.Error, "net::"))
	}
	b.client.Post(cdp.Command{
		Session: session, Method: "Security.handleCertificateError",
		Params: []byte(`{"eventId":` + strconv.Itoa(e.ID) + `,"action":"` + action + `"}`),
	})
}
