package browser

import "strconv"

// emulation returns what Options ask of a tab beyond the command line. Without
// such options nothing is emulated.
func (b *Browser) emulation(s *session) []command {
	var c []command
	if v := b.opts.Viewport; v.Width > 0 && v.Height > 0 {
		params := `{"width":` + strconv.Itoa(v.Width) + `,"height":` + strconv.Itoa(v.Height) + `,"deviceScaleFactor":0,"mobile":false}`
		c = append(c, command{session: s.id, method: "Emulation.setDeviceMetricsOverride", params: []byte(params)})
	}
	if b.opts.Locale != "" {
		c = append(c, command{session: s.id, method: "Emulation.setLocaleOverride", params: object("locale", b.opts.Locale)})
	}
	if b.opts.Timezone != "" && b.proc == nil { // a browser of our own has it from its environment
		c = append(c, command{session: s.id, method: "Emulation.setTimezoneOverride", params: object("timezoneId", b.opts.Timezone)})
	}
	return c
}
