package binding

import (
	"testing"

	"mpitx/catalog"
)

// demo is the demo library with MPI_T initialized, in this process.
func demo(b *testing.B) *Interface {
	b.Helper()
	lib, err := Demo()
	if err != nil {
		b.Fatal(err)
	}
	tool, _, err := lib.InitThread(catalog.ThreadSingle)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { tool.Finalize() })
	return tool
}

func BenchmarkCvarInfo(b *testing.B) {
	tool := demo(b)
	index, err := tool.CvarIndex("demo_eager_limit")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tool.CvarInfo(index); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCvarOpenReadFree(b *testing.B) {
	tool := demo(b)
	b.ReportAllocs()
	for b.Loop() {
		h, err := tool.AllocCvar(5, NoObject)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := h.Read(); err != nil {
			b.Fatal(err)
		}
		h.Free()
	}
}

func BenchmarkPvarRead(b *testing.B) {
	tool := demo(b)
	index, err := tool.PvarIndex("demo_pvar_uncategorised", catalog.ClassSize)
	if err != nil {
		b.Fatal(err)
	}
	s, err := tool.NewSession()
	if err != nil {
		b.Fatal(err)
	}
	h, err := s.AllocPvar(index, NoObject)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Read(h); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkProbe(b *testing.B) {
	tool := demo(b)
	for b.Loop() {
		if _, err := tool.Probe(70, 40, ProbeOptions{TrialWrites: true}); err != nil {
			b.Fatal(err)
		}
	}
}
