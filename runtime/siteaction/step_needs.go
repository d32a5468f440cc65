package siteaction

// What steps lack, for the check before the first of them.

func needsValue(s *plannedStep) string {
	if s.Value == nil && s.ValueFrom == "" && s.Text == "" {
		return "value, value_from or text"
	}
	return ""
}

func waitLacks(s *plannedStep) string {
	switch {
	case s.target == nil && s.Until == nil && s.TimeoutMS == nil && s.Signal == "" && s.State == "":
		return "target, until, state, signal or timeout_ms"
	case s.target == nil && s.waitsForElement():
		return "target"
	}
	return ""
}

func extractLacks(s *plannedStep) string {
	list := s.Fields != nil || s.Many != nil && *s.Many || s.Attribute != ""
	if how, ok := readable[s.Property]; !ok || list && how == "" {
		return "property that can be read there: text, href, src or currentSrc, and value or checked of one element"
	}
	for _, m := range members(s.Fields) {
		if _, err := extractField(m); err != "" {
			return err
		}
	}
	return ""
}

func elementState(state string) bool {
	switch state {
	case "", "visible", "hidden", "attached", "detached", "present", "absent", "enabled", "disabled":
		return true
	}
	return false
}

func pressLacks(s *plannedStep) string {
	if s.Key == "" && len(s.Keys) == 0 && s.Value == nil && s.ValueFrom == "" {
		return "key or keys"
	}
	return ""
}

func scrollLacks(s *plannedStep) string {
	still := s.Direction == "" && s.DeltaX == nil && s.DeltaY == nil && s.Amount == nil
	if still && s.target == nil && s.Until == nil {
		return "target, until, direction, delta_x, delta_y or amount"
	}
	switch s.Direction {
	case "", "up", "down", "left", "right":
		return ""
	}
	return "direction that is up, down, left or right"
}

func selectLacks(s *plannedStep) string {
	if s.Option == "" && s.Label == "" && needsValue(s) != "" {
		return "option, label, value or value_from"
	}
	return ""
}

func navigateLacks(s *plannedStep) string {
	if s.URL == "" && s.URLFrom == "" && s.Value == nil && s.ValueFrom == "" {
		return "url or url_from"
	}
	return ""
}

func assertLacks(s *plannedStep) string {
	if s.Assert == nil {
		return "assert"
	}
	return ""
}

func handlerLacks(s *plannedStep) string {
	if s.Handler == "" {
		return "handler"
	}
	return ""
}

func typingUses(s *plannedStep) []string {
	if s.Submit != nil && *s.Submit {
		return []string{"locator.element_info", "keyboard.press", "text.insert"}
	}
	return []string{"locator.element_info", "text.insert"}
}

func pressUses(s *plannedStep) []string {
	if s.target != nil {
		return []string{"dom.focus", "keyboard.press"}
	}
	return []string{"keyboard.press"}
}

func extractUses(s *plannedStep) []string {
	switch {
	case s.Fields != nil || s.Many != nil && *s.Many || s.Attribute != "":
		return []string{"browser.extract_elements"}
	case s.Property == "value":
		return []string{"locator.value"}
	case s.Property == "checked":
		return []string{"locator.element_info"}
	case readable[s.Property] != "text":
		return []string{"browser.extract_elements"}
	}
	return []string{"locator.text_content"}
}
