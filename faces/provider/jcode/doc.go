// Package jcode answers the browser tool of jcode: a program that jcode runs once
// for each action, in the words of the browser bridge's command line.
//
// An action becomes methods of the provider protocol, which the background
// process of a session serves; the first action of a session starts it. It knows
// neither pages nor primitives: package provider does. The verb jcode of
// cmd/outrider calls it.
package jcode
