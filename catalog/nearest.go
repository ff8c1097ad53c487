package catalog

import (
	"slices"

	"mpitx/text"
)

// DidYouMean is [text.DidYouMean] for names of variables. It does not suggest NAME:class together with NAME.
func DidYouMean(names []string, word string) string {
	if _, class := SplitClass(word); class == 0 && !slices.Contains(names, word) {
		names = slices.DeleteFunc(slices.Clone(names), func(n string) bool {
			bare, class := SplitClass(n)
			return class != 0 && slices.Contains(names, bare)
		})
	}
	return text.DidYouMean(names, word)
}
