//go:build !race

package record_test

const slower = 1
