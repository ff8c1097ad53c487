package runs

import (
	"mpitx/export"
	"mpitx/recording"
)

// SampleBytes estimates the size of an export from the ranks' counters. f may be "parquet".
func SampleBytes(run *recording.Run, f export.Format, o SampleOptions) float64 {
	var bytes float64
	for _, r := range run.Ranks {
		var sets, elements, names float64
		for _, s := range r.Sets {
			if s == nil {
				continue
			}
			sets++
			for _, c := range s.Columns {
				if o.Column != nil && !o.Column(c) || o.Rank != nil && !o.Rank(r) {
					continue
				}
				elements += float64(c.Count)
				names += float64(c.Count * (len(c.Variable) + len(c.ObjectName)))
			}
		}
		if sets > 0 && elements > 0 {
			bytes += float64(r.Counters.Samples) / sets * sampleBytes(f, o.Wide, elements, names, float64(len(r.Host)))
		}
	}
	return bytes
}

// sampleBytes estimates the size of one instant of one rank, with typical lengths of values and times.
func sampleBytes(f export.Format, wide bool, elements, names, host float64) float64 {
	const value = 7
	switch {
	case wide && f == export.FormatCSV:
		return elements*(value+1) + 20 + host
	case wide && (f == export.FormatJSON || f == export.FormatNDJSON):
		return elements*(value+4) + names + 70 + host
	case f == export.FormatCSV:
		return elements*(value+27+host) + names
	case f == export.FormatJSON || f == export.FormatNDJSON:
		return elements*(value+85+host) + names
	}
	return elements * 4 // compressed
}
