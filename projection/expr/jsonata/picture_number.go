package jsonata

func formatNumber(m meter, value float64, picture string, options map[string]string) (string, error) {
	return "", newError("D3080", "not built yet")
}
