package world

// Expand exposes what puts the lines of an answer in their places.
var Expand = expand
