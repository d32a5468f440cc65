package jsonata

func formatMillis(m meter, millis float64, picture string, hasPicture bool, timezone string) (string, error) {
	return "", newError("D3132", "not built yet")
}

func parseMillis(m meter, timestamp string, picture string, hasPicture bool, nowMillis int64) (float64, bool, error) {
	return 0, false, newError("D3132", "not built yet")
}
