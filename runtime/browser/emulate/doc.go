// Package emulate makes a tab pretend: viewport, locale, time zone, place, media,
// network, user agent and navigator.webdriver, in all its frames, those that come later
// included. It does not decide what is emulated. Package browser calls it, and joins its
// commands to those that begin a session.
package emulate
