// Package processgroup starts programs in process groups of their own and ends whole groups: what a
// program started ends with it. It does not decide when. The browser's launcher and the programs
// that plans serve use it.
package processgroup
