package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// MPI_Init may add and remove categories and their members.
func TestCategoryChanges(t *testing.T) {
	of := func(categories ...Category) *Merged {
		return merge(&Process{Stage: Stage{Read: true}, Meta: Meta{Lists: Lists{Categories: categories}}}, nil)
	}
	before := of(Category{Name: "gone"}, Category{Name: "other", Cvars: []string{"a", "b"}, Pvars: []string{"b:size"}, Categories: []string{"gone"}}, Category{Name: "same", Cvars: []string{"a"}})
	after := of(Category{Name: "new"}, Category{Name: "other", Cvars: []string{"a"}, Pvars: []string{"b:size"}, Categories: []string{"new"}, EventTypes: []string{"e"}}, Category{Name: "same", Cvars: []string{"a"}})
	c := Join(before, after)
	if added, removed, changed := c.CategoryChanges(); added != 1 || removed != 1 || changed != 1 {
		t.Error(added, removed, changed)
	}
	other := c.Categories[2]
	if d := cmp.Diff([][]string{{"e", "new"}, {"b", "gone"}}, [][]string{other.Added, other.Removed}); d != "" {
		t.Error(d)
	}
	if n := OtherCategories(Join(nil, before), Join(nil, after)); n != 3 {
		t.Error(n)
	}
	if n := OtherCategories(c, c); n != 0 {
		t.Error(n)
	}
	one := Join(nil, after)
	if added, removed, changed := one.CategoryChanges(); added+removed+changed != 0 {
		t.Error("of one stage:", added, removed, changed)
	}
}
