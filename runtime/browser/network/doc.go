// Package network is about the requests of a browser: which may leave it (a policy of
// origins and the forward proxy that holds it) and which a tab has made (their records,
// bodies, and when no more are under way). It knows no frames and no documents but by
// their names, and changes no request. Package browser calls it and hands it the events
// of the Network domain.
package network
