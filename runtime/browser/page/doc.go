// Package page is what a tab shows and what can be done with it: documents and frames
// across processes, calls of the page library, scripts, input, dialogs, navigations,
// pictures. It knows neither other tabs nor the browser, and none of what is recorded
// or emulated beside the page. Package browser calls it and hands it the events of its
// sessions; what others must know it reports through Observer.
package page
