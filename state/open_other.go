//go:build !unix

package state

// wary is nothing: here no flag keeps a link from being followed, and what
// stands in the place is looked at before it is opened.
const wary = 0
