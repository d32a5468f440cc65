// Package listen brings a script that listens for page events into the documents of a
// browser and takes its reports. It knows neither the script nor the content of a report.
// Package browser calls it; package runtime writes the script and reads the reports.
package listen
