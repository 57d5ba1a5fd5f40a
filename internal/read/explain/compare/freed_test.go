package compare

import (
	"testing"
)

// TestWhatHoldsOthersUpLikewise: the same message; of an image any message, since images are compared.
func TestWhatHoldsOthersUpLikewise(t *testing.T) {
	for reason, pulls := range map[string]bool{"ImagePullBackOff": true, "ErrImagePull": true, "InvalidImageName": true,
		"ErrImageNeverPull": true, "Unschedulable": false} {
		h := hold{reason: reason, says: "# nodes"}
		if h.pulls() != pulls || h.same("7 pods", "j") != pulls || !h.same("7 nodes", "j") {
			t.Errorf("%s: an image is waited for: %t", reason, h.pulls())
		}
	}
}
