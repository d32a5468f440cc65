// Package world defines what is sent to our isolated world of a document and how its
// answers are read: the page library and its calls, the tokens that distinguish worlds,
// and what is known of one document. It sends nothing itself and knows no tab. Package
// page calls it.
package world
