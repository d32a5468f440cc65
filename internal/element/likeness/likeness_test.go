package likeness_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/internal/element/likeness"
)

func TestGenerated(t *testing.T) {
	for _, v := range strings.Fields(
		`:r1: :r1f: «r3» _r_1a_ radix-:r4: headlessui-menu-button-7 mui-12 mat-input-3 cdk-overlay-12
		_ngcontent-xyz-c12 data-v-7ba5bd90
		input-1234 ember412 css-1q2w3e4 css-1x2y3z-Button sc-bdVaJa jss45 svelte-1x2y3z
		Button_root__a1B2c _button_1a2b3_12 item-48213
		3f2504e0-4f89-41d3-9a0c-0305e82c3301 17 el-id-1024-8 __BVID__23`,
	) {
		if !likeness.Generated(v) {
			t.Errorf("%s looks made by a tool, and was taken for stable", v)
		}
	}
	for _, v := range strings.Fields(`save save-button user_name email2 step-1 address_line_2 h1 btn-primary ` +
		`checkout__total loginForm r2d2 utf8 mp3-player main-nav web2print`) {
		if likeness.Generated(v) {
			t.Errorf("%s was given by people, and was taken for generated", v)
		}
	}
	if got := likeness.StableClasses(
		"btn css-1q2w3e4 is-open mt-4 md:flex card active v-snackbar__content v-enter-active v-btn--active",
	); !slices.Equal(got, []string{"btn", "card", "v-snackbar__content"}) {
		t.Errorf("stable classes: got %v", got)
	}
}

// What is remembered has no text of the page but the labels of controls.
func TestNoTextIsRemembered(t *testing.T) {
	const secret = "Kanarienvogel"
	s := likeness.Seen{
		Tag:  "a",
		Role: "link",
		Name: secret,
		Text: secret + " wrote",
		Near: secret,
		Attributes: map[string]string{
			"href":        "/mail/" + secret + "?q=" + secret,
			"title":       secret,
			"alt":         secret,
			"placeholder": secret,
			"value":       secret,
			"aria-label":  secret,
			"src":         secret},
	}
	text, err := json.Marshal(
		s.Remember([]likeness.Seen{{Handle: "x", Tag: "a", Role: "link", Name: secret + " 2"}}, true),
	)
	if err != nil || strings.Contains(strings.ToLower(string(text)), strings.ToLower(secret)) {
		t.Errorf("remembered %s, %v", text, err)
	}
	s.Role = "button"
	if e := s.Describe(true); e.Name != secret {
		t.Errorf("the label of a button: got %q", e.Name)
	}
}

func TestOthersAreNotProposed(t *testing.T) {
	save := likeness.Seen{
		Handle:   "1",
		Tag:      "button",
		Role:     "button",
		Name:     "Save",
		Text:     "Save",
		Nth:      1,
		Siblings: 2,
	}
	draft := likeness.Seen{
		Handle:   "2",
		Tag:      "button",
		Role:     "button",
		Name:     "Save draft",
		Text:     "Save draft",
		Nth:      2,
		Siblings: 2,
	}
	remembered := save.Remember([]likeness.Seen{save, draft}, true)
	if c := likeness.Best(remembered, []likeness.Seen{draft}); c.Sure() {
		t.Errorf("another button that was there all along is proposed: %+v", c)
	}
	renamed := save
	renamed.Name, renamed.Text = "Save now", "Save now"
	if c := likeness.Best(remembered, []likeness.Seen{draft, renamed}); !c.Sure() || c.Index != 1 {
		t.Errorf("the button with a longer label: got %+v", c)
	}
	if c := likeness.Best(remembered, []likeness.Seen{save, save}); c.Sure() {
		t.Errorf("one of two that are equal is proposed: %+v", c)
	}
}

// Two fields have one name. When one of them is gone, the name does not say that the other is the one that is searched.
func TestNamesakesAreNotProposed(t *testing.T) {
	field := func(handle, role, name string) likeness.Seen {
		return likeness.Seen{
			Handle:     handle,
			Tag:        "input",
			Role:       role,
			Name:       name,
			Nth:        1,
			Siblings:   1,
			Attributes: map[string]string{"type": role},
		}
	}
	ofTable := field("1", "searchbox", "Search:")
	ofSite := field("2", "textbox", "Search...")
	remembered := ofTable.Remember([]likeness.Seen{ofTable, ofSite}, true)

	later := field("3", "searchbox", "Search")
	if c := likeness.Best(remembered, []likeness.Seen{later}); c.Sure() {
		t.Errorf("one of two that had the name is proposed when the other is gone: %+v", c)
	}

	alone := ofTable.Remember([]likeness.Seen{ofTable}, true)
	if c := likeness.Best(alone, []likeness.Seen{later}); !c.Sure() {
		t.Errorf("the only field of its name is not proposed: %+v", c)
	}

	ofTable.Attributes["id"] = "rows"
	later.Attributes["id"] = "rows-search"
	remembered = ofTable.Remember([]likeness.Seen{ofTable, ofSite}, true)
	if c := likeness.Best(remembered, []likeness.Seen{later}); !c.Sure() {
		t.Errorf("one that more than its name tells is not proposed: %+v", c)
	}
}
