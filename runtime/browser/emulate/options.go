package emulate

import (
	"strconv"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// commands are what the options set in a new session beyond the command line. Without
// such options nothing is emulated.
func (o *Options) commands(s *cdp.Session) []cdp.Command {
	var c []cdp.Command
	tab := s.Frame == ""
	if v := o.Viewport; tab && v.Width > 0 && v.Height > 0 {
		params := `{"width":` + strconv.Itoa(v.Width) + `,"height":` + strconv.Itoa(v.Height) +
			`,"deviceScaleFactor":0,"mobile":false}`
		c = append(c, cdp.Command{Session: s.ID, Method: "Emulation.setDeviceMetricsOverride", Params: []byte(params)})
	}
	if o.Locale != "" {
		c = append(c, cdp.Command{
			Session: s.ID,
			Method:  "Emulation.setLocaleOverride",
			Params:  cdp.Object("locale", o.Locale),
		})
	}
	if o.Timezone != "" && tab && !o.Launched {
		c = append(c, cdp.Command{
			Session: s.ID,
			Method:  "Emulation.setTimezoneOverride",
			Params:  cdp.Object("timezoneId", o.Timezone),
		})
	}
	return c
}
