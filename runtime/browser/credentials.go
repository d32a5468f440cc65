package browser

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/route"
	"github.com/outrider-run/outrider/runtime/browser/truncate"
)

// Credentials are a name and a password for the servers of one origin (HTTP authentication).
type Credentials = route.Credentials

// signedIn takes a name and a password out of an address that is to be opened. The origin's
// servers get them when they ask; the document has an address without them, and so has
// whatever it leads to.
func (t *Tab) signedIn(ctx context.Context, raw string) (string, error) {
	withoutUser, name, password, has := address.Split(raw)
	origin := address.Origin(withoutUser)
	if !has || origin == "" || t.browser.offline != nil {
		return withoutUser, nil
	}
	return withoutUser, t.browser.authorize(ctx, t.context, Credentials{Origin: origin, Name: name, Password: password})
}

// SignIn has challenges of an origin answered in a browser context, "" for the one that tabs are opened in. What
// the browser was started with for that origin stays.
func (b *Browser) SignIn(ctx context.Context, contextID string, c Credentials) error {
	if b.offline != nil {
		return nil // nobody asks there
	}
	if slices.ContainsFunc(b.opts.HTTPCredentials, func(given Credentials) bool { return given.Origin == c.Origin }) {
		return nil
	}
	return b.authorize(ctx, cmp.Or(contextID, b.own), c)
}

// authorize has challenges of an origin answered in a browser context.
func (b *Browser) authorize(ctx context.Context, contextID string, c Credentials) error {
	own := b.ownContext(contextID)
	table := b.tableOf(own)
	if !table.Authorize(c) {
		return nil
	}
	return b.intercept(ctx, own, table)
}

// onAuthRequired answers a server that asks for a name and a password. It is the reader's.
func (t *Tab) onAuthRequired(s *cdp.Session, params []byte) {
	open, unanswered := t.browser.routesOf(t.context).HandleChallenge(t.browser.client, s, params)
	if unanswered {
		t.challenge.Store(&open)
	}
}

// explainChallenge says what a server wanted that refused a navigation.
func (t *Tab) explainChallenge(err error) error {
	f := fault.From(err)
	if err == nil || f.Code != fault.NavigationFailed ||
		f.Evidence["error_text"] != "net::ERR_INVALID_AUTH_CREDENTIALS" {
		return err
	}
	f.Message = "the server asks for a name and a password (401, HTTP authentication)"
	f.NextStep = "start with --http-credentials ORIGIN=NAME:SECRET and --secret SECRET=env:VARIABLE, or give the " +
		"plan http_credentials"
	asked := t.challenge.Load()
	if asked == nil {
		return f
	}
	if asked.Refused {
		f.Message = "the server refused the name and the password that it was given (401, HTTP authentication)"
		f.NextStep = "see that the name and the secret of --http-credentials are those of this origin"
	}
	scheme := strings.ToUpper(asked.Scheme[:min(1, len(asked.Scheme))]) + asked.Scheme[min(1, len(asked.Scheme)):]
	return f.With("status", 401).With("scheme", scheme).With("realm", truncate.Bytes(asked.Realm, 200))
}

// watchHead has the browser report the head of the answer to a navigation: of a server that
// wants a name and a password only that says which.
func (t *Tab) watchHead() {
	if t.traffic.Enabled() || t.heads.Swap(true) {
		return
	}
	t.browser.client.Post(cdp.Command{
		Session: t.TopSession().ID,
		Method:  "Network.enable",
		OnReply: func(cdp.Reply) {},
	})
}

// leaveHead ends it, unless the domain is needed for something else by now.
func (t *Tab) leaveHead() {
	if t.heads.Swap(false) && !t.traffic.Enabled() {
		t.browser.client.Post(cdp.Command{
			Session: t.TopSession().ID,
			Method:  "Network.disable",
			OnReply: func(cdp.Reply) {},
		})
	}
}

// onHead is the reader's.
func (t *Tab) onHead(method, params []byte) {
	switch string(method) {
	case "Network.responseReceived":
		t.leaveHead()
	case "Network.responseReceivedExtraInfo":
		if string(cdp.Member(params, "statusCode")) != "401" || t.challenge.Load() != nil {
			return
		}
		cdp.EachMember(cdp.Member(params, "headers"), func(name, value []byte) bool {
			line, ok := cdp.Unquote(value)
			if !ok || !strings.EqualFold(string(name), "www-authenticate") {
				return true
			}
			scheme, rest, _ := strings.Cut(string(line), " ")
			asked := &route.Challenge{Scheme: strings.ToLower(scheme)}
			if m := realm().FindStringSubmatch(rest); m != nil {
				asked.Realm = m[1] + m[2]
			}
			t.challenge.Store(asked)
			return false
		})
	}
}

var realm = lazyregexp.New(`(?i)realm=(?:"([^"]*)"|([^\s,]+))`)
