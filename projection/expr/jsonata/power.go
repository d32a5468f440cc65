package jsonata

import "math"

// pow is Math.pow of V8, whose last digits show in results. Neither math.Pow nor
// the nearest number will do: V8 computes what fdlibm's e_pow.c does, but for one
// quotient (see powExp2), and is off by a unit in the last place once in thirteen
// times. The algorithm and its constants are fdlibm's:
//
//	Copyright (C) 2004 by Sun Microsystems, Inc. All rights reserved.
//	Permission to use, copy, modify, and distribute this software is freely
//	granted, provided that this notice is preserved.
//
// Products are converted explicitly wherever a sum follows, because Go may
// otherwise fuse the two on some machines.
func pow(x, y float64) float64 {
	rough := math.Pow(x, y)
	switch {
	case math.IsNaN(y), math.Abs(x) == 1 && math.IsInf(y, 0):
		return math.NaN() // as ECMAScript has it, and C has not where x is 1
	case x == 0, y == 0, math.IsNaN(rough), math.IsInf(x, 0), math.IsInf(y, 0), math.Abs(x) == 1, y == 1:
		return rough
	case y == 0.5:
		return math.Sqrt(x)
	case y == -1:
		return 1 / x
	case y == 2:
		return x * x
	}
	sign := 1.0
	if x < 0 && math.Mod(y, 2) != 0 { // y is whole, or rough were NaN
		sign = -1
	}
	ax := math.Abs(x)
	var t powLog
	if math.Abs(y) > 1<<31 {
		// Far from 1 the result overflows or vanishes; near it a short series does.
		if math.Abs(y) > 0x1p64 || highWord(ax) < 0x3fefffff || highWord(ax) > 0x3ff00000 {
			return rough
		}
		t = powLogNearOne(ax)
	} else {
		t = powLog2(ax)
	}
	// y*log2(x) as a sum, y taken apart so that the first product is exact.
	y1 := clearLow(y)
	low := float64((y-y1)*t.hi) + float64(y*t.lo)
	high := y1 * t.hi
	z := low + high
	switch {
	case z >= 1024:
		return rough // about the largest number there is
	case z <= -1075:
		return sign * 0
	}
	return sign * powExp2(z, high, low)
}

// powLog is log2(x) as a sum, hi with its lower half zero.
type powLog struct{ hi, lo float64 }

func highWord(f float64) int32 { return int32(math.Float64bits(f) >> 32) }

// clearLow is f without the lower half of its bits.
func clearLow(f float64) float64 { return math.Float64frombits(math.Float64bits(f) &^ 0xffffffff) }

func powLogNearOne(ax float64) powLog {
	const (
		ivln2   = 1.44269504088896338700e+00 // 1/ln 2
		ivln2hi = 1.44269502162933349609e+00
		ivln2lo = 1.92596299112661746887e-08
	)
	t := ax - 1
	w := float64(t*t) * (0.5 - float64(t*(0.3333333333333333333333-float64(t*0.25))))
	u := ivln2hi * t
	v := float64(t*ivln2lo) - float64(w*ivln2)
	hi := clearLow(u + v)
	return powLog{hi, v - (hi - u)}
}

func powLog2(ax float64) powLog {
	const (
		l1   = 5.99999999999994648725e-01
		l2   = 4.28571428578550184252e-01
		l3   = 3.33333329818377432918e-01
		l4   = 2.72728123808534006489e-01
		l5   = 2.30660745775561754067e-01
		l6   = 2.06975017800338417784e-01
		cp   = 9.61796693925975554329e-01 // 2/(3 ln 2)
		cphi = 9.61796700954437255859e-01
		cplo = -7.02846165095275826516e-09
	)
	n := 0.0
	if highWord(ax) < 0x00100000 { // subnormal
		ax *= 1 << 53
		n -= 53
	}
	ix := highWord(ax)
	n += float64(ix>>20 - 0x3ff)
	j := ix & 0x000fffff
	ix = j | 0x3ff00000
	bp := 1.0
	dphi := 0.0
	dplo := 0.0
	k := int32(0)
	switch {
	case j <= 0x3988e: // |x| < sqrt(3/2)
	case j < 0xbb67a: // |x| < sqrt(3)
		bp = 1.5
		dphi = 5.84962487220764160156e-01
		dplo = 1.35003920212974897128e-08
		k = 1
	default:
		n++
		ix -= 0x00100000
	}
	ax = math.Float64frombits(math.Float64bits(ax)&0xffffffff | uint64(uint32(ix))<<32)

	// s = (x-bp)/(x+bp) as a sum
	u := ax - bp
	v := 1 / (ax + bp)
	s := u * v
	shi := clearLow(s)
	thi := math.Float64frombits(uint64(uint32((ix>>1|0x20000000)+0x00080000+k<<18)) << 32)
	tlo := ax - (thi - bp)
	slo := v * ((u - float64(shi*thi)) - float64(shi*tlo))
	// log(x)
	s2 := s * s
	r := float64(s2*s2) * (l1 + float64(s2*(l2+float64(s2*(l3+float64(s2*(l4+float64(s2*(l5+float64(s2*l6))))))))))
	r += float64(slo * (shi + s))
	s2 = shi * shi
	thi = clearLow(3 + s2 + r)
	tlo = r - ((thi - 3) - s2)
	// u+v = s*(1+...)
	u = shi * thi
	v = float64(slo*thi) + float64(tlo*s)
	// 2/(3 ln 2) * (s + ...)
	phi := clearLow(u + v)
	plo := v - (phi - u)
	zhi := cphi * phi
	zlo := float64(cplo*phi) + float64(plo*cp) + dplo
	hi := clearLow(((zhi + zlo) + dphi) + n)
	return powLog{hi, zlo - (((hi - n) - dphi) - zhi)}
}

// powExp2 is 2 to the power of high+low, of which z is the rounded sum.
func powExp2(z, high, low float64) float64 {
	const (
		p1    = 1.66666666666666019037e-01
		p2    = -2.77777777770155933842e-03
		p3    = 6.61375632143793436117e-05
		p4    = -1.65339022054652515390e-06
		p5    = 4.13813679705723846039e-08
		lg2   = 6.93147180559945286227e-01
		lg2hi = 6.93147182464599609375e-01
		lg2lo = -1.90465429995776804525e-09
	)
	n := math.Floor(z + 0.5)
	if math.Abs(z) <= 0.5 {
		n = 0
	} else if z < 0 {
		n = -math.Floor(-z + 0.5)
	}
	high -= n
	t := clearLow(low + high)
	u := t * lg2hi
	v := float64((low-(t-high))*lg2) + float64(t*lg2lo)
	sum := u + v
	w := v - (sum - u)
	t = sum * sum
	t1 := sum - float64(t*(p1+float64(t*(p2+float64(t*(p3+float64(t*(p4+float64(t*p5)))))))))
	// fdlibm has sum*t1/(t1-2) - (w+sum*w) here. V8 has other brackets.
	r := float64(sum*t1) / ((t1 - 2) - (w + float64(sum*w)))
	return math.Ldexp(1-(r-sum), int(n))
}
