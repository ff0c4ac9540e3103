package main

import "slices"

// sample is what one round gave: its figure, and the processor time of the
// measured process for each call, in seconds.
type sample struct{ value, cpu float64 }

// way is one of the things that are compared.
type way struct {
	name  string
	round func() sample
}

type results map[string][]sample

// compare has all ways take turns: each has been first, second and so on about
// as often as the others. The first round of each does not count.
func compare(rounds int, ways ...way) results {
	r := results{}
	for _, w := range ways {
		w.round()
	}
	for n := range rounds {
		for i := range ways {
			w := ways[(i+n)%len(ways)]
			r[w.name] = append(r[w.name], w.round())
		}
	}
	return r
}

func (r results) value(name string) float64 { return median(r.each(name, valueOf)) }
func (r results) cpu(name string) float64   { return median(r.each(name, cpuOf)) }

// ratio is the median of the rounds' ratios.
func (r results) ratio(name, to string) float64    { return r.quotient(name, to, valueOf) }
func (r results) cpuRatio(name, to string) float64 { return r.quotient(name, to, cpuOf) }

func valueOf(s sample) float64 { return s.value }
func cpuOf(s sample) float64   { return s.cpu }

func (r results) each(name string, of func(sample) float64) []float64 {
	all := make([]float64, len(r[name]))
	for i, s := range r[name] {
		all[i] = of(s)
	}
	return all
}

func (r results) quotient(name, to string, of func(sample) float64) float64 {
	all, others := r.each(name, of), r.each(to, of)
	for i := range all {
		all[i] /= others[i]
	}
	return median(all)
}

func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	all = slices.Clone(all)
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
