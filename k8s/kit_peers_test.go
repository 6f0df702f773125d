//go:build peers

package k8s

import "testing"

// TestTheKit builds the image once and looks at it, alone and in a cluster.
func TestTheKit(t *testing.T) {
	image := buildImage(t)
	t.Run("image", image.check)
}
