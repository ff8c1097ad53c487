//go:build !unix

package recording

const openFlags = 0
