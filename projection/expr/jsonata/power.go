package jsonata

import "math"

// precisePow is x to the power y, rounded correctly in all but the rarest
// cases, as V8's is. math.Pow is off by a unit in the last place often enough
// to show in the digits of a result.
func precisePow(x, y float64) float64 {
	rough := math.Pow(x, y)
	if x == 0 || y == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsNaN(rough) ||
		math.IsInf(rough, 0) || math.Abs(rough) < 1e-290 || math.Abs(rough) > 1e290 || math.Abs(x) == 1 {
		return rough
	}
	if y == math.Trunc(y) && rough == math.Trunc(rough) && math.Abs(rough) < 1<<53 && y > 0 {
		return rough // exact already
	}
	l := logDD(math.Abs(x))
	r := expDD(mulDD(l, double{y, 0}))
	f := r.hi + r.lo
	if x < 0 && math.Mod(y, 2) != 0 {
		f = -f
	}
	return f
}

// double is an unevaluated sum of two floats, about 106 bits.
type double struct{ hi, lo float64 }

func quickSum(a, b float64) double {
	s := a + b
	return double{s, b - (s - a)}
}

func addDD(a, b double) double {
	s := a.hi + b.hi
	v := s - a.hi
	e := (a.hi - (s - v)) + (b.hi - v)
	return quickSum(s, e+a.lo+b.lo)
}

func mulDD(a, b double) double {
	p := a.hi * b.hi
	e := math.FMA(a.hi, b.hi, -p)
	return quickSum(p, e+a.hi*b.lo+a.lo*b.hi)
}

var ln2DD = double{0.6931471805599453, 2.3190468138462996e-17}

// expDD takes out powers of two, then halves the rest until a short series is
// enough.
func expDD(a double) double {
	k := math.Round(a.hi / ln2DD.hi)
	r := addDD(a, mulDD(ln2DD, double{-k, 0}))
	const halvings = 9
	scale := math.Ldexp(1, -halvings)
	r = double{r.hi * scale, r.lo * scale}
	// exp(r)-1 keeps its digits through the squarings that exp(r) would lose.
	sum, term := r, r
	for i := 2; i <= 12; i++ {
		term = mulDD(term, r)
		term = divDD(term, float64(i))
		sum = addDD(sum, term)
	}
	for i := 0; i < halvings; i++ {
		sum = addDD(double{2 * sum.hi, 2 * sum.lo}, mulDD(sum, sum))
	}
	sum = addDD(sum, double{1, 0})
	return double{math.Ldexp(sum.hi, int(k)), math.Ldexp(sum.lo, int(k))}
}

func divDD(a double, b float64) double {
	q := a.hi / b
	rest := math.FMA(-q, b, a.hi) + a.lo
	return quickSum(q, rest/b)
}

// logDD improves math.Log by one step of Newton's method.
func logDD(x float64) double {
	l := double{math.Log(x), 0}
	e := expDD(double{-l.hi, 0})
	d := addDD(mulDD(e, double{x, 0}), double{-1, 0})
	return addDD(l, addDD(d, mulDD(double{-0.5, 0}, mulDD(d, d))))
}
