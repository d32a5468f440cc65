package browserbridge

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Obstacle says that something stands between the agent and the page
// ("Obstacle detection"). High confidence is terminal for the agent's plan, so
// the classifier would rather miss one than cry wolf.
type Obstacle struct {
	Type       string `json:"type"`       // auth_wall, captcha, access_denied
	Confidence string `json:"confidence"` // low, high
	Message    string `json:"message"`
}

// Sighting is the input of the classifier.
type Sighting struct {
	URL          string
	Title        string
	Markdown     string
	Elements     []Element
	CaptchaFrame bool // a frame of a known CAPTCHA service is there
}

// scanned is how much of the Markdown is classified, in characters: obstacles
// are above the fold.
const scanned = 4000

// shortPage is the length of Markdown below which one sign of a log-in is worth
// a word.
const shortPage = 400

// DetectObstacle classifies what was seen, nil for nothing. It is a pure
// function; the first layer that fires decides.
func DetectObstacle(s Sighting) *Obstacle {
	s.URL, s.Title = strings.ToLower(s.URL), strings.ToLower(s.Title)
	length := len([]rune(s.Markdown))
	s.Markdown = strings.ToLower(firstRunes(s.Markdown, scanned))
	a := parseAddress(s.URL)
	if o := captcha(s, a); o != nil {
		return o
	}
	if o := denied(s, a, length); o != nil {
		return o
	}
	return authWall(s, a, length)
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// address is the parts of a URL that the layers match, lower case.
type address struct {
	host     string
	path     string
	segments []string
}

func parseAddress(raw string) address {
	_, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return address{}
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	if i := strings.LastIndex(host, "@"); i >= 0 {
		host = host[i+1:]
	}
	if i := strings.LastIndex(host, ":"); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	return address{host, "/" + path, strings.FieldsFunc(path, func(r rune) bool { return r == '/' })}
}

// under reports whether host is name or a subdomain of it.
func under(host, name string) bool {
	return host == name || strings.HasSuffix(host, "."+name)
}

func (a address) segment(pattern *regexp.Regexp) bool {
	return slices.ContainsFunc(a.segments, pattern.MatchString)
}

// lazily compiles an expression when it is first needed: all of them cost what a process
// takes to start.
func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Layer 1: a CAPTCHA. The name of a service counts as a host or as a whole
// segment of the path, not inside a word: a page about recaptcha is none.
var (
	captchaSegment = lazily(`^(captcha|hcaptcha|recaptcha)(\.[a-z]+)?$`)
	captchaHosts   = []string{"challenges.cloudflare.com", "hcaptcha.com", "recaptcha.net"}
	captchaPhrases = []string{
		"verify you are human", "verify that you are human", "verifying you are human",
		"i'm not a robot", "i’m not a robot", "are you a robot",
		"complete the security check", "checking your browser before", "press and hold",
		"press & hold", "unusual traffic from your computer", "solve the captcha",
	}
)

// phrasePage is the longest page, in characters, on which the words of a
// challenge are taken for one: an article that quotes them is longer.
const phrasePage = 2000

func captcha(s Sighting, a address) *Obstacle {
	found := func(what string) *Obstacle {
		return &Obstacle{"captcha", "high", "the page asks for a proof that a person is there: " + what}
	}
	if s.CaptchaFrame {
		return found("a CAPTCHA frame")
	}
	for _, h := range captchaHosts {
		if under(a.host, h) {
			return found("its address")
		}
	}
	if strings.HasPrefix(a.path, "/cdn-cgi/challenge") ||
		a.segment(captchaSegment()) && len(a.segments) <= 2 && len([]rune(s.Markdown)) < shortPage {
		return found("its address")
	}
	if len([]rune(s.Markdown)) < phrasePage {
		for _, p := range captchaPhrases {
			if strings.Contains(s.Markdown, p) {
				return found("its words")
			}
		}
	}
	return nil
}

// Layer 2: the server refuses.
var (
	deniedTitle = lazily(`^(error )?(403|429)\b|\b(403|429)( -)? (forbidden|too many ` +
		`requests|error)\b|\b(forbidden|access denied|too many requests|rate limit(ed| exceeded)?|request ` +
		`blocked)$|^(forbidden|access denied|access to this page has been denied|too many requests|rate limit(ed| ` +
		`exceeded)?|request blocked)\b`)
	deniedSegment = lazily(`^(403|forbidden|access-denied|access_denied|blocked)(\.[a-z]+)?$`)
	deniedText    = lazily(`\b(403 forbidden|error 403|403 error|http 403|access denied|access to this page has been ` +
		`denied|you don't have permission to access|you don’t have permission to access|429 too many requests|too ` +
		`many requests|rate limit exceeded|you have been rate limited|request blocked|your (request|access|ip( ` +
		`address)?) has been blocked|you have been blocked)\b`)
)

const (
	deniedPage = 2000 // characters; a longer page has a content of its own
	deniedHead = 400  // how far into it the words count
)

func denied(s Sighting, a address, length int) *Obstacle {
	found := func(what string) *Obstacle {
		return &Obstacle{"access_denied", "high", "the site refuses access: " + what}
	}
	short := length < deniedPage
	switch {
	case short && deniedTitle().MatchString(strings.TrimSpace(s.Title)):
		return found("its title")
	case short && len(a.segments) > 0 && deniedSegment().MatchString(a.segments[len(a.segments)-1]):
		return found("its address")
	case short && deniedText().MatchString(firstRunes(s.Markdown, deniedHead)):
		return found("its words")
	}
	return nil
}

// Layers 3 and 4: a log-in wall.
var (
	passwordName = lazily(`(?i)\b(password|passcode|pwd)\b`)
	authSegment  = lazily(`^(login|log-in|signin|sign-in|sso|auth|oauth|oauth2|authorize)(\.[a-z]+)?$`)
	authHosts    = []string{"accounts.google.com", "login.microsoftonline.com", "okta.com", "auth0.com"}
	authTitle    = lazily(`\b(sign in|log in|login)\b`)
	signInButton = lazily(`^(sign in|log in|login|signin)$`)
	provider     = `(google|apple|facebook|github|microsoft|twitter|x|linkedin|sso|okta|gitlab|amazon|discord|slack)`
	oauthButton  = lazily(`^(continue|sign in|log in|sign up|login) with ` + provider + `\b`)
	signUpLink   = lazily(`^(sign up|create (an )?account|create (a )?new account|register|join now|sign up now)$`)
	forgotLink   = lazily(`\b(forgot|reset|forgotten|lost)( your)? (password|passcode)\b|^forgot\?$`)
)

func authWall(s Sighting, a address, length int) *Obstacle {
	signals := map[string]bool{}
	for _, e := range s.Elements {
		name := strings.Join(strings.Fields(strings.ToLower(e.Name)), " ")
		switch e.Role {
		case "textbox", "searchbox":
			if passwordName().MatchString(e.Name) {
				signals["a password field"] = true
			}
		case "button", "link":
			switch {
			case oauthButton().MatchString(name):
				signals["a provider's log-in"] = true
			case e.Role == "button" && signInButton().MatchString(name):
				signals["a sign-in button"] = true
			case e.Role == "link" && signUpLink().MatchString(name):
				signals["a sign-up link"] = true
			case forgotLink().MatchString(name):
				signals["a link for a forgotten password"] = true
			}
		}
	}
	authURL := len(a.segments) <= 4 && a.segment(authSegment())
	for _, h := range authHosts {
		authURL = authURL || under(a.host, h)
	}
	if authURL {
		signals["its address"] = true
	}
	if authTitle().MatchString(s.Title) {
		signals["its title"] = true
	}
	wall := func(confidence string) *Obstacle {
		return &Obstacle{"auth_wall", confidence, "the page asks to log in: " + sorted(signals)}
	}
	switch {
	case signals["a password field"] && (signals["its address"] || signals["its title"]):
		return wall("high")
	case len(signals) >= 2 && !ordinary(signals, length):
		return wall("high")
	case len(signals) == 1 && length < shortPage:
		return wall("low")
	}
	return nil
}

// ordinary: the button and the link of a navigation bar ("Sign in", "Sign up")
// above a content of its own are no wall, also at an address such as
// /docs/oauth. The protocol's text counts any two signals; these would condemn
// every shop and every newspaper, so on a page that is not short they need
// another one: a password field, a provider's button, the title or the link for
// a forgotten password.
func ordinary(signals map[string]bool, length int) bool {
	if length < shortPage {
		return false
	}
	for s := range signals {
		if s != "a sign-in button" && s != "a sign-up link" && s != "its address" {
			return false
		}
	}
	return true
}

func sorted(signals map[string]bool) string {
	var out []string
	for _, s := range []string{
		"a password field", "a sign-in button", "a sign-up link",
		"a link for a forgotten password", "a provider's log-in", "its address", "its title",
	} {
		if signals[s] {
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}
